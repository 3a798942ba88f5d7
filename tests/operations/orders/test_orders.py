"""What people order, by the real commands on real jobs: stop, relaunch, ack, approve, deny, pause,
resume.
"""

import json
import os
import re
import shlex
import shutil
import time
from dataclasses import replace
from datetime import timedelta
from types import ModuleType
from typing import Any

import pytest

from builders import a_job
from commands.answers import ask
from herorun.core.errors import CouldNotLook
from herorun.core.evidence import JobState
from herorun.core.ports import Absent, Unknown
from herorun.operations.babysit import tick
from herorun.operations.health import evaluate
from herorun.operations.launch import intent, relaunch, start_instance
from herorun.operations.orders import forgotten_job, relaunch as relaunch_order, stop
from herorun.operations.orders.rollback import rollback
from herorun.operations.report import babysitter_state
from herorun.record import Record
from herorun.schedulers import local
from herorun.schedulers.local import Local
from herorun.system.clock import now
from herorun.system.files import hold_lock
from operations.in_memory import fails
from stories import CRASH, SLUG, WAIT, Story, eventually
from wording import mentions

CAPTURE = pytest.CaptureFixture[str]
LATER = "sleep 600"
HEEDS_LATE = """trap 'sleep 1; exit 3' TERM; touch "$data/trapped"; while :; do sleep 0.05; done"""


def keys(story: Story, word: str) -> list[str]:
    return [key for key in story.comments if key.startswith(word)]


def words(story: Story) -> list[str]:
    return [event.word.value for event in story.events("Ordered")]


def status(story: Story, capsys: CAPTURE) -> Any:
    return ask(story, capsys, "status", SLUG, "--json").document


@pytest.fixture
def story_with_question(story: Story) -> Story:
    """A run that crashed under `recovery = "ask"`, and whose question was put."""

    def make() -> int:
        story.sign(babysit={"recovery": "ask"})
        story.run_first_job(CRASH)
        return story.tick() - 1

    assert story.make_or_copy("asked", make) == 0
    return story


def test_an_alert_names_the_question_or_what_a_person_types_where_nothing_relaunches(
    story_with_question: Story, capsys: CAPTURE
) -> None:
    document = status(story_with_question, capsys)
    (crash,) = [alert for alert in document["alerts"] if alert["check"] == "crashed"]
    assert document["questions"] and document["next"] and mentions(crash["fix"], "DRI", "question")
    (crash,) = ask(story_with_question, capsys, "babysit", SLUG, "--once", "--json").document[
        "alerts"
    ]
    assert f"`herorun status {SLUG}`" in crash["fix"]


# --- stop -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [Absent(), Unknown("the queue lost it", forgotten=True)])
def test_a_run_whose_job_is_forgotten_can_be_ended(
    story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch, missing: Absent | Unknown
) -> None:
    monkeypatch.setattr(local, "Absent", lambda: missing)
    story.sign(scheduler={"settle": "10ms"})
    story.run_first_job(CRASH)
    shutil.rmtree(story.jobs / "tiny-1")
    assert story.herorun("stop", SLUG) == 3
    refusal = capsys.readouterr().err
    document = status(story, capsys)
    assert (document["run"], document["instances"][0]["state"]) == ("unknown", None)
    assert document["forgotten_job"]
    (doubt,) = document["doubts"]
    (over_at,) = re.findall(r"after (\d\d:\d\d) UTC", doubt)  # from when on it works
    assert f"`herorun stop {SLUG}`" in doubt and over_at in refusal
    write_long_ago(story)
    (doubt,) = status(story, capsys)["doubts"]
    assert f"`herorun stop {SLUG}`" in doubt and "UTC" not in doubt
    assert story.herorun("relaunch", SLUG) in (1, 3) and len(story.starts) == 1
    capsys.readouterr()
    assert ask(story, capsys, "stop", SLUG, "--reason", "its node was reinstalled").code == 0
    document = status(story, capsys)
    assert (document["run"], document["instances"][0]["state"]) == ("down", "cancelled")
    assert (document["doubts"], document["stopped_by"]) == ([], "Dri")
    assert not document["forgotten_job"]
    ends = [event.ended for event in story.events("Decided") if event.ended]
    assert [(end.instance, end.forgotten) for end in ends] == [("tiny-1", True)]
    assert story.herorun("stop", SLUG) == 0
    assert len(story.events("Decided")) == len(ends)
    assert story.tick() == 1
    assert len(story.starts) == 1
    assert story.herorun("seal", SLUG, "--aborted") == 0


@pytest.mark.parametrize("is_relaunch", [False, True])
def test_an_interrupted_launch_whose_job_is_forgotten_is_stopped_as_one_that_was_submitted(
    story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch, is_relaunch: bool
) -> None:
    """What it wrote is the run's, and the babysitter starts no other one."""
    monkeypatch.setattr(local, "Absent", lambda: Unknown("the queue lost it", forgotten=True))
    monkeypatch.setattr(start_instance, "SETTLING", 0.0)
    story.sign(scheduler={"settle": "10ms"})
    story.init() if not is_relaunch else story.run_first_job(CRASH)
    name = "tiny-2" if is_relaunch else "tiny-1"
    with monkeypatch.context() as patch:
        patch.setattr(start_instance, "_confirm", fails(CouldNotLook("cut here")))
        story.tick() if is_relaunch else story.launch()
    assert story.run.record.memory().unsettled
    eventually(lambda: len(story.starts) == (2 if is_relaunch else 1))
    story.wait_for_end(name)
    shutil.rmtree(story.jobs / name)
    capsys.readouterr()
    assert story.launch() == 3
    assert story.shown_commands(f"`herorun stop {SLUG}`") in capsys.readouterr().err
    (doubt,) = [each for each in status(story, capsys)["doubts"] if name in each]
    assert f"`herorun stop {SLUG}`" in doubt
    monkeypatch.setattr(forgotten_job, "find_recent_write", lambda *_: None)  # hours later
    starts = len(story.starts)
    assert story.herorun("stop", SLUG, "--reason", "its node was reinstalled") == 0
    assert (story.events("Launched")[-1].instance, words(story)) == (name, ["stop"])
    document = status(story, capsys)
    assert (document["run"], document["stopped_by"]) == ("down", "Dri")
    for _ in range(3):
        story.tick()
    assert len(story.starts) == starts


def test_a_forgotten_job_is_not_ended_while_its_rows_cannot_be_read(
    story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing then shows that no process of it writes."""
    monkeypatch.setattr(local, "Absent", lambda: Unknown("the queue lost it", forgotten=True))
    story.sign(scheduler={"settle": "10ms"})
    story.run_first_job(CRASH)
    shutil.rmtree(story.jobs / "tiny-1")
    write_long_ago(story)
    rows = story.root / "metrics.jsonl"
    away = rows.rename(story.home / "rows")
    rows.mkdir()
    answer = ask(story, capsys, "stop", SLUG)
    assert answer.code == 3 and mentions(answer.err, "metrics.jsonl", "doctor")
    assert story.events("Decided", "Ordered") == []
    (doubt,) = status(story, capsys)["doubts"]
    assert f"`herorun stop {SLUG}`" in doubt and mentions(doubt, "rows")
    rows.rmdir()
    away.rename(rows)
    assert story.herorun("stop", SLUG) == 0


def test_a_stop_of_what_has_just_failed_does_not_promise_the_end_of_monitoring(
    story: Story, capsys: CAPTURE
) -> None:
    """No tick has told the crash yet. The next one does, and waits for a person."""
    story.run_first_job(CRASH)
    ends = story.shown_commands(f"`herorun ack {SLUG}`")
    assert ends in ask(story, capsys, "stop", SLUG).out
    assert story.tick() == 1
    assert ends not in ask(story, capsys, "stop", SLUG).out
    assert mentions(ask(story, capsys, "ack", SLUG).err, "monitors")
    assert mentions(ask(story, capsys, "stop", SLUG).out, "monitors")


def test_a_stop_that_is_repeated_says_the_same(story: Story, capsys: CAPTURE) -> None:
    """An end that herorun caused needs no alert: no tick reports anything to acknowledge."""
    story.run_first_job(WAIT)
    assert mentions(ask(story, capsys, "stop", SLUG).out, "monitors")
    assert mentions(ask(story, capsys, "stop", SLUG).out, "monitors")
    story.tick()
    assert mentions(ask(story, capsys, "stop", SLUG).out, "monitors")


def write_long_ago(story: Story) -> None:
    """Its rows and checkpoints are of yesterday."""
    for path in story.root.rglob("*"):
        os.utime(path, (time.time() - 86400,) * 2)


def test_a_job_that_writes_has_not_ended_although_its_scheduler_does_not_list_it(
    story: Story, capsys: CAPTURE
) -> None:
    story.sign(scheduler={"settle": "10ms"})
    story.run_first_job(WAIT)
    away = story.jobs.rename(story.jobs.with_name("away"))
    try:
        time.sleep(0.05)
        assert ask(story, capsys, "stop", SLUG).code == 3
        assert story.events("Decided", "Ordered") == []
        assert story.herorun("relaunch", SLUG, "--no-babysit") == 1
    finally:
        shutil.rmtree(story.jobs, ignore_errors=True)
        away.rename(story.jobs)
    assert story.herorun("stop", SLUG) == 0
    story.wait_for_end()
    assert len(story.starts) == 1


def test_another_clone_proposes_no_stop_that_it_would_refuse(story: Story, capsys: CAPTURE) -> None:
    story.sign(scheduler={"settle": "10ms"})
    story.run_first_job(CRASH)
    other = story.clone("other")
    (doubt,) = status(other, capsys)["doubts"]
    assert "herorun stop" not in doubt and str(story.state) in doubt
    assert other.herorun("stop", SLUG) == 3


@pytest.mark.thorough
def test_a_stop_ends_the_job_and_nobody_starts_it_again(story: Story, capsys: CAPTURE) -> None:
    story.run_first_job(WAIT)
    assert ask(story, capsys, "stop", SLUG, "--reason", "wrong data").code == 0
    story.tick()
    story.tick()
    (event,) = story.events("Ordered")
    assert (event.word, event.about, event.by, event.reason) == (
        "stop",
        ("tiny-1",),
        "Dri",
        "wrong data",
    )
    assert len(story.starts) == 1 and keys(story, "escalate/") == []
    assert mentions(story.run.record.logbook(), "### ", "stop by Dri", event.reason)
    assert status(story, capsys)["stopped_by"] == "Dri"


@pytest.mark.thorough
def test_a_second_stop_is_the_same_stop(story: Story, capsys: CAPTURE) -> None:
    story.run_first_job(WAIT)
    story.herorun("stop", SLUG)
    answer = ask(story, capsys, "stop", SLUG)
    assert answer.code == 0 and mentions(answer.out, "already", "ended")
    assert words(story) == ["stop"]


@pytest.mark.thorough
def test_a_stop_that_is_repeated_while_the_job_heeds_it_is_one_stop(story: Story) -> None:
    story.order("tiny-1", HEEDS_LATE)
    story.init()
    assert story.launch() == 0
    eventually(lambda: list(story.home.rglob("trapped")))
    assert story.herorun("stop", SLUG, "--wait", "0s") == 3
    assert story.herorun("stop", SLUG) == 0
    assert [event.key for event in story.events("Done") if event.key.startswith("stop/")] == [
        "stop/tiny-1"
    ]


def test_a_stop_of_a_job_that_died_just_now_keeps_it_down(story: Story, capsys: CAPTURE) -> None:
    story.run_first_job(CRASH)
    answer = ask(story, capsys, "stop", SLUG, "--reason", "the node is sick")
    assert answer.code == 0 and mentions(answer.out, "already", "ended", "not relaunch")
    story.tick()
    assert len(story.starts) == 1 and words(story) == ["stop"]
    status_now = status(story, capsys)
    assert status_now["stopped_by"] == "Dri"  # an alert says that it died by itself
    assert (
        f"to restart {story.shown_commands('herorun relaunch')}"
        in ask(story, capsys, "status", SLUG).out
    )
    assert "crashed" in [alert["check"] for alert in status_now["alerts"]]
    assert mentions(ask(story, capsys, "stop", SLUG).out, "not relaunch")
    assert words(story) == ["stop"]
    assert ask(story, capsys, "relaunch", SLUG, "--no-babysit").code == 0
    assert len(story.starts) == 2


def test_a_stop_from_another_clone_says_of_no_job_that_it_has_ended(
    story: Story, capsys: CAPTURE
) -> None:
    """The local scheduler knows the jobs of its own clone alone."""
    story.run_first_job(WAIT)
    other = story.clone("other")
    assert other.herorun("stop", SLUG, "--reason", "x") == 3
    assert mentions(capsys.readouterr().err, "tiny-1", str(story.state))
    assert not other.events("Ordered")
    assert story.tick() == 0 and status(story, capsys)["run"] == "healthy"
    story.herorun("stop", SLUG, "--reason", "x")
    story.tick()
    assert story.run.record.push()
    assert story.clone("third").herorun("stop", SLUG, "--reason", "x") == 0  # its end was seen


def test_a_stop_leaves_an_open_question_open(story_with_question: Story, capsys: CAPTURE) -> None:
    answer = ask(story_with_question, capsys, "stop", SLUG)
    assert answer.code == 0 and "not relaunched" not in answer.out
    assert words(story_with_question) == []
    assert ask(story_with_question, capsys, "approve", SLUG).code == 0
    story_with_question.tick()
    assert len(story_with_question.starts) == 2


@pytest.mark.thorough
def test_a_job_that_nobody_can_see_is_not_touched(
    story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    from herorun.core.ports import Unknown

    story.run_first_job(WAIT)
    with monkeypatch.context() as patch:
        patch.setattr(Local, "find", lambda *_: Unknown("squeue: time-out"))
        for order in (("stop", SLUG), ("relaunch", SLUG, "--stop-first")):
            answer = ask(story, capsys, *order)
            assert answer.code == 3 and "squeue: time-out" in answer.err
    assert words(story) == [] and len(story.starts) == 1


@pytest.mark.thorough
def test_an_end_that_does_not_come_starts_nothing(
    story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    story.run_first_job(WAIT)
    monkeypatch.setattr(Local, "stop", lambda *_: None)
    answer = ask(story, capsys, "relaunch", SLUG, "--stop-first", "--wait", "300ms", "--no-babysit")
    assert answer.code == 3 and mentions(answer.err, "still", "running")
    assert len(story.starts) == 1


# --- relaunch by hand -----------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_person_relaunches_an_ended_run_through_the_gate(story: Story, capsys: CAPTURE) -> None:
    story.sign(babysit={"recovery": "observe"})
    story.run_first_job(CRASH)
    answer = ask(story, capsys, "relaunch", SLUG, "--reason", "new switch", "--no-babysit")
    assert answer.code == 0 and mentions(answer.out, "tiny-2", "place", "tiny-1")
    assert f"{story.root}/step-2" in "".join(answer.out.split())
    story.wait_for_end("tiny-2")
    assert story.starts[1] == f"tiny-2 {story.root}/step-2"
    again = ask(story, capsys, "relaunch", SLUG, "--reason", "new switch", "--no-babysit")
    assert again.code == 0 and mentions(again.out, "already", "tiny-2", "finished")
    assert len(story.starts) == 2
    requested_events = story.events("Launching")[1]
    assert mentions(requested_events.why, "tiny-1", "ordered", "Dri", "new switch")


@pytest.mark.thorough
def test_a_running_job_is_relaunched_only_when_told_to_stop_it(
    story: Story, capsys: CAPTURE
) -> None:
    story.run_first_job(WAIT)
    blocked_answer = ask(story, capsys, "relaunch", SLUG, "--reason", "it's hung")
    (proposed_command,) = re.findall(r"`herorun ([^`]*)`", " ".join(blocked_answer.err.split()))
    argv = shlex.split(proposed_command)
    assert (blocked_answer.code, argv[-2:]) == (
        1,
        ["--reason", "it's hung"],
    ) and "--stop-first" in argv
    assert ask(story, capsys, *argv, "--no-babysit").code == 0
    story.wait_for_end("tiny-2")
    assert [start.partition(" ")[0] for start in story.starts] == ["tiny-1", "tiny-2"]
    assert words(story) == ["stop", "relaunch"]
    assert keys(story, "escalate/") == []


@pytest.mark.thorough
def test_what_status_says_to_type_starts_it_again_also_right_after_an_order(
    story: Story, capsys: CAPTURE
) -> None:
    """The very same order again, minutes after it, is taken for the one before."""
    story.order("tiny-2", CRASH)
    story.run_first_job(CRASH)
    for number in (2, 3):
        order = shlex.split(ask(story, capsys, "status", SLUG, "--json").document["next"])
        answer = ask(story, capsys, *order[1:], "--no-babysit")
        assert answer.code == 0 and f"tiny-{number} was submitted" in answer.out
        story.wait_for_end(f"tiny-{number}")


@pytest.mark.thorough
def test_what_the_gate_refuses_no_person_gets_past(story: Story, capsys: CAPTURE) -> None:
    story.run_first_job(CRASH)
    (story.root / "step-2" / "metadata.json").unlink()
    answer = ask(story, capsys, "relaunch", SLUG, "--no-babysit")
    assert answer.code == 1 and mentions(answer.err, "complete", "checkpoint")
    assert len(story.starts) == 1


@pytest.mark.thorough
def test_an_order_that_the_gate_refused_is_no_start_of_what_a_rollback_began(
    story: Story, capsys: CAPTURE
) -> None:
    story.run_first_job(CRASH)
    newest = story.root / "step-2" / "metadata.json"
    whole = newest.read_text()
    newest.unlink()
    assert ask(story, capsys, "relaunch", SLUG, "--no-babysit").code == 1
    newest.write_text(whole)
    rollback(story.run, 2, babysit=False)
    story.wait_for_end("tiny-2")
    answer = ask(story, capsys, "relaunch", SLUG, "--no-babysit")
    assert answer.code == 1 and mentions(
        answer.err, "start", "4"
    )  # the gate was asked about tiny-2


# --- questions ------------------------------------------------------------------------------------


def test_a_yes_relaunches_at_the_next_tick_and_only_once(
    story_with_question: Story, capsys: CAPTURE
) -> None:
    assert status(story_with_question, capsys)["questions"] == ["escalate/relaunch/tiny-1/recovery"]
    for _ in range(2):
        assert ask(story_with_question, capsys, "approve", SLUG, "--reason", "go on").code == 0
    assert words(story_with_question) == ["approve"] and len(story_with_question.starts) == 1
    story_with_question.tick()
    story_with_question.wait_for_end("tiny-2")
    story_with_question.tick()
    assert len(story_with_question.starts) == 2
    assert mentions(
        story_with_question.events("Launching")[1].why, "recoverable", "approved", "Dri", "go on"
    )


@pytest.mark.thorough
def test_a_no_is_kept_and_not_asked_again(story_with_question: Story, capsys: CAPTURE) -> None:
    reason = "we stop here"
    assert ask(story_with_question, capsys, "deny", SLUG, "--reason", reason).code == 0
    before = story_with_question.comments
    story_with_question.tick()
    assert len(story_with_question.starts) == 1 and story_with_question.comments == before
    assert mentions(status(story_with_question, capsys)["answer"], "denied", "Dri", reason)
    assert ask(story_with_question, capsys, "approve", SLUG).code == 2


@pytest.mark.thorough
def test_nothing_can_be_answered_that_was_not_asked(story: Story, capsys: CAPTURE) -> None:
    story.run_first_job(WAIT)
    for word in ("approve", "deny"):
        answer = ask(story, capsys, word, SLUG)
        assert answer.code == 2 and mentions(
            answer.err, "question", story.shown_commands("`herorun status tiny`")
        )


@pytest.mark.thorough
def test_where_the_contract_only_observes_no_yes_relaunches(story: Story, capsys: CAPTURE) -> None:
    story.sign(babysit={"recovery": "observe"})
    story.run_first_job(CRASH)
    story.tick()
    assert ask(story, capsys, "approve", SLUG).code == 1
    story.tick()
    assert len(story.starts) == 1


@pytest.mark.thorough
def test_an_answer_holds_for_its_instance_alone(story_with_question: Story) -> None:
    story_with_question.order("tiny-2", f"save 3; {CRASH}")
    story_with_question.herorun("approve", SLUG)
    story_with_question.tick()
    story_with_question.wait_for_end("tiny-2")
    story_with_question.tick()
    assert len(story_with_question.starts) == 2
    assert keys(story_with_question, "escalate/")[-1] == "escalate/relaunch/tiny-2/recovery"


# --- pause ----------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_pause_holds_the_hands_and_not_the_eyes(story: Story, capsys: CAPTURE) -> None:
    story.order("tiny-1", f"{WAIT}; {CRASH}")
    story.init()
    story.launch()
    assert ask(story, capsys, "pause", SLUG, "--until", "2h", "--reason", "maintenance").code == 0
    (story.data / "go").touch()
    story.wait_for_end()
    assert story.tick() == 1
    assert len(story.starts) == 1 and len(keys(story, "tell/crashed")) == 1
    pause = status(story, capsys)["paused"]
    assert (pause["by"], pause["reason"]) == ("Dri", "maintenance")
    assert mentions(ask(story, capsys, "status", SLUG).out, "paused", "until", "maintenance")
    assert ask(story, capsys, "resume", SLUG).code == 0
    story.tick()
    story.wait_for_end("tiny-2")
    assert len(story.starts) == 2


@pytest.mark.thorough
def test_a_pause_holds_a_relaunch_that_a_tick_has_just_decided(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The launch gate takes a second, in which a person may order the pause."""
    story.run_first_job(CRASH)
    gate = relaunch.gate_of

    def meanwhile(*args: Any, **more: Any) -> Any:
        assert story.herorun("pause", SLUG, "--until", "1h", "--reason", "look first") == 0
        return gate(*args, **more)

    monkeypatch.setattr(relaunch, "gate_of", meanwhile)
    story.tick()
    assert story.starts == ["tiny-1 scratch"]
    assert list(story.run.record.memory().launchings) == ["tiny-1"]
    assert mentions(story.events("Failed")[-1].why, "paused", "first", f"herorun resume {SLUG}")
    monkeypatch.undo()
    assert story.herorun("relaunch", SLUG, "--reason", "a person may", "--no-babysit", "--yes") == 0
    assert len(story.starts) == 2


@pytest.mark.thorough
def test_a_pause_ends_by_itself(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    story.run_first_job(CRASH)
    story.herorun("pause", SLUG, "--until", "1h")
    story.tick()
    assert len(story.starts) == 1
    for module in (tick, evaluate, intent):
        monkeypatch.setattr(module, "now", lambda: now() + timedelta(hours=2))
    story.tick()
    story.wait_for_end("tiny-2")
    assert len(story.starts) == 2


@pytest.mark.parametrize(
    "until", ["yesterday", "2020-01-01T00:00:00Z", "2099-01-01T00:00:00", "5", "9999999d"]
)
def test_a_pause_wants_a_time_to_come(story: Story, capsys: CAPTURE, until: str) -> None:
    story.init()
    assert ask(story, capsys, "pause", SLUG, "--until", until).code == 2


# --- ack ------------------------------------------------------------------------------------------


def at(monkeypatch: pytest.MonkeyPatch, hours: float) -> None:
    moment = now() + timedelta(hours=hours)
    for module in (tick, evaluate):
        monkeypatch.setattr(module, "now", lambda: moment)


@pytest.mark.thorough
def test_what_is_not_recovered_is_reported_again_until_somebody_takes_note(
    story_with_question: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(monkeypatch, 4.1)
    story_with_question.tick()
    story_with_question.tick()
    (again,) = keys(story_with_question, "again/crashed")
    event = next(e for e in story_with_question.events("Done") if e.key.startswith("again/crashed"))
    assert mentions(event.lines["Evidence"], "recovery", "ask") and again.endswith("/1")
    assert ask(story_with_question, capsys, "ack", SLUG, "crashed", "--reason", "on it").code == 0
    at(monkeypatch, 9)
    story_with_question.tick()
    assert len(keys(story_with_question, "again/crashed")) == 1
    (acknowledgement,) = status(story_with_question, capsys)["acknowledgements"]
    assert acknowledgement["alert"].startswith("crashed[tiny-1]@") and (
        acknowledgement["by"],
        acknowledgement["reason"],
    ) == (
        "Dri",
        "on it",
    )


@pytest.mark.thorough
def test_an_ack_without_a_name_is_of_all_and_once(
    story_with_question: Story, capsys: CAPTURE
) -> None:
    assert "crashed[tiny-1]" in ask(story_with_question, capsys, "ack", SLUG).out
    assert "already" in ask(story_with_question, capsys, "ack", SLUG).out
    assert words(story_with_question) == ["ack"]
    unknown = ask(story_with_question, capsys, "ack", SLUG, "crashd")
    assert unknown.code == 2 and mentions(unknown.err, "mean", "crashed")


@pytest.mark.thorough
def test_orders_need_a_record_and_no_seal(story: Story, capsys: CAPTURE) -> None:
    orders = (
        ("ack",),
        ("approve",),
        ("stop",),
        ("relaunch",),
        ("resume",),
        ("pause", "--until", "1h"),
    )
    for name, *rest in orders:
        assert ask(story, capsys, name, SLUG, *rest).code == 1
    story.run_to_success()
    story.seal()
    for name, *rest in orders:
        answer = ask(story, capsys, name, SLUG, *rest)
        assert answer.code == 1 and "sealed" in answer.err


# --- recovery -------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_the_same_failure_twice_without_a_new_checkpoint_is_put_to_a_person(story: Story) -> None:
    story.order("tiny-2", CRASH)
    story.run_first_job(CRASH)
    story.tick()
    story.wait_for_end("tiny-2")
    for _ in range(3):
        assert story.tick() == 1
    assert len(story.starts) == 2
    assert keys(story, "escalate/")[-1] == "escalate/relaunch/tiny-2/veto"
    assert keys(story, "escalate/")[0].startswith("escalate/repeated-crash%5Btiny-2%5D@")


@pytest.mark.thorough
def test_another_failure_without_a_new_checkpoint_waits_a_minute(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    # both end after step 3
    story.sign(babysit={"thresholds": {"repeated-crash": {"same_step": 3}}})
    story.order("tiny-2", "exit 7")
    story.run_first_job(CRASH)
    story.tick()
    story.wait_for_end("tiny-2")
    story.tick()
    assert len(story.starts) == 2 and keys(story, "escalate/") == []
    at(monkeypatch, 0.02)
    story.tick()
    story.wait_for_end("tiny-3")
    assert len(story.starts) == 3
    why = story.events("Launching")[2].why
    assert mentions(why, "recoverable: unknown", "2 of 3", "1d")


@pytest.mark.thorough
def test_the_reason_of_a_relaunch_says_why_it_can_be_recovered_from(story: Story) -> None:
    story.run_first_job(CRASH)
    story.tick()
    story.wait_for_end("tiny-2")
    why = story.events("Launching")[1].why
    assert mentions(why, "tiny-1", "signal SIGKILL", "recoverable: unknown", "1 of 3", "1d")


@pytest.mark.thorough
def test_beyond_its_accelerator_hours_a_relaunch_is_a_question(story: Story) -> None:
    story.sign(budget={"accelerator_hours": 1e-9}, hardware={"count": 8})
    story.run_first_job(CRASH)
    story.tick()
    assert len(story.starts) == 1
    assert keys(story, "escalate/") == ["escalate/relaunch/tiny-1/hours"]


@pytest.mark.thorough
def test_a_check_that_the_contract_names_stops_a_running_job(story: Story) -> None:
    story.sign(babysit={"stop_on": ["not-finite"]})
    story.run_first_job(WAIT)
    with (story.root / "metrics.jsonl").open("a") as file:
        file.write('{"step": 3, "train/loss": NaN}\n{"step": 4, "train/loss": NaN}\n')
    story.tick()
    story.wait_for_end()
    story.tick()
    assert len(story.starts) == 1
    assert [e.key for e in story.events("Done") if e.key.startswith("stop/")] == ["stop/tiny-1"]
    assert keys(story, "escalate/stopped-by-hand") == []


def test_what_is_no_health_check_cannot_stop(story: Story, capsys: CAPTURE) -> None:
    story.sign(babysit={"stop_on": ["dirty-tree"]})
    answer = ask(story, capsys, "preflight", SLUG)
    assert answer.code == 2 and mentions(answer.err, "health", "check")


# --- interruptions --------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("module", "where"), [(stop, "stop_once"), (relaunch_order, "relaunch_once")]
)
def test_an_interrupted_order_continues_where_it_was(
    story: Story, monkeypatch: pytest.MonkeyPatch, module: ModuleType, where: str
) -> None:
    story.run_first_job(WAIT)
    order = ("relaunch", SLUG, "--stop-first", "--no-babysit")
    with monkeypatch.context() as patch:
        patch.setattr(module, where, _interrupt)
        assert story.herorun(*order) == 130
    assert story.herorun(*order) == 0
    story.wait_for_end("tiny-2")
    assert len(story.starts) == 2 and words(story) == ["stop", "relaunch"]
    assert not story.run.record.memory().intended


def _interrupt(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.thorough
def test_a_relaunch_that_was_submitted_and_not_recorded_is_not_submitted_again(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    story.order("tiny-2", LATER)
    story.run_first_job(CRASH)
    real = Local.submit

    def submit(*args: Any) -> None:
        real(*args)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Local, "submit", submit)
        assert story.herorun("relaunch", SLUG, "--no-babysit") == 130
    eventually(lambda: len(story.starts) == 2)
    assert story.herorun("relaunch", SLUG, "--stop-first", "--no-babysit") == 0
    assert len(story.starts) == 2 and json.loads(
        (story.jobs / "tiny-2" / "started.json").read_text()
    )


@pytest.mark.thorough
def test_a_run_that_a_person_stopped_elsewhere_names_the_way_on(
    story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A babysitter that runs relaunches nothing that a person stopped."""
    story.run_first_job(CRASH)
    real = Local.find

    def search_cancelled(self: Local, name: str, since: Any) -> Any:
        answer = real(self, name, since)
        return replace(answer, job=replace(answer.job, state=JobState.CANCELLED, signal=None))

    with hold_lock(story.run.lock("babysitter")):
        assert ask(story, capsys, "status", SLUG, "--json").document["next"] == ""
        monkeypatch.setattr(Local, "find", search_cancelled)
        answer = ask(story, capsys, "status", SLUG, "--json").document
    assert (answer["run"], answer["next"]) == ("down", f"herorun relaunch {SLUG}")


@pytest.mark.thorough
def test_a_run_that_is_down_is_reported_with_its_code_and_the_order_that_brings_it_back(
    story: Story, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    story.run_first_job(CRASH)
    capsys.readouterr()
    assert story.herorun("status", SLUG, "--json") == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["run"], document["next"]) == ("down", f"herorun relaunch {SLUG}")
    assert all(metric["until_row"] >= 30 for metric in document["unjudged"])
    assert story.herorun("status", "--all") == 1

    # and where the gate blocks that order, the page of the check that does is named
    live = (a_job(instance="tiny-9", id="tiny-9"),)
    monkeypatch.setattr(Local, "live_jobs", lambda self, slug: live)
    capsys.readouterr()
    assert story.herorun("relaunch", SLUG, "--no-babysit") == 1
    assert mentions(capsys.readouterr().err, "herorun explain live-duplicate")


@pytest.mark.thorough
def test_who_watches_is_apart_from_what_is_seen(
    story: Story, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    story.run_first_job(WAIT)
    story.tick()
    heart = story.state / "heartbeat.json"
    heart.write_text(json.dumps({"at": "2026-01-01T00:00:00Z"}))
    monkeypatch.setattr(babysitter_state, "last_tick_elsewhere", lambda run: None)
    capsys.readouterr()
    assert story.herorun("status", SLUG) == 3
    output = capsys.readouterr().out
    assert mentions(output, "  evidence ", "all read", "  babysitter", "overdue", "last heartbeat")


# --- two clones at once ---------------------------------------------------------------------------


@pytest.mark.parametrize("first", ["approve", "deny"])
def test_of_a_yes_and_a_no_at_the_same_time_the_no_stands(
    story_with_question: Story,
    first: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Neither clone sees the other's answer before it records its own."""
    second = {"approve": "deny", "deny": "approve"}[first]
    other = story_with_question.clone("elsewhere")
    other.run.record.fetch()
    assert story_with_question.herorun(first, SLUG) == 0
    with monkeypatch.context() as at_once:
        at_once.setattr(Record, "fetch", lambda *_, **__: None)
        code = other.herorun(second, SLUG)
    assert code == int(second == "approve")
    story_with_question.tick()
    assert len(story_with_question.starts) == 1
    assert other.herorun("approve", SLUG) == 2


def test_a_no_that_comes_after_the_relaunch_says_so(
    story_with_question: Story, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    other = story_with_question.clone("elsewhere")
    other.run.record.fetch()
    story_with_question.herorun("approve", SLUG)
    story_with_question.tick()
    story_with_question.wait_for_end("tiny-2")
    capsys.readouterr()
    with monkeypatch.context() as at_once:
        at_once.setattr(Record, "fetch", lambda *_, **__: None)
        assert other.herorun("deny", SLUG) == 1
    way = other.shown_commands("`herorun stop tiny`")
    assert mentions(capsys.readouterr().out, "tiny-2", "tiny-1", way)


def test_an_alert_that_no_tick_recorded_is_not_acknowledged(story: Story, capsys: CAPTURE) -> None:
    story.sign(babysit={"recovery": "ask"})
    story.run_first_job(CRASH)
    answer = ask(story, capsys, "ack", SLUG)
    assert answer.code == 1 and mentions(answer.err, "crashed", "babysit tiny --once`")
    assert words(story) == []
    story.tick()
    assert ask(story, capsys, "ack", SLUG, "crashed").code == 0
    assert words(story) == ["ack"]
