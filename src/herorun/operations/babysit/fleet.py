"""Several runs in one process: each in a thread of its own, or one after another with `--once`."""

import contextlib
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import FrameType

from herorun.core.babysit.cadence import URGENT_GAP
from herorun.core.babysit.shard import Shard
from herorun.core.babysit.stop_condition import StopCondition
from herorun.operations.babysit.batch import BatchResult, each
from herorun.operations.babysit.loop import mark_unattended, tick_once
from herorun.operations.babysit.outcome import TickOutcome
from herorun.operations.babysit.supervise import AlarmCallback, Fleet, Report
from herorun.operations.health.shared_polls import SharedPolls
from herorun.operations.record.push import push_together
from herorun.record import Pushed, Record

PUSH_EVERY = 60.0  # seconds, about: people and watchdogs elsewhere read the pushed record


def watch_all(
    names: Sequence[str],
    start: Path,
    report: Report,
    *,
    on_alarm: AlarmCallback,
    until: StopCondition,
    shard: Shard | None = None,
    before_poll: Callable[[], None] = lambda: None,
) -> list[int]:
    """Monitor the runs until none needs it, and return their exit codes; `on_alarm` gets the slug
    and the error that ended a loop.

    A loop that ends by an error starts again, without limit; with a `shard`, its runs that are
    launched later are added. A name from a person that cannot be monitored is reported, and its
    loop ends. An error that `before_poll` raises ends all loops.
    """
    fleet = Fleet(start, report, on_alarm, until, names, shard)
    with mark_unattended(), _handle_end_request() as end_requested:
        try:
            for name in names:
                fleet.start(name)
            while fleet.lives(0.2):  # short, so that an interruption ends it soon
                before_poll()
                fleet.take_stock()
                if end_requested():
                    raise KeyboardInterrupt
        except BaseException:
            fleet.end()
            raise
    return fleet.codes


def tick_each(names: Sequence[str], start: Path) -> list[BatchResult[TickOutcome]]:
    """One tick of each run, one after another. Their records are pushed together: after a tick
    that notified or acted (at most about every two seconds), now and then, and at the end.
    """
    answers: list[BatchResult[TickOutcome]] = []
    unpushed_records: list[Record] = []
    push_errors: dict[str, str] = {}

    due = False

    def later(record: Record, urgent: bool) -> Pushed:
        nonlocal due
        due = due or urgent
        unpushed_records.append(record)
        return Pushed()

    def push() -> float:
        push_errors.update(
            {
                r.slug: push_result.why
                for r, push_result in zip(
                    unpushed_records, push_together(unpushed_records), strict=True
                )
            }
        )
        unpushed_records.clear()
        return time.monotonic()

    polls, last = SharedPolls().expect(names, start), time.monotonic()
    try:
        for answer in each(names, lambda name: tick_once(name, start, polls, later)[1]):
            answers.append(answer)
            gap = URGENT_GAP.total_seconds() if due else PUSH_EVERY
            if time.monotonic() - last > gap:
                due, last = False, push()
    finally:
        push()
    return [_with(answer, push_errors) for answer in answers]


def _with(
    answer: BatchResult[TickOutcome], push_errors: Mapping[str, str]
) -> BatchResult[TickOutcome]:
    outcome = answer.value
    why = push_errors.get(outcome.run.slug) if outcome else None
    return replace(answer, value=replace(outcome, push=why)) if outcome and why else answer


@contextlib.contextmanager
def _handle_end_request() -> Iterator[Callable[[], bool]]:
    """SIGTERM and SIGINT raise KeyboardInterrupt. Yields a function that returns whether one came,
    because other code may have swallowed the exception.
    """
    requests: list[int] = []

    def interrupted(number: int, frame: FrameType | None) -> None:
        requests.append(number)
        raise KeyboardInterrupt

    handlers = {
        number: signal.signal(number, interrupted)
        for number in (signal.SIGTERM, signal.SIGINT)
        if number == signal.SIGTERM or signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield lambda: bool(requests)
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
