"""Actions that another process of this machine performs while the health is read."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from core.babysit.test_policy import alert
from herorun.operations.health.evaluate import memory_and_acting
from herorun.operations.report.status import status_of_run
from herorun.system.files import hold_lock
from operations.in_memory import ToldRun, an_intent
from stories import WAIT, Story

KEY = "tell/tiny-1/first-step"


def status_now(story: Story) -> tuple[bool, list[str], int]:
    status = status_of_run(story.run, "")[0]
    return status.acting, [each.check for each in status.alerts], len(status.unfinished_actions)


def test_an_action_is_a_problem_only_if_no_process_performs_it(story: Story) -> None:
    story.run_first_job(WAIT)
    run = story.run
    run.record.append(an_intent(KEY))
    with hold_lock(run.lock("act")):
        assert status_now(story) == (True, [], 1)
    assert status_now(story) == (False, ["unfinished-action"], 1)


@pytest.mark.parametrize(("check", "is_acting"), [("crashed", True), ("unfinished-action", False)])
def test_an_action_that_a_tick_found_unfinished_stays_a_problem(
    check: str, is_acting: bool, tmp_path: Path
) -> None:
    memory = ToldRun([]).record.memory()
    open_alert, action = alert(check), an_intent(KEY)
    memory = replace(memory, alerts={open_alert.key: open_alert}, intended={KEY: action})
    run: Any = SimpleNamespace(
        record=SimpleNamespace(memory=lambda: memory), lock=lambda name: tmp_path / name
    )
    with hold_lock(tmp_path / "act"):
        assert memory_and_acting(run) == (memory, is_acting)
