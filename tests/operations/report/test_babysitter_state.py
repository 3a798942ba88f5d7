"""Who monitors a run that two clones of one machine know: by this clone's heartbeat, and by the
ticks in the record.
"""

import json
from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from builders import MINUTE, a_contract
from herorun.core.canonical_json import canonical, timestamp
from herorun.core.errors import CouldNotLook
from herorun.core.journal import Memory
from herorun.core.recovery.policy import ActionPause
from herorun.operations.launch.start_babysitter import start_babysitter
from herorun.operations.orders.order import babysitter_runs, unwatched_warnings
from herorun.operations.record.heartbeat import (
    describe_hung,
    is_hung,
    last_tick_elsewhere,
    stale_after,
)
from herorun.operations.report.babysitter_state import (
    describe_babysitter,
    doubt_next_tick,
    is_babysitter_lost,
    is_monitored_elsewhere,
    monitor_is_stale,
    ticks_in_this_clone,
    why_not_relaunched,
)
from herorun.system.clock import now
from herorun.system.files import hold_lock
from operations.in_memory import ToldRun
from wording import mentions

LIMIT = stale_after(ToldRun([]))  # type: ignore[arg-type]  # only its contract is read


@pytest.fixture
def run(tmp_path: Path) -> Any:
    stand_in = ToldRun([])
    stand_in.state, stand_in.lock, stand_in.other_babysit_owner = (
        tmp_path,
        lambda name: tmp_path / name,
        "",
    )
    return stand_in


def with_ages(run: Any, beat: timedelta | None, tick: timedelta | None) -> datetime | None:
    """The run with a heartbeat and a recorded tick of these ages; returns the tick's time."""
    ticked_at = now() - tick if tick is not None else None
    memory = replace(run.record.memory(), last_seen=ticked_at)
    run.record = SimpleNamespace(memory=lambda: memory)
    if beat is not None:
        heart = {"at": timestamp(now() - beat), "next": timestamp(now() - beat + MINUTE)}
        (run.state / "heartbeat.json").write_text(canonical(heart))
    return ticked_at


@pytest.mark.parametrize(
    ("tick", "is_stale"), [(timedelta(seconds=9), False), (LIMIT + MINUTE, True)]
)
def test_ticks_after_the_own_heartbeat_are_of_another_clone(
    run: Any, tick: timedelta, is_stale: bool
) -> None:
    ticked_at = with_ages(run, beat=3 * LIMIT, tick=tick)
    assert last_tick_elsewhere(run) == ticked_at
    assert (monitor_is_stale(run), is_babysitter_lost(run)) == (is_stale, False)
    (warning,) = unwatched_warnings(run)
    assert mentions(warning, "another clone", "watchdog")


def test_a_killed_babysitter_is_lost_also_where_its_last_tick_is_recorded(run: Any) -> None:
    with_ages(run, beat=2 * LIMIT, tick=2 * LIMIT - 2 * MINUTE)
    assert last_tick_elsewhere(run) is None
    assert (monitor_is_stale(run), is_babysitter_lost(run)) == (True, True)
    assert not ticks_in_this_clone(run)


def test_a_tick_that_a_clock_ahead_dated_is_of_no_other_clone(run: Any) -> None:
    with_ages(run, beat=3 * LIMIT, tick=-timedelta(days=1))
    assert last_tick_elsewhere(run) is None
    assert (monitor_is_stale(run), is_babysitter_lost(run)) == (True, True)


def test_a_clone_that_never_monitored_calls_nothing_stale(run: Any) -> None:
    ticked_at = with_ages(run, beat=None, tick=3 * LIMIT)
    assert last_tick_elsewhere(run) == ticked_at
    assert not monitor_is_stale(run)


@pytest.mark.parametrize("beat", [None, 9 * LIMIT])
@pytest.mark.parametrize(("tick", "is_fresh"), [(MINUTE, True), (LIMIT + MINUTE, False)])
def test_a_run_is_monitored_elsewhere_only_while_the_other_clone_ticks(
    run: Any, beat: timedelta | None, tick: timedelta, is_fresh: bool
) -> None:
    with_ages(run, beat, tick)
    assert is_monitored_elsewhere(run) is is_fresh


def test_a_babysitter_that_runs_here_is_the_one_that_ticks(run: Any) -> None:
    with_ages(run, beat=3 * LIMIT, tick=MINUTE)
    with hold_lock(run.lock("babysitter")):
        assert last_tick_elsewhere(run) is None
        assert ticks_in_this_clone(run)


def test_a_babysitter_that_hangs_runs_nothing(run: Any) -> None:
    """Its process holds the lock, and its heartbeat is old."""
    with_ages(run, beat=LIMIT + MINUTE, tick=LIMIT + MINUTE)
    heart = json.loads((run.state / "heartbeat.json").read_text())
    (run.state / "heartbeat.json").write_text(canonical({**heart, "pid": 4711, "owner": "a@b"}))
    assert unwatched_warnings(run) != (describe_hung(run),)
    with hold_lock(run.lock("babysitter")):
        assert is_hung(run) and not babysitter_runs(run)
        assert unwatched_warnings(run) == (describe_hung(run),)
        assert mentions(describe_babysitter(run), "overdue", "kill -9 4711", "herorun babysit tiny")
        with pytest.raises(CouldNotLook, match="kill -9 4711"):
            start_babysitter(run)
        with_ages(run, beat=LIMIT - MINUTE, tick=MINUTE)
        assert babysitter_runs(run) and unwatched_warnings(run) == ()


@pytest.mark.parametrize(
    ("beat", "tick", "is_known"),
    [
        (None, None, False),
        (MINUTE, MINUTE, True),
        (2 * LIMIT, 2 * LIMIT, False),
        (3 * LIMIT, MINUTE, True),  # of another clone
    ],
)
def test_a_relaunch_is_expected_only_of_a_babysitter_that_is_known_to_run(
    run: Any, beat: timedelta | None, tick: timedelta | None, is_known: bool
) -> None:
    with_ages(run, beat, tick)
    with hold_lock(run.lock("babysitter")) if beat == tick == MINUTE else nullcontext():
        assert (why_not_relaunched(run) == "") is is_known
    run.contract = a_contract(babysit={"cadence": "15m", "declined": "ada does it"})
    assert "declines" in why_not_relaunched(run)


@pytest.mark.parametrize(
    ("beat", "is_locked", "is_known"),
    [(MINUTE, True, True), (MINUTE, False, False), (3 * LIMIT, False, True)],
)
def test_a_tick_by_hand_promises_no_next_one(
    run: Any, beat: timedelta, is_locked: bool, is_known: bool
) -> None:
    """After `babysit --once` the heartbeat is new, and nothing runs; or another clone ticks."""
    with_ages(run, beat, MINUTE)
    heart = {"at": timestamp(now() - beat)}  # and nothing is due
    (run.state / "heartbeat.json").write_text(canonical(heart))
    with hold_lock(run.lock("babysitter")) if is_locked else nullcontext():
        assert why_not_relaunched(run) == ""
        assert (doubt_next_tick(run) == "") is is_known


@pytest.mark.parametrize("needless", ["", "the run is finished"])
def test_a_run_that_nobody_ever_monitored_says_how_to_start_it(run: Any, needless: str) -> None:
    with_ages(run, beat=None, tick=None)
    assert ("herorun babysit tiny" in describe_babysitter(run, needless)) is (not needless)
    run.record = SimpleNamespace(memory=Memory)
    assert "herorun" not in describe_babysitter(run)  # nothing was launched


@pytest.mark.parametrize("is_paused", [False, True])
def test_a_pause_keeps_the_monitoring_and_not_the_relaunch(run: Any, is_paused: bool) -> None:
    with_ages(run, beat=2 * LIMIT, tick=2 * LIMIT)
    pause = ActionPause(now() + LIMIT, "ada", now(), "repairs") if is_paused else None
    memory = replace(run.record.memory(), pause=pause)
    run.record = SimpleNamespace(memory=lambda: memory)
    text = describe_babysitter(run, next_command="herorun relaunch tiny")
    assert ("herorun babysit tiny" in text) is is_paused
