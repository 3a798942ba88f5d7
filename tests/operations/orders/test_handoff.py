"""Handing the watch over: one owner at a time, the facts in the record, and nothing done by whoever
lost it.
"""

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from commands.answers import ask
from herorun.core.babysit.actions import Stop
from herorun.core.errors import Blocked, CouldNotLook
from herorun.core.evidence import JobLog, Launcher
from herorun.core.record.lease import Lease, read_lease
from herorun.operations.babysit import tick
from herorun.operations.babysit.perform import perform
from herorun.operations.orders import handoff, owner_facts
from herorun.operations.record import lease as leasing
from herorun.operations.record.lease import LeaseHeldElsewhere, take_lease
from herorun.runs import Run
from herorun.stores.local import LocalStore
from herorun.system import clock, host
from stories import SLUG, WAIT, Story
from wording import mentions

CAPTURE = pytest.CaptureFixture[str]
THERE = "eve@there"


def lease(story: Story) -> Lease:
    lease = read_lease((story.root / "_herorun" / "lease.json").read_bytes())
    assert lease
    return lease


def as_eve(monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on this is another machine."""
    monkeypatch.setattr(host, "owner", lambda: THERE)


def hand_off(story: Story, capsys: CAPTURE, *words: str) -> tuple[int, Any]:
    capsys.readouterr()
    code = story.herorun("handoff", SLUG, "--json", *words)
    out = capsys.readouterr()
    document = json.loads(out.out)
    return code, out.err if "error" in document else document


def test_its_owner_hands_it_over_with_what_the_next_one_must_know(
    story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    story.run_first_job(WAIT)
    before = lease(story)
    reason = "my night is over"
    code, output = hand_off(story, capsys, "--to", THERE, "--reason", reason)
    (warning,) = output["warnings"]  # only this machine can query a local job
    assert code == 0 and mentions(warning, str(story.state), "tiny-1", THERE)
    after = lease(story)
    assert (after.owner, after.fence) == (THERE, before.fence + 1)
    (event,) = story.events("HandedOff")
    assert event.to == THERE
    facts = event.facts
    assert facts["Job"] == "tiny-1"
    assert facts["Cluster"] == "local"
    assert "run healthy" in facts["Evidence"] and mentions(facts["Evidence"], "no alert")
    assert facts["Decision"].startswith(f"{reason}; ")
    assert mentions(facts["Resubmission"], "herorun relaunch tiny", "ended", "[babysit]", "=")
    assert mentions(
        (story.state / "issue.md").read_text().replace("\u200b", ""), "tiny", "eve@there"
    )
    assert story.is_published
    # Whoever gave it away does nothing any more; whoever was given it watches.
    lines = len(story.lines)
    assert story.tick() == 1
    assert mentions(capsys.readouterr().err, "handed over", THERE, "No tick", "--take")
    assert len(story.lines) == lines
    with monkeypatch.context() as other_machine:
        as_eve(other_machine)
        assert story.tick() == 0
    assert story.tick() == 1
    assert mentions(capsys.readouterr().err, "handed over", THERE, "tick was", "--take")


@pytest.mark.thorough
def test_a_run_of_another_machine_is_handed_over_there_as_asked(
    story: Story, capsys: CAPTURE
) -> None:
    story.run_first_job(WAIT)
    path = story.root / "_herorun" / "lease.json"
    path.write_bytes(lease(story).hand_to(THERE).bytes())
    code, text = hand_off(story, capsys, "--to", "bob@node8")
    assert code == 1 and mentions(
        text, THERE, f"`herorun handoff {SLUG} --to bob@node8`", "-C", "--take"
    )


def test_a_loop_ends_when_the_run_is_handed_over(story: Story, capsys: CAPTURE) -> None:
    story.run_first_job(WAIT)
    assert hand_off(story, capsys, "--to", THERE)[0] == 0
    assert story.herorun("babysit", SLUG) == 1
    assert mentions(capsys.readouterr().err, "handed over", THERE)


@pytest.mark.thorough
def test_a_lease_that_moves_is_not_taken(
    story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    story.run_first_job(WAIT)
    document = lease(story)
    mine = story.run
    as_eve(monkeypatch)
    beats: list[Lease] = []
    monkeypatch.setattr(handoff.time, "monotonic", lambda: float(len(beats)))

    def owner_lives(_: float) -> None:
        beats.append(take_lease(replace_owner(mine, document.owner)))

    with pytest.raises(Blocked, match="renews"):
        handoff.take_over(story.run, wait=60, sleep=owner_lives)
    assert lease(story).owner == document.owner
    assert not story.events("HandedOff")


def replace_owner(run: Run, owner: str) -> Run:
    run.__dict__["launcher"] = Launcher(owner, "somebody", "/tmp")
    return run


@pytest.mark.thorough
def test_whether_it_is_stale_is_not_known_at_the_first_sight(
    story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    story.run_first_job(WAIT)
    before = lease(story)
    (story.state / "lease-seen.json").unlink(missing_ok=True)
    as_eve(monkeypatch)
    code, output = hand_off(story, capsys, "--take")
    assert code == 3
    assert mentions(output, "unchanged", "stale")
    assert lease(story) == before


@pytest.mark.thorough
def test_a_lease_that_stood_still_for_two_cadences_is_taken(
    story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    story.run_first_job(WAIT)
    before = lease(story)
    as_eve(monkeypatch)
    assert hand_off(story, capsys, "--take")[0] == 3
    lease_seen_json = story.state / "lease-seen.json"
    lease_document = json.loads(lease_seen_json.read_text())
    lease_seen_json.write_text(
        json.dumps({**lease_document, "uptime": lease_document["uptime"] - 86_400})
    )
    code, output = hand_off(story, capsys, "--take")
    assert code == 0 and mentions(output["message"], THERE, "`herorun babysit tiny`")
    assert mentions(output["warnings"][0], str(story.state), "tiny-1", THERE)
    after = lease(story)
    assert (after.owner, after.fence) == (THERE, before.fence + 1)
    (event,) = story.events("HandedOff")
    assert mentions(event.facts["Decision"], "moved", "UTC")
    assert story.tick() == 0


@pytest.mark.thorough
def test_the_former_owner_stops_nothing_any_more(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    story.run_first_job(WAIT)
    run = story.run
    path = story.root / "_herorun" / "lease.json"
    path.write_bytes(lease(story).hand_to(THERE).bytes())
    result = perform(run, Stop("stop/tiny-1", "tiny-1", "the loss is lost"))
    assert mentions(result.why, "held", "eve@there")
    search = story.run.scheduler.find("tiny-1", clock.now())
    assert search.job.state.live  # Absent fails the test too


@pytest.mark.thorough
def test_a_tick_that_only_observes_leaves_no_heartbeat(
    story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else this clone would look like the one whose babysitter runs."""
    story.run_first_job(WAIT)
    heartbeat = story.state / "heartbeat.json"
    heartbeat.unlink(missing_ok=True)

    def raise_lease_held(*_: object) -> None:
        raise LeaseHeldElsewhere(f"{THERE} monitors tiny")

    with monkeypatch.context() as patch:
        patch.setattr(tick, "_acting_tick", raise_lease_held)
        answer = ask(story, capsys, "babysit", SLUG, "--once", "--json")
    assert any(THERE in doubt for doubt in answer.document["doubts"])
    assert not heartbeat.exists()
    assert story.tick() == 0 and heartbeat.exists()


@pytest.mark.thorough
def test_a_lease_on_a_mount_that_hangs_hangs_no_act(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    story.run_first_job(WAIT)
    run, over = story.run, threading.Event()
    monkeypatch.setattr(leasing, "DEADLINE", 0.05)
    monkeypatch.setattr(LocalStore, "swap", lambda *_: over.wait(60))
    result = perform(run, Stop("stop/tiny-1", "tiny-1", "the loss is lost"))
    over.set()
    assert mentions(result.why, "within", "0.05s")
    assert run.scheduler.find("tiny-1", clock.now()).job.state.live


@pytest.mark.thorough
@pytest.mark.parametrize(
    "words", [(), ("--to", THERE, "--take"), ("--to", "eve"), ("--to", "eve @there")]
)
def test_wrong_words_are_one_sentence(
    story: Story, capsys: CAPTURE, words: tuple[str, ...]
) -> None:
    story.run_first_job(WAIT)
    code, output = hand_off(story, capsys, *words)
    assert (code, output.count("\n")) == (2, 1)


# --- the lease on the record's branch -------------------------------------------------------------


@pytest.mark.thorough
def test_where_the_contract_says_so_the_record_is_the_lease(story: Story, capsys: CAPTURE) -> None:
    story.sign(babysit={"lease": "record"})
    story.run_first_job(WAIT)
    assert not (story.root / "_herorun" / "lease.json").exists()
    lease_before = story.run.record.memory().lease
    assert lease_before and (lease_before.owner, lease_before.fence) == (host.owner(), 1)
    assert story.tick() == 0
    again = story.run.record.memory().lease
    assert again and again.beat > lease_before.beat
    assert hand_off(story, capsys, "--to", THERE)[0] == 0
    lease_after = story.run.record.memory().lease
    assert lease_after and (lease_after.owner, lease_after.fence) == (THERE, 2)


def test_a_root_that_refuses_the_first_owner_makes_the_record_the_lease(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    story.init()
    run = story.run

    def refuse_write(path: str, data: bytes) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(run.store, "create", refuse_write, raising=False)
    assert take_lease(run).owner == host.owner()
    assert leasing.by_record(story.run)


@pytest.mark.thorough
def test_of_two_clones_that_take_the_record_lease_at_once_one_has_it(
    story: Story, tmp_path: Path
) -> None:
    story.sign(babysit={"lease": "record"})
    story.init()
    other = story.clone("other")
    there = replace_owner(other.run, THERE)
    there.record.fetch()
    assert take_lease(story.run).owner == host.owner()
    with pytest.raises((Blocked, CouldNotLook)):
        take_lease(there)
    there.record.fetch()
    document = there.record.memory().lease
    assert document and document.owner == host.owner()


def test_a_handoff_names_the_tracker_link_that_the_log_shows(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The contract's tracker is another one, and so names no page."""
    log = JobLog(runs=("lab/pre/ab12cd34",), server="https://wandb.ai")
    monkeypatch.setattr(owner_facts, "gather", lambda *_: {JobLog: log})
    story.init()
    assert owner_facts._links(story.run) == ("https://wandb.ai/lab/pre/runs/ab12cd34",)
