"""What a tick prints for a person proposes a command that fits what was ticked."""

import sys
from pathlib import Path

import pytest

from herorun.core.babysit.actions import Relaunch
from herorun.operations.babysit.perform import ActionResult
from herorun.operations.babysit.tick_json import actions_of
from herorun.output.run_facts import describe_health
from herorun.output.tick import show_summary, show_tick
from herorun.system import progress
from screens.catalogue import TICKS
from screens.states import RUN
from stories import REFUSE, SLUG, Story


@pytest.mark.parametrize(
    ("ack", "command"),
    [("", "`herorun ack tiny`"), ("herorun ack --job 4711", "`herorun ack --job 4711`")],
)
def test_an_alert_that_ended_unresolved_names_the_command_that_closes_it(
    capsys: pytest.CaptureFixture[str], ack: str, command: str
) -> None:
    _, tick = TICKS["unacknowledged"]
    show_tick("tiny", tick, ack)
    text = " ".join(capsys.readouterr().out.split())
    assert "ended-unresolved:" in text and command in text


@pytest.mark.parametrize(
    ("failure", "outcomes", "title"),
    [
        ("", {"relaunch/tiny-1": "tiny-2"}, "tiny-1 as tiny-2"),
        ("the queue is closed", {}, "tiny-1"),
    ],
)
def test_a_relaunch_names_the_instance_that_was_submitted(
    failure: str, outcomes: dict[str, str], title: str
) -> None:
    action = Relaunch("relaunch/tiny-1", "tiny-1", "a node failed")
    (entry,) = actions_of([ActionResult(action, failure)], outcomes)
    assert entry.title == title


def test_a_summary_at_the_end_of_monitoring_hides_no_open_alert(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, tick = TICKS["unacknowledged"]
    show_summary(RUN, tick, "step 100000")
    health = describe_health(tick.entry(with_findings=False).as_json())
    assert "open" in health and health in capsys.readouterr().out


@pytest.mark.parametrize(
    ("argv", "is_same", "is_posted"),
    [((), True, False), ((), False, True), (("--json",), True, True)],
)
def test_an_alert_is_posted_to_the_terminal_only_if_no_tick_is_printed_there(
    story: Story,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    argv: tuple[str, ...],
    is_same: bool,
    is_posted: bool,
) -> None:
    monkeypatch.setattr(progress, "_have_one_destination", lambda: is_same)
    story.run_first_job(REFUSE)
    capsys.readouterr()
    assert story.tick(*argv) == 1
    output = capsys.readouterr()
    check = "refused-at-check-in"
    assert check in output.out and (f"{SLUG}: {check}" in output.err) == is_posted


@pytest.mark.parametrize(("errors", "is_same"), [("output", True), ("errors", False)])
def test_two_streams_have_one_destination_if_they_are_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, errors: str, is_same: bool
) -> None:
    with (tmp_path / "output").open("w") as output, (tmp_path / errors).open("a") as stream:
        monkeypatch.setattr(sys, "stdout", output)
        monkeypatch.setattr(sys, "stderr", stream)
        assert progress._have_one_destination() is is_same
