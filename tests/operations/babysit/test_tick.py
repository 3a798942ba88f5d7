"""One turn of the babysitter: what it sees, says and does, and what it must not do."""

import json
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from commands.answers import ask
from herorun.core.errors import CouldNotLook
from herorun.operations.babysit import tick
from herorun.operations.babysit.loop import tick_once
from herorun.operations.babysit.outcome import tick_exit_code
from herorun.operations.babysit.tick import run_tick
from herorun.operations.health import evaluate
from herorun.record import Pushed, Record
from herorun.runs import watched_run
from herorun.schedulers.local import Local
from herorun.system.files import is_locked
from stories import CRASH, REFUSE, SLUG, STOP_COMMAND, WAIT, Story, eventually, forget
from wording import mentions

NAN = '{"step": 4, "train/loss": NaN}\n{"step": 5, "train/loss": 2.5}\n'


def log(story: Story, lines: str) -> None:
    with (story.root / "metrics.jsonl").open("a") as file:
        file.write(lines)


def save(root: Path, step: int, metadata: bool = True) -> str:
    """A checkpoint folder, complete or not."""
    folder = root / f"step-{step}"
    folder.mkdir(parents=True)
    (folder / "weights").write_text("weights")
    fields = {"step": step, "timestamp": "2026-01-01T00:00:00", "is_temporary": False}
    if metadata:
        (folder / "metadata.json").write_text(json.dumps(fields))
    return str(folder)


def keys(story: Story, word: str) -> list[str]:
    """The issue's entries that begin with a word."""
    return [key for key in story.comments if key.startswith(word)]


# --- what is seen ---------------------------------------------------------------------------------


@pytest.mark.thorough
def test_what_a_look_saw_is_told_anyway(story: Story) -> None:
    """A non-finite stretch that has ended is reported by the first tick after it, whoever looked
    before.
    """
    story.run_first_job()
    log(story, NAN)
    assert story.herorun("status", "tiny") == 1
    assert story.tick() == 1
    assert len(keys(story, "tell/not-finite")) == 1


@pytest.mark.thorough
def test_what_an_interrupted_tick_saw_is_reported_by_the_next(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    story.run_first_job()
    log(story, NAN)
    with monkeypatch.context() as patch:
        patch.setattr(Record, "append", _interrupt)
        assert story.tick() == 130
    story.tick()
    assert len(keys(story, "tell/not-finite")) == 1


def _interrupt(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.thorough
def test_a_quiet_tick_says_what_was_reached_and_keeps_no_order_waiting_for_its_push(
    story: Story,
) -> None:
    story.run_first_job(WAIT)
    before = story.comments

    def slow(record: Record, urgent: bool) -> Pushed:
        assert urgent  # it notifies
        assert not is_locked(story.run.lock("act"))
        return record.push()

    run, observations = tick_once(SLUG, story.work, push=slow)
    assert tick_exit_code(observations) == 0 and run.record.pushed_tip == run.record.tip
    assert story.comments == [*before, "tell/tiny-1/first-step", "tell/tiny-1/first-checkpoint"]
    (story.data / "go").touch()
    story.wait_for_end()


@pytest.mark.thorough
def test_a_checkin_enters_the_record_once_an_attempt(story: Story) -> None:
    (story.data / "no-receipt").touch()
    story.run_first_job()
    receipts = story.root / "_herorun" / "receipts"
    receipts.mkdir(parents=True)
    item = {"item": "argv", "outcome": "pass", "message": "as admitted"}
    fields = {
        "instance": "tiny-1",
        "attempt": 1,
        "outcome": "pass",
        "items": [item],
        "loaded": None,
    }
    (receipts / "tiny-1.1.json").write_text(json.dumps(fields))
    story.tick()
    story.tick()
    (event,) = story.events("CheckedIn")
    assert event.items == (("argv", "pass", "as admitted"),)
    (receipts / "tiny-1.7.json").write_text(json.dumps({**fields, "attempt": 7}))
    story.tick()
    story.tick()
    assert [attempt for _, attempt in story.run.record.memory().history.starts] == [1, 7]


# --- relaunch -------------------------------------------------------------------------------------


def test_a_crash_is_relaunched_once_from_the_newest_complete_checkpoint(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    """Newest by number over both roots: step-10 is after step-9, and what is not complete does not
    count.
    """
    story.sign(final_step=20)
    story.run_first_job(CRASH)
    receipts = story.root / "_herorun" / "receipts"
    receipts.mkdir(parents=True, exist_ok=True)
    partial_files = [receipts / f"tiny-{number}.1.json.99-0123abcd.new" for number in (1, 2)]
    for path in partial_files:
        path.touch()
    save(story.root, 9)
    target = save(story.data / "tiny-temporary", 10)
    save(story.root, 100, metadata=False)
    document = ask(story, capsys, "babysit", SLUG, "--once", "--json").document
    (crash,) = [alert for alert in document["alerts"] if alert["check"] == "crashed"]
    assert mentions(crash["fix"], "tiny-2")  # what happened, not what may happen
    # what a relaunch may be writing is left; the ended instance writes no more
    assert [path.exists() for path in partial_files] == [False, True]
    story.wait_for_end("tiny-2")
    story.tick()
    story.tick()
    assert story.starts == ["tiny-1 scratch", f"tiny-2 {target}"]
    assert [e.relaunch_of for e in story.events("Launched")] == ["", "tiny-1"]
    assert (len(keys(story, "tell/crashed")), len(keys(story, "post/submit/tiny-2"))) == (1, 1)


@pytest.mark.thorough
def test_a_rejected_lineage_is_never_gone_on_from(story: Story) -> None:
    story.sign(final_step=20, start={"rejected": [str(story.root / "step-9")]})
    story.run_first_job(CRASH)
    save(story.root, 9)
    story.tick()
    story.wait_for_end("tiny-2")
    assert story.starts[1] == f"tiny-2 {story.root / 'step-2'}"


@pytest.mark.thorough
def test_without_a_complete_checkpoint_a_person_is_asked(story: Story) -> None:
    story.run_first_job(CRASH)
    (story.root / "step-2" / "metadata.json").unlink()
    assert story.tick() == 1
    story.tick()
    assert len(story.starts) == 1
    assert keys(story, "escalate/") == ["escalate/relaunch/tiny-1/gate"]
    (question,) = [e for e in story.events("Done") if e.key == "escalate/relaunch/tiny-1/gate"]
    assert mentions(question.lines["Evidence"], "complete", "checkpoint")


@pytest.mark.thorough
def test_an_alert_about_a_run_that_is_only_observed_names_the_key(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    story.sign(babysit={"recovery": "observe"})
    story.run_first_job(CRASH)
    capsys.readouterr()
    story.tick("--json")
    (fix,) = [a["fix"] for a in json.loads(capsys.readouterr().out)["alerts"] if a["fix"]]
    assert mentions(fix, "recovery", "observe", "DRI", "status")
    assert story.herorun("status", SLUG) == 1
    assert mentions(capsys.readouterr().out, "question", "relaunch")


@pytest.mark.parametrize("recovery", ["ask", "observe"])
def test_where_the_contract_says_so_a_person_decides(story: Story, recovery: str) -> None:
    story.sign(babysit={"recovery": recovery})
    story.run_first_job(CRASH)
    assert (story.tick(), story.tick(), len(story.starts)) == (1, 1, 1)
    assert keys(story, "escalate/") == ["escalate/relaunch/tiny-1/recovery"]


@pytest.mark.thorough
def test_a_spent_budget_is_put_to_a_person_once(story: Story) -> None:
    story.sign(babysit={"budgets": {"relaunches": 1}})
    story.order("tiny-2", f"save 3; {CRASH}")
    story.run_first_job(CRASH)
    story.tick()
    story.wait_for_end("tiny-2")
    for _ in range(3):
        assert story.tick() == 1
    assert len(story.starts) == 2
    assert keys(story, "escalate/") == ["escalate/relaunch/tiny-2/budget"]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "check"),
    [(STOP_COMMAND, "stopped-by-hand"), (REFUSE, "refused-at-check-in")],
    ids=["stop", "78"],
)
def test_what_a_person_or_check_in_ended_is_not_relaunched(
    story: Story, words: str, check: str
) -> None:
    story.run_first_job(words)
    for _ in range(3):
        assert story.tick() == 1
    assert len(story.starts) == 1
    assert [key.partition("%5B")[0] for key in keys(story, "escalate/")] == [f"escalate/{check}"]


@pytest.mark.thorough
def test_an_unknown_job_is_left_alone(story: Story, capsys: pytest.CaptureFixture[str]) -> None:
    story.run_first_job(CRASH)
    (story.jobs / "tiny-1" / "exit.json").write_text("{nope")
    capsys.readouterr()
    for _ in range(3):
        assert story.tick("--json") == 3
    document = json.loads(
        capsys.readouterr().out.rpartition('{\n  "schema"')[2].join(('{"schema"', ""))
    )
    assert (document["run"], document["monitor"], document["actions"]) == ("unknown", "partial", [])
    assert len(story.starts) == 1


@pytest.mark.thorough
def test_a_relaunch_is_judged_by_the_admitted_contract_whatever_the_checkout_says(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is changed, then gone, and the code is edited: the admitted commit is run."""
    # both end after step 3
    story.sign(babysit={"thresholds": {"repeated-crash": {"same_step": 3}}})
    story.order("tiny-2", "exit 7")
    story.run_first_job(CRASH)
    contract = story.work / "runs" / "tiny.toml"
    contract.write_text(contract.read_text().replace('"train.sh"', '"other.sh"'))
    (story.work / "train.sh").write_text("exit 1\n")
    story.tick()
    story.wait_for_end("tiny-2")
    signed_text = contract.read_text()
    contract.unlink()
    story.tick()
    later = datetime.now(UTC) + timedelta(minutes=2)  # its back-off is over
    for module in (tick, evaluate):
        monkeypatch.setattr(module, "now", lambda: later)
    story.tick()
    story.wait_for_end("tiny-3")
    contract.write_text(signed_text)
    assert [start.partition(" ")[0] for start in story.starts] == ["tiny-1", "tiny-2", "tiny-3"]
    assert len({event.plan_digest for event in story.events("Launched")[1:]}) == 1


@pytest.mark.thorough
def test_a_contract_that_moved_is_reported_in_every_turn(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    story.run_first_job(WAIT)
    contract = story.work / "runs" / "tiny.toml"
    contract.write_text(contract.read_text().replace("keep = 10", "keep = 1"))
    capsys.readouterr()
    assert story.tick() == 0
    assert mentions(capsys.readouterr().out, "contract-drift", "runs/tiny.toml", "changed")


@pytest.mark.thorough
def test_what_the_plan_does_not_hold_is_followed_from_the_file(story: Story) -> None:
    story.run_first_job(CRASH)
    contract = story.work / "runs" / "tiny.toml"
    contract.write_text(contract.read_text().replace("[babysit]", '[babysit]\nrecovery = "ask"'))
    story.tick()
    assert len(story.starts) == 1


# --- who may act ----------------------------------------------------------------------------------


@pytest.mark.thorough
def test_whoever_lost_the_lease_does_not_act(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    story.run_first_job(CRASH)
    lease = story.root / "_herorun" / "lease.json"
    lease.write_text('{"beat":0,"fence":2,"owner":"bob@mars","slug":"tiny"}')
    assert story.tick() == 1
    assert "held by bob@mars" in capsys.readouterr().err
    assert len(story.starts) == 1
    assert json.loads(lease.read_text())["owner"] == "bob@mars"


@pytest.mark.thorough
def test_a_lease_that_cannot_be_written_stops_no_telling(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    from herorun.stores.local import LocalStore

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    story.sign(babysit={"recovery": "observe"})
    story.run_first_job(CRASH)
    monkeypatch.setattr(LocalStore, "create", full)
    monkeypatch.setattr(LocalStore, "swap", full)
    story.tick()
    assert len(keys(story, "tell/crashed")) == 1


# --- a submission whose fate is not known ---------------------------------------------------------


def lose_answer(real: Callable[..., object]) -> Callable[..., object]:
    """A submission that goes through, and whose answer is lost on the way."""

    def submit(*args: object, **keywords: object) -> object:
        real(*args, **keywords)
        raise CouldNotLook("no answer")

    return submit


@pytest.mark.thorough
def test_a_lost_answer_to_a_launch_is_no_second_submission(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    story.init()
    monkeypatch.setattr(Local, "submit", lose_answer(Local.submit))
    assert story.launch() == 0
    story.wait_for_end()
    assert story.starts == ["tiny-1 scratch"]
    assert [event.instance for event in story.events("Launched")] == ["tiny-1"]


@pytest.mark.thorough
def test_while_the_scheduler_cannot_say_nothing_is_submitted_again(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    from herorun.core.ports import Unknown
    from herorun.operations.launch import start_instance

    story.init()
    monkeypatch.setattr(start_instance, "SETTLING", 0.0)
    with monkeypatch.context() as blind:
        blind.setattr(Local, "submit", lose_answer(Local.submit))
        blind.setattr(Local, "find", lambda *_: Unknown("no answer"))
        assert [story.launch(), story.launch()] == [3, 3]
    story.wait_for_end()
    assert story.launch() == 0
    assert story.starts == ["tiny-1 scratch"]
    assert [event.instance for event in story.events("Launching", "Launched")] == [
        "tiny-1",
        "tiny-1",
    ]


@pytest.mark.thorough
def test_a_turn_settles_a_launch_that_nobody_finished(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    from herorun.core.ports import Unknown
    from herorun.operations.launch import start_instance

    story.init()
    monkeypatch.setattr(start_instance, "SETTLING", 0.0)
    with monkeypatch.context() as blind:
        blind.setattr(Local, "submit", lose_answer(Local.submit))
        blind.setattr(Local, "find", lambda *_: Unknown("no answer"))
        story.launch()
    story.wait_for_end()
    story.tick()
    assert [event.instance for event in story.events("Launched")] == ["tiny-1"]


# --- news -----------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_post_that_fails_is_said_at_the_next_chance_with_its_own_words(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    from herorun.notifiers.local import LocalIssue

    def down(*_: object) -> None:
        raise OSError(110, "Connection timed out")

    story.sign(babysit={"cadence": "1s"})
    story.run_first_job()
    with monkeypatch.context() as patch:
        patch.setattr(LocalIssue, "post", down)
        story.tick()
        assert keys(story, "tell/") == []
    time.sleep(1)
    story.tick()
    assert keys(story, "tell/") == ["tell/tiny-1/finished"]
    done_keys = [event.key for event in story.events("Done")]
    assert done_keys.count("tell/tiny-1/finished") == 1


@pytest.mark.thorough
def test_a_digest_comes_once_a_day(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    story.run_first_job(WAIT)
    day_two = datetime.now(UTC) + timedelta(hours=30)
    for module in (tick, evaluate):
        monkeypatch.setattr(module, "now", lambda: day_two)
    story.tick()
    story.tick()
    assert keys(story, "tell/tiny-1/day") == ["tell/tiny-1/day-1"]


@pytest.mark.thorough
def test_the_digest_shows_the_curves_that_are_kept_here(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GitHub draws them; the page to the DRI and the logbook do without."""
    story.run_first_job(WAIT)
    story.tick()
    for module in (tick, evaluate):
        monkeypatch.setattr(module, "now", lambda: datetime.now(UTC) + timedelta(hours=30))
    story.tick()
    (digest,) = [e for e in story.events("Intended") if e.key == "tell/tiny-1/day-1"]
    assert "```mermaid" in digest.body and 'x-axis "step" 1 --> 3' in digest.body
    assert "line [2.5, 2.5, 2.5]" in digest.body
    assert "```mermaid" in (story.state / "issue.md").read_text()
    assert "mermaid" not in story.run.record.logbook()


@pytest.mark.thorough
def test_what_a_process_remembers_is_only_the_journal(story: Story) -> None:
    """A tick after everything was forgotten decides as the one before would have."""
    story.run_first_job(CRASH)
    story.tick()
    story.wait_for_end("tiny-2")
    run = story.run
    first = run.record.memory()
    forget()
    assert story.run.record.memory() == first


SECONDARY = {"page": ["OTHER"], "secondary": ["OTHER"]}


@pytest.mark.parametrize(("notify", "stays"), [({}, False), (SECONDARY, True)])
def test_a_finished_run_is_watched_while_a_second_person_may_have_to_be_asked(
    story: Story, monkeypatch: pytest.MonkeyPatch, notify: dict[str, object], stays: bool
) -> None:
    monkeypatch.setenv("OTHER", "json://127.0.0.1:1/")
    story.sign(notify=notify)
    story.run_to_success()
    outcome = run_tick(*watched_run(SLUG, story.work))
    assert outcome.is_complete and outcome.tick is not None
    assert replace(outcome, tick=replace(outcome.tick, settled=False)).is_complete is not stays


NEGATIVE = """\
rm "$root/metrics.jsonl"
for each in $(seq 0 59); do
  echo "{\\"step\\": $each, \\"train/loss\\": -$each.5}" >> "$root/metrics.jsonl"
done
"""


@pytest.mark.thorough
def test_a_tick_says_what_no_row_will_let_it_judge(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    story.order("tiny-1", NEGATIVE + WAIT)
    story.sign(final_step=80)
    assert story.init() == 0
    assert story.launch() == 0
    capsys.readouterr()
    eventually(lambda: (story.root / "metrics.jsonl").read_text().count("\n") == 60)
    output = ask(story, capsys, "babysit", SLUG, "--once").out
    document = ask(story, capsys, "babysit", SLUG, "--once", "--json").document
    never_judged = [each for each in document["unjudged"] if each["until_row"] is None]
    assert any("loss-spike" in each["checks"] for each in never_judged)
    assert mentions(output, "unjudged", "loss-spike")
