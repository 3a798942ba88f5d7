"""A launch cut off after its submission, where the contract names another scheduler since."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from herorun.core.canonical_json import timestamp
from herorun.core.errors import CouldNotLook
from herorun.core.ports import Unknown
from herorun.operations.launch import start_instance
from herorun.operations.orders import forgotten_job
from herorun.schedulers import local
from herorun.system.clock import now
from operations.in_memory import fails
from stories import SLUG, WAIT, Story, eventually
from wording import mentions

CAPTURE = pytest.CaptureFixture[str]
WAIVER = {
    "check": "live-duplicate",
    "subject": "tiny-1",
    "reason": "the login node is gone",
    "approved_by": "@dri",
    "expires": timestamp(now() + timedelta(days=1)),
    "covers_unknown": True,
}


@pytest.fixture
def interrupted_story(story: Story, monkeypatch: pytest.MonkeyPatch) -> Story:
    """The job runs; the launch was not recorded; the table [scheduler] has changed since."""
    monkeypatch.setattr(start_instance, "SETTLING", 0.0)
    story.order("tiny-1", WAIT)
    story.init()
    with monkeypatch.context() as patch:
        patch.setattr(start_instance, "_confirm", fails(CouldNotLook("cut here")))
        assert story.launch() == 3
    eventually(lambda: story.starts == ["tiny-1 scratch"])
    story.sign(scheduler={"settle": "10ms"})
    return story


@pytest.mark.parametrize("waiver", [[], [WAIVER]])
def test_a_job_that_the_present_scheduler_lists_is_taken_whatever_is_signed(
    interrupted_story: Story, monkeypatch: pytest.MonkeyPatch, waiver: list[dict[str, Any]]
) -> None:
    """As by another login node of the same cluster, where the first one does not answer."""
    monkeypatch.setattr(start_instance, "_as_submitted", lambda *_: Unknown("login1 is down"))
    interrupted_story.sign(waiver=waiver)
    assert interrupted_story.launch() == 0
    monkeypatch.undo()
    assert interrupted_story.tick() in {0, 1}
    assert [event.instance for event in interrupted_story.events("Launched")] == ["tiny-1"]
    assert interrupted_story.starts == ["tiny-1 scratch"]


def test_an_error_of_the_launchs_scheduler_is_no_answer_and_can_be_signed(
    interrupted_story: Story, monkeypatch: pytest.MonkeyPatch, capsys: CAPTURE
) -> None:
    monkeypatch.setattr(local.Local, "find", fails(RuntimeError("its package is broken")))
    capsys.readouterr()
    assert interrupted_story.herorun("preflight", SLUG) == 1
    assert mentions(capsys.readouterr().out, "live-duplicate", "tiny-1", "its package is broken")
    assert interrupted_story.launch() == 3
    error = capsys.readouterr().err
    assert mentions(error, "its package is broken", "waive live-duplicate")


def test_a_forgotten_job_ends_by_stop_also_under_another_option_of_its_scheduler(
    interrupted_story: Story, monkeypatch: pytest.MonkeyPatch, capsys: CAPTURE
) -> None:
    monkeypatch.setattr(
        local.Local, "find", lambda *_: Unknown("it was switched off", forgotten=True)
    )
    monkeypatch.setattr(forgotten_job, "find_recent_write", lambda *_: None)  # hours later
    capsys.readouterr()
    assert interrupted_story.launch() == 3
    assert interrupted_story.shown_commands(f"`herorun stop {SLUG}`") in capsys.readouterr().err
    assert interrupted_story.herorun("stop", SLUG, "--reason", "the machine was switched off") == 0
    assert [event.instance for event in interrupted_story.events("Launched")] == ["tiny-1"]


def test_that_no_forgotten_job_runs_can_be_signed_under_another_option_of_its_scheduler(
    interrupted_story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_record = Unknown("it was switched off", forgotten=True)
    monkeypatch.setattr(local.Local, "find", lambda *_: no_record)
    interrupted_story.sign(scheduler={"settle": "10ms"}, waiver=[WAIVER])
    run = interrupted_story.run
    assert start_instance.settle_launching(run, "") is None
    adoption = replace(run.record.memory().unsettled, adopts="4711")
    assert start_instance._ask_where_submitted(run, adoption) == no_record
