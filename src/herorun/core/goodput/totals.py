"""Sums over the stretches: shares, steps, interruptions, accelerator-hours and money."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from herorun.core.event import Event
from herorun.core.goodput.instances import JournalFacts, facts_of_journal
from herorun.core.goodput.latencies import Delays, delays
from herorun.core.goodput.states import HOLDING_STATES, SECOND, StateSpan, WallTimeState
from herorun.core.goodput.timeline import Beat, rows_of_lives, timeline
from herorun.core.lazy_dataclass import dataclass
from herorun.core.recovery.classify import Cause

ON_PURPOSE = frozenset({Cause.BY_HAND, Cause.BY_US})  # no fault of the run or the machines


@dataclass(frozen=True)
class Range:
    """`min` leaves out the time whose use is unknown, `max` counts all of it; null if not known."""

    min: float | None
    max: float | None


@dataclass(frozen=True, kw_only=True)
class GoodputTotals:
    """Times are in seconds."""

    since: datetime | None  # the first intent to launch; None: nothing was launched
    until: datetime | None  # its good end; otherwise the newest line or row
    wall_seconds: float
    states: Mapping[WallTimeState, float]  # all of them; they add up to `wall`
    productive_fraction: Range  # productive time as a part of `wall_seconds`
    max_step: int  # the largest number of completed updates of any instance
    lost_steps: int  # updates that were repeated, or must be
    unknown_losses: int  # restarts of which it is unknown how many they cost
    instances: int
    interruptions: Mapping[Cause, int]
    mtbf: float | None  # running time for each unintended interruption; None: there was none
    accelerator_hours: (
        Mapping[WallTimeState, float] | None
    )  # accelerator-hours; None where a plan does not say how many there are
    total_accelerator_hours: Range
    cost: Range
    delays: Delays
    rows: int
    notes: tuple[str, ...] = ()


def goodput(
    events: Sequence[Event],
    beats: Sequence[Beat],
    rate: float | None = None,
    notes: Iterable[str] = (),
) -> GoodputTotals:
    """The totals, from the journal's events in their order and the rows in the order of their
    times.
    """
    facts = facts_of_journal(events)
    stretches = timeline(facts, beats)
    wall = sum(each.length for each in stretches)
    states = {state: _sum(stretches, state) for state in WallTimeState}
    hours = _hours(stretches)
    all_hours = _all_hours(hours)
    lost_steps, lost_unknown = _count_lost_steps(facts, beats)
    interruptions = Counter(life.cause for life in facts.lives if life.cause)
    return GoodputTotals(
        since=_moment_of_microseconds(stretches[0].since) if stretches else None,
        until=_moment_of_microseconds(stretches[-1].until) if stretches else None,
        wall_seconds=wall / SECOND,
        states={state: length / SECOND for state, length in states.items()},
        productive_fraction=_effective(states, wall),
        max_step=max(
            [beat.step for beat in beats] + [life.last_step for life in facts.lives], default=0
        ),
        lost_steps=lost_steps,
        unknown_losses=lost_unknown,
        instances=len(facts.lives),
        interruptions=dict(interruptions.most_common()),
        mtbf=_between(interruptions, states, wall),
        accelerator_hours=hours,
        total_accelerator_hours=all_hours,
        cost=_times(all_hours, rate),
        delays=delays(events, facts),
        rows=len(beats),
        notes=(*notes, *_notes(facts, beats, rate, hours)),
    )


def _sum(stretches: Iterable[StateSpan], state: WallTimeState) -> int:
    return sum(each.length for each in stretches if each.state is state)


def _moment_of_microseconds(at: int) -> datetime:
    return datetime.fromtimestamp(at / SECOND, UTC)


def _effective(states: Mapping[WallTimeState, int], wall: int) -> Range:
    if not wall:
        return Range(None, None)
    productive = states[WallTimeState.PRODUCTIVE]
    return Range(productive / wall, (productive + states[WallTimeState.UNKNOWN]) / wall)


def _count_lost_steps(facts: JournalFacts, beats: Sequence[Beat]) -> tuple[int, int]:
    """What was reached before each restart beyond the step that it continued from."""
    high, lost_steps, unknown = 0, 0, 0
    for life, rows in zip(facts.lives, rows_of_lives(facts.lives, beats), strict=True):
        if life.start_step is None:
            unknown += 1
        else:
            lost_steps += max(high - life.start_step, 0)
        high = max([life.start_step or 0, life.last_step, *(row.step for row in rows)])
    return lost_steps, unknown


def _between(
    interruptions: Mapping[Cause, int], states: Mapping[WallTimeState, int], wall: int
) -> float | None:
    failures = sum(count for cause, count in interruptions.items() if cause not in ON_PURPOSE)
    running = wall - states[WallTimeState.QUEUED] - states[WallTimeState.DOWN]
    return running / SECOND / failures if failures else None


def _hours(stretches: Iterable[StateSpan]) -> dict[WallTimeState, float] | None:
    hours: dict[WallTimeState, float] = {}
    for each in stretches:
        if each.state not in HOLDING_STATES and each.state is not WallTimeState.UNKNOWN:
            continue
        if each.accelerators is None and each.state in HOLDING_STATES:
            return None
        accelerator_hours = each.length / SECOND / 3600 * (each.accelerators or 0)
        hours[each.state] = hours.get(each.state, 0.0) + accelerator_hours
    return hours


def _all_hours(hours: Mapping[WallTimeState, float] | None) -> Range:
    if hours is None:
        return Range(None, None)
    sure = sum(amount for state, amount in hours.items() if state in HOLDING_STATES)
    return Range(sure, sure + hours.get(WallTimeState.UNKNOWN, 0.0))


def _times(hours: Range, rate: float | None) -> Range:
    if rate is None or hours.min is None or hours.max is None:
        return Range(None, None)
    return Range(hours.min * rate, hours.max * rate)


def _notes(
    facts: JournalFacts,
    beats: Sequence[Beat],
    rate: float | None,
    hours: Mapping[WallTimeState, float] | None,
) -> Iterable[str]:
    if not facts.lives:
        yield "nothing was launched yet"
        return
    if not beats:
        yield "no row has a time: what the instances did is unknown"
    without_start = [life.name for life in facts.lives if life.job_started is None]
    if without_start:
        yield (
            f"when {', '.join(without_start)} left the queue is not recorded: the time until the "
            "check-in or the first row counts as unknown"
        )
    if any(beat.evaluated and not beat.eval_seconds for beat in beats):
        yield (
            "eval: no row says how long it took, so long gaps before a row with eval metrics are "
            "taken for it (inferred)"
        )
    if hours is None:
        yield "accelerator-hours: [hardware] count is not stated in the plan"
    elif rate is None:
        yield "money: [budget] rate is not stated"
