"""How long a tick waits for the next: sooner where a critical alert waits for a person."""

import json
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from builders import MINUTE
from core.babysit.test_policy import alert
from herorun.core.babysit.alert import AlertState
from herorun.core.babysit.cadence import CLOSE, FIRST_CHECK
from herorun.core.babysit.tick import MonitorHealth, RunHealth, Tick
from herorun.core.journal import Memory
from herorun.core.recovery.backoff import FIRST_WAIT
from herorun.operations.babysit.tick import pause_after
from herorun.operations.report.status import status_of_run
from herorun.system.clock import now
from operations.in_memory import ToldRun
from stories import CRASH, Story

RUN = ToldRun([])
CADENCE = RUN.contract.babysit.cadence
CRITICAL, WARNING = "crashed", "filling-disk"


def pause(memory: Memory, **changes: Any) -> timedelta:
    tick = Tick(
        at=now(),
        run=RunHealth.HEALTHY,
        monitor=MonitorHealth.FRESH,
        findings=[],
        alerts={},
        actions=[],
        **changes,
    )
    return pause_after(RUN, tick, memory)


def with_alert(check: str, state: AlertState, is_acked: bool = False) -> Memory:
    raised_alert = replace(alert(check), state=state)
    memory = RUN.record.memory()
    return replace(
        memory,
        alerts={raised_alert.key: raised_alert},
        acked={raised_alert.key: None} if is_acked else {},
    )


@pytest.mark.parametrize(
    ("memory", "expectation"),
    [
        (RUN.record.memory(), CADENCE),
        (with_alert(CRITICAL, AlertState.FIRING), CLOSE),
        (with_alert(CRITICAL, AlertState.PENDING), FIRST_CHECK),
        (with_alert(CRITICAL, AlertState.FIRING, is_acked=True), CADENCE),
        (with_alert(WARNING, AlertState.FIRING), CADENCE),
        (with_alert(WARNING, AlertState.PENDING), CADENCE),
    ],
)
def test_a_critical_alert_that_nobody_acknowledged_is_looked_after_sooner(
    memory: Memory, expectation: timedelta
) -> None:
    assert pause(memory) == expectation


@pytest.mark.parametrize(
    ("relaunch_of", "minutes", "expectation"),
    [("tiny-0", 30, CLOSE), ("tiny-0", 90, CADENCE), ("", 30, CADENCE)],
)
def test_the_first_hour_after_a_relaunch_is_looked_after(
    relaunch_of: str, minutes: int, expectation: timedelta
) -> None:
    memory = RUN.record.memory()
    current = replace(memory.instances[-1], started=now() - minutes * MINUTE)
    launching = replace(memory.launchings["tiny-1"], relaunch_of=relaunch_of)
    memory = replace(memory, instances=(current,), launchings={"tiny-1": launching})
    assert pause(memory) == expectation


def test_a_relaunch_that_backs_off_is_waited_for() -> None:
    memory = RUN.record.memory()
    assert timedelta() < pause(memory, wake=now() + MINUTE) <= MINUTE
    assert pause(memory, wake=now() - MINUTE) == CADENCE


@pytest.mark.thorough
def test_a_relaunch_that_backs_off_says_when_it_is_due(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    story.order("tiny-2", "exit 5")
    story.sign(babysit={"thresholds": {"repeated-crash": {"same_step": 9}}})
    story.run_first_job(CRASH)
    story.tick()
    story.wait_for_end("tiny-2")
    capsys.readouterr()
    story.tick("--json")
    alerts = json.loads(capsys.readouterr().out)["alerts"]
    (alert,) = (each for each in alerts if each["check"] == "crashed")
    due = datetime.fromisoformat(alert["since"]) + FIRST_WAIT
    assert f"{due:%Y-%m-%dT%H:%M:%SZ}" in alert["fix"]
    shown_alerts = status_of_run(story.run, "")[0].alerts
    # and that nobody is there to do it: the ticks were single ones
    assert any(each.fix.startswith(alert["fix"]) for each in shown_alerts)
