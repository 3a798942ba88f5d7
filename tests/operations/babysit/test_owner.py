"""`[babysit] owner`: one owner of a run, and a babysitter only where the contract wants it."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from herorun.core.event import HandedOff
from herorun.core.proposed_commands import elsewhere
from herorun.core.record.lease import Lease, read_lease
from herorun.operations.launch.launch import start_watch
from herorun.operations.report import babysitter_state
from herorun.system import host
from stories import NOON, SLUG, WAIT, Story
from wording import mentions

CAPTURE = pytest.CaptureFixture[str]
THERE = "eve@there"


def lease(story: Story) -> Lease | None:
    return read_lease((story.root / "_herorun" / "lease.json").read_bytes())


def launch(story: Story, capsys: CAPTURE) -> tuple[int, Any]:
    capsys.readouterr()
    code = story.herorun("launch", SLUG, "--json")
    return code, json.loads(capsys.readouterr().out)


def outcome(values: Any, check: str) -> str:
    (outcome,) = [f["outcome"] for f in values["findings"] if f["check"] == check]
    return str(outcome)


@pytest.mark.thorough
def test_launch_starts_none_where_the_owner_is_elsewhere_and_gives_the_run_to_it(
    story: Story, capsys: CAPTURE
) -> None:
    story.sign(babysit={"owner": THERE})
    story.init()
    code, output = launch(story, capsys)
    assert (code, output["verdict"], outcome(output, "no-babysitter")) == (0, "clear", "fail")
    assert mentions(output["babysitter"], f"{THERE}", "15m", "started")
    assert not (story.state / "heartbeat.json").exists()
    assert lease(story) == Lease(THERE, SLUG, 2, 0)
    story.wait_for_end()
    assert story.events("Launched")[0].entry["Babysitter/check cadence"] == output["babysitter"]


@pytest.mark.thorough
def test_a_run_that_was_given_away_is_not_launched_from_here_again(
    story: Story, capsys: CAPTURE
) -> None:
    story.sign(babysit={"owner": THERE})
    story.run_first_job()
    code, output = launch(story, capsys)
    assert (code, outcome(output, "second-babysitter"), outcome(output, "no-babysitter")) == (
        1,
        "fail",
        "pass",
    )
    assert lease(story) == Lease(THERE, SLUG, 2, 0)


@pytest.mark.thorough
def test_launch_starts_one_where_the_owner_is_this_machine(story: Story, capsys: CAPTURE) -> None:
    story.sign(babysit={"owner": host.owner()})
    story.init()
    code, output = launch(story, capsys)
    assert (code, outcome(output, "no-babysitter")) == (0, "pass")
    assert output["babysitter"].startswith("process ")
    document = lease(story)
    assert document is not None and document.owner == host.owner()


@pytest.mark.thorough
def test_a_line_to_paste_is_only_printed_where_it_helps(story: Story, capsys: CAPTURE) -> None:
    story.sign(babysit={"owner": THERE})
    story.init()
    capsys.readouterr()
    assert story.launch() == 0
    assert not mentions(capsys.readouterr().out, "Watch")


def test_who_answers_is_inferred_from_the_launch_wherever_somebody_looks(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    contract = story.work / "runs" / f"{SLUG}.toml"
    contract.write_text(contract.read_text().replace('dri = "@dri"\n', ""))
    story.publish()
    story.run_first_job()
    launcher, here = host.owner(), story.run.dri
    monkeypatch.setattr(host, "owner", lambda: THERE)
    assert launcher not in here and story.run.dri.split()[0] == launcher


def test_a_lost_babysitter_is_started_on_the_machine_of_its_owner(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    story.run_first_job()
    story.sign(babysit={"owner": THERE})
    monkeypatch.setattr(babysitter_state, "last_heartbeat", lambda run: NOON)
    monkeypatch.setattr(babysitter_state, "is_lost", lambda run: True)
    relaunch = f"herorun relaunch {SLUG}"
    description = babysitter_state.describe_babysitter(story.run, next_command=relaunch)
    assert mentions(description, THERE, elsewhere(f"herorun babysit {SLUG}"))
    story.run.record.append(HandedOff(NOON, host.owner()))  # by its owner, back to this machine
    assert THERE not in babysitter_state.describe_babysitter(story.run)


def test_a_run_that_was_handed_over_is_not_monitored_before_the_other_machine_ticks(
    story: Story, monkeypatch: pytest.MonkeyPatch, capsys: CAPTURE
) -> None:
    """An older heartbeat of this machine says nothing about the next owner."""
    story.run_first_job(WAIT)
    assert story.tick() == 0
    assert story.herorun("handoff", SLUG, "--to", THERE) == 0
    for hours, monitor in ((0, "fresh"), (2, "stale")):
        later = datetime.now(UTC) + timedelta(hours=hours)
        monkeypatch.setattr(babysitter_state, "now", lambda at=later: at)
        capsys.readouterr()
        story.herorun("status", SLUG, "--json")
        status = json.loads(capsys.readouterr().out)
        assert (status["monitor"], status["summary"]["next_tick"]) == (monitor, None)
        assert mentions(status["babysitter"], THERE, "no tick")
        story.herorun("doctor", SLUG, "--json")
        parts = json.loads(capsys.readouterr().out)["parts"]
        (fit,) = [part["status"] for part in parts if part["group"] == "babysitter"]
        assert fit == ("failed" if monitor == "stale" else "unknown")


def test_doctor_reads_the_ticks_of_the_next_owner_or_says_that_it_cannot(
    story: Story, monkeypatch: pytest.MonkeyPatch, capsys: CAPTURE
) -> None:
    story.run_first_job(WAIT)
    assert story.tick() == 0
    assert story.herorun("handoff", SLUG, "--to", THERE) == 0
    other = story.clone("elsewhere")
    with monkeypatch.context() as there:
        there.setattr(host, "owner", lambda: THERE)
        other.herorun("babysit", SLUG, "--once")
    later = datetime.now(UTC) + timedelta(hours=2)
    for moment, fit in ((datetime.now(UTC), "ok"), (later, "failed"), (later, "unknown")):
        if fit == "unknown":
            story.origin.rename(story.home / "away")
        monkeypatch.setattr(babysitter_state, "now", lambda at=moment: at)
        capsys.readouterr()
        story.herorun("doctor", SLUG, "--json")
        parts = json.loads(capsys.readouterr().out)["parts"]
        (part,) = [part for part in parts if part["group"] == "babysitter"]
        assert part["status"] == fit and mentions(part["message"], THERE, "last")


def test_doctor_asks_for_no_babysitter_of_a_run_that_was_stopped_by_order(
    story: Story, monkeypatch: pytest.MonkeyPatch, capsys: CAPTURE
) -> None:
    story.run_first_job(WAIT)
    assert story.tick() == 0
    assert story.herorun("stop", SLUG, "--reason", "enough", "--yes") == 0
    story.tick()
    later = datetime.now(UTC) + timedelta(hours=2)
    monkeypatch.setattr(babysitter_state, "now", lambda: later)
    monkeypatch.setattr(babysitter_state, "last_heartbeat", lambda run: NOON)
    capsys.readouterr()
    story.herorun("doctor", SLUG, "--json")
    parts = json.loads(capsys.readouterr().out)["parts"]
    assert [part["status"] for part in parts if part["group"] == "babysitter"] == ["ok"]


def test_a_run_that_its_owner_handed_to_this_machine_is_not_given_away_again(
    story: Story, monkeypatch: pytest.MonkeyPatch, capsys: CAPTURE
) -> None:
    """By the contract's owner, to whom a relaunch gave it: then nobody monitored it."""
    story.sign(babysit={"owner": THERE})
    story.run_first_job(WAIT)
    here, other = host.owner(), story.clone("elsewhere")
    with monkeypatch.context() as there:
        there.setattr(host, "owner", lambda: THERE)
        assert other.herorun("handoff", SLUG, "--to", here) == 0
    run = story.run
    run.record.fetch()
    assert start_watch(run, babysit=False)[1] == ""
    document = lease(story)
    assert document is not None and (document.owner, story.run.other_babysit_owner) == (here, "")


def test_whoever_holds_the_lease_already_is_given_nothing(story: Story, capsys: CAPTURE) -> None:
    story.sign(babysit={"owner": THERE})
    story.run_first_job(WAIT)
    capsys.readouterr()
    assert story.herorun("handoff", SLUG, "--to", THERE) == 1
    errors = capsys.readouterr().err
    assert mentions(errors, THERE, "already", "herorun babysit tiny") and "handoff" not in errors
