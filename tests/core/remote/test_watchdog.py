"""Whether somebody outside must be told that a run is no longer monitored."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from builders import NOON, a_contract
from core.babysit.test_policy import CHECKS, alert
from core.story import first_memory
from herorun.core.event import Decided, HandedOff, Leased, Ordered, Sealed, Word
from herorun.core.evidence import End, JobState
from herorun.core.journal import Memory
from herorun.core.recovery.policy import RelaunchAnswer
from herorun.core.remote.watchdog import MonitorSilence, WatchState, watchdog

HOUR = timedelta(hours=1)
LAUNCH_TIME = NOON - HOUR
WATCHED_RUN = first_memory()
NO_TICK = replace(WATCHED_RUN, last_seen=None, last_decided=None)


def look(memory: Memory, now: datetime, cadence: str = "15m", **babysit: Any) -> MonitorSilence:
    contract = a_contract(babysit={"cadence": cadence, **babysit})
    return watchdog("tiny", memory, contract, CHECKS, now)


def ticked_decision(run: str, at: datetime = NOON) -> Decided:
    return Decided(at=at, run=run, monitor="fresh", progress="~1/2")


def test_two_cadences_without_a_tick_are_stale() -> None:
    memory = replace(WATCHED_RUN, last_seen=NOON)
    due = NOON + timedelta(minutes=30)
    fresh, stale = look(memory, due - timedelta(seconds=1)), look(memory, due)
    assert (fresh.monitor, stale.monitor) == (WatchState.FRESH, WatchState.STALE)
    assert (stale.slug, stale.last_seen, stale.due) == ("tiny", NOON, due)
    assert fresh.key == stale.key != look(replace(memory, last_seen=NOON + HOUR), due).key


def test_a_short_cadence_is_stale_after_two_minutes_at_the_earliest() -> None:
    memory = replace(WATCHED_RUN, last_seen=NOON)
    assert look(memory, NOON, cadence="1s").due == NOON + timedelta(minutes=2)


def test_the_key_names_the_instance_and_the_last_tick_so_that_each_silence_has_one() -> None:
    observations, due = replace(WATCHED_RUN, last_seen=NOON), NOON + HOUR
    assert look(observations, due).key == "watchdog/tiny-1/20260101T120000.000000"
    assert look(NO_TICK, due).key == "watchdog/tiny-1/20260101T110000.000000"


LEASE = Leased(at=NOON, owner="ada@box", slug="tiny", fence=1, beat=1)
HAND_OVER = HandedOff(at=NOON, to="eve@node7")
BEGUN_BY = replace(WATCHED_RUN.launchings["tiny-1"], by="dan@login")


@pytest.mark.parametrize(
    ("changes", "owner"),
    [
        ({"lease": LEASE, "handed": HAND_OVER}, "ada@box"),
        ({"handed": HAND_OVER}, "eve@node7"),
        ({"launchings": {"tiny-1": BEGUN_BY}}, "dan@login"),
    ],
)
def test_a_stale_monitor_names_the_machine_that_should_have_it(
    changes: dict[str, Any], owner: str
) -> None:
    memory = replace(WATCHED_RUN, last_seen=NOON, **changes)
    assert owner in look(memory, NOON + HOUR).why and owner not in look(memory, NOON).why


def test_the_contracts_owner_comes_before_who_launched_and_after_a_hand_over() -> None:
    launcher = replace(WATCHED_RUN, last_seen=NOON, launchings={"tiny-1": BEGUN_BY})
    hand_over = replace(launcher, handed=HandedOff(at=NOON, to="ada@box"))
    assert "bob@node9" in look(launcher, NOON + HOUR, owner="bob@node9").why
    assert "ada@box" in look(hand_over, NOON + HOUR, owner="bob@node9").why


@pytest.mark.parametrize("last_seen", [None, LAUNCH_TIME - HOUR])
def test_without_a_tick_of_this_instance_the_launch_counts(last_seen: datetime | None) -> None:
    silence = look(replace(NO_TICK, last_seen=last_seen), NOON)
    assert (silence.monitor, silence.last_seen) == (WatchState.STALE, None)
    assert silence.due == LAUNCH_TIME + timedelta(minutes=30)


@pytest.mark.parametrize(
    "memory",
    [
        Memory(),
        replace(WATCHED_RUN, sealed=Sealed(at=NOON, tag="t", commit="c", statement_digest="s")),
        replace(WATCHED_RUN, last_decided=ticked_decision("finished")),
        replace(
            WATCHED_RUN,
            last_decided=ticked_decision("down"),
            orders=(Ordered(at=NOON, word=Word.STOP, by="ada", about=("tiny-1",)),),
        ),
    ],
)
def test_where_nothing_is_to_be_watched_nobody_is_reported(memory: Memory) -> None:
    silence = look(memory, NOON + 9 * HOUR)
    assert (silence.monitor, silence.due, silence.key) == (WatchState.NOT_WATCHED, None, "")
    assert silence.last_seen == memory.last_seen


def test_a_finished_run_with_open_alerts_is_no_good_news() -> None:
    """One that fires and one that ended unresolved; an acknowledged one is closed."""
    finished_memory = replace(WATCHED_RUN, last_decided=ticked_decision("finished"))
    quiet = look(finished_memory, NOON).why
    fires, ended_alert = alert("not-finite"), alert("stalled-steps")
    both = replace(finished_memory, alerts={fires.id: fires}, ended={ended_alert.key: ended_alert})
    assert "2 open alerts" in look(both, NOON).why
    assert look(both, NOON).monitor is WatchState.NOT_WATCHED
    acks = {each.key: Ordered(NOON, "ada", Word.ACK, (each.key,)) for each in (fires, ended_alert)}
    assert look(replace(both, acked=acks), NOON).why == quiet


def test_a_contract_may_decline_a_babysitter() -> None:
    silence = look(WATCHED_RUN, NOON + 9 * HOUR, declined="ada watches it")
    assert silence.monitor is WatchState.NOT_WATCHED and "ada watches it" in silence.why


def test_the_end_of_an_earlier_instance_leaves_this_one_to_be_watched() -> None:
    memory = replace(WATCHED_RUN, last_decided=ticked_decision("finished", LAUNCH_TIME - HOUR))
    assert look(memory, NOON + 9 * HOUR).monitor is WatchState.STALE


def test_a_run_that_is_down_is_watched_until_a_person_answers() -> None:
    crashed_alert = alert("crashed")
    memory = replace(
        WATCHED_RUN, last_decided=ticked_decision("down"), alerts={crashed_alert.id: crashed_alert}
    )
    assert look(memory, NOON + 9 * HOUR).monitor is WatchState.STALE


DOWN = alert("crashed")
ACKED_ALERT = {
    "alerts": {DOWN.id: DOWN},
    "acked": {DOWN.key: Ordered(at=NOON, word=Word.ACK, by="ada", about=(DOWN.key,))},
}
OPEN_QUESTION = {"done": {"escalate/relaunch/tiny-1/repeated": "posted"}}
APPROVAL = {"answers": {"tiny-1": RelaunchAnswer(True, NOON, "eve")}}


@pytest.mark.parametrize(
    ("changes", "recovery", "state"),
    [
        (ACKED_ALERT, "relaunch", WatchState.STALE),
        ({**ACKED_ALERT, **OPEN_QUESTION}, "relaunch", WatchState.NOT_WATCHED),
        ({**ACKED_ALERT, **OPEN_QUESTION, **APPROVAL}, "relaunch", WatchState.STALE),
        (ACKED_ALERT, "ask", WatchState.NOT_WATCHED),
        (
            {**ACKED_ALERT, "alerts": {}},
            "relaunch",
            WatchState.NOT_WATCHED,
        ),  # nothing calls for one
    ],
)
def test_while_a_relaunch_is_due_an_acknowledgement_does_not_end_the_watch(
    changes: dict[str, Any], recovery: str, state: WatchState
) -> None:
    memory = replace(WATCHED_RUN, last_decided=ticked_decision("down"), **changes)
    assert look(memory, NOON + 9 * HOUR, recovery=recovery).monitor is state


def test_what_was_acknowledged_before_the_end_is_no_decision_about_it() -> None:
    ends = {"tiny-1": End(instance="tiny-1", state=JobState.FAILED, at=NOON + HOUR)}
    memory = replace(WATCHED_RUN, **ACKED_ALERT)
    assert memory.decision and not replace(memory, ends=ends).decision
    late = {"x": Ordered(at=NOON + 2 * HOUR, word=Word.ACK, by="ada")}
    assert replace(memory, ends=ends, acked=late).decision


@pytest.mark.parametrize(
    ("changes", "who"),
    [
        ({}, ""),
        ({"done": {"stop/tiny-1": "submitted"}}, ""),  # by the contract: no person has decided
        ({"acked": {"x": Ordered(at=LAUNCH_TIME - HOUR, word=Word.ACK, by="ada")}}, ""),
        ({"acked": {"x": Ordered(at=NOON, word=Word.ACK, by="ada")}}, "ada"),
        ({"answers": {"tiny-1": RelaunchAnswer(False, NOON, "eve")}}, "eve"),
        ({"answers": {"tiny-1": RelaunchAnswer(True, NOON, "eve")}}, ""),
        ({"orders": (Ordered(at=NOON, word=Word.STOP, by="dan", about=("tiny-1",)),)}, "dan"),
        ({"orders": (Ordered(at=NOON, word=Word.STOP, by="dan", about=("tiny-0",)),)}, ""),
    ],
)
def test_a_run_that_is_down_without_an_alert_needs_the_decision_of_a_person_and_names_them(
    changes: dict[str, Any], who: str
) -> None:
    silence = look(
        replace(WATCHED_RUN, last_decided=ticked_decision("down"), **changes), NOON + 9 * HOUR
    )
    expected_state = WatchState.NOT_WATCHED if who else WatchState.STALE
    assert silence.monitor is expected_state
    assert not who or f" {who} " in silence.why


def test_an_answer_by_a_person_ends_the_watch_of_a_run_that_is_down() -> None:
    crashed_alert, unshipped_alert = alert("crashed"), alert("of-another-version")
    memory = replace(
        WATCHED_RUN,
        last_decided=ticked_decision("down"),
        alerts={each.id: each for each in (crashed_alert, unshipped_alert)},
        acked={
            crashed_alert.key: Ordered(at=NOON, word=Word.ACK, by="ada", about=(crashed_alert.key,))
        },
    )
    assert look(memory, NOON + 9 * HOUR, recovery="ask").monitor is WatchState.NOT_WATCHED
    running = replace(memory, last_decided=ticked_decision("degraded"))
    assert look(running, NOON + 9 * HOUR).monitor is WatchState.STALE
