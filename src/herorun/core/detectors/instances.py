"""Which instance wrote a row: by the recorded launches, never by the order of the rows alone.

A tracker that drops steps it has already, as W&B's client does, shows no step twice, and a
checkpoint of the last step leaves nothing to repeat: in the rows alone such a resume cannot be
seen.
"""

from collections.abc import Sequence
from datetime import datetime

from herorun.core.evidence import History
from herorun.core.lazy_dataclass import dataclass


@dataclass(frozen=True, kw_only=True)
class Boundary:
    """Where an instance begins: none of its rows is older than `since`."""

    instance: str
    since: datetime
    start: int | None = None  # completed updates at its start; None: unknown
    rows: int = 0  # the tracker's rows that ticks had read before its launch
    counted: bool = False  # whether these were all: a tick had recorded the previous instance's end
    # its clock was wrong until then: a row in between may be an older instance's
    misdated: datetime | None = None
    attempt: int = 1  # later attempts were started by the back end, and are known by their check-in

    def wrote(self, row: int, polled_at: datetime | None) -> bool:
        """Whether the `row`th row, new since `polled_at`, is certainly not an older instance's."""
        return (self.counted and row > self.rows) or self.was_polled(polled_at)

    def was_polled(self, polled_at: datetime | None) -> bool:
        """Whether the tracker was last read since the launch."""
        return polled_at is not None and polled_at >= self.since

    def can_reach(self, step: int) -> bool:
        return self.start is None or self.start <= step


def boundaries_of(history: History) -> tuple[Boundary, ...]:
    """One for each instance, oldest first, then one for each restart of the newest one."""
    launches = [
        Boundary(
            instance=each.name,
            since=each.since,
            start=each.start,
            rows=each.rows,
            counted=each.counted,
            misdated=each.misdated,
        )
        for each in history.instances
    ]
    for at, attempt in history.restarts if launches else ():
        if at > launches[-1].since and attempt > launches[-1].attempt:
            launches.append(Boundary(instance=launches[-1].instance, since=at, attempt=attempt))
    return tuple(launches)


def known_place(boundaries: Sequence[Boundary], instance: str, attempt: int) -> int:
    """The index of the instance's newest start up to this attempt; -1 if the record has none."""
    same = [
        n
        for n, each in enumerate(boundaries)
        if each.instance == instance and each.attempt <= attempt
    ]
    return same[-1] if same else -1


def launched_by(
    boundaries: Sequence[Boundary],
    when: datetime | None,
    at_least: int = -1,
    step: int | None = None,
) -> int:
    """The index of the newest instance launched by then, or `at_least` if that is higher; -1 before
    the first.

    The index never decreases: rows dated by a job's clock that was set back are not given to an
    older instance. A launch dated before an earlier one was dated by such a clock: then no row of a
    `step` up to its start is its own.
    """
    newest = len(boundaries) - 1
    while newest > at_least and (
        when is None
        or boundaries[newest].since > when
        or (step is not None and _starts_later(boundaries, newest, step, when))
    ):
        newest -= 1
    return max(newest, at_least)


def _starts_later(boundaries: Sequence[Boundary], place: int, step: int, when: datetime) -> bool:
    boundary = boundaries[place]
    if boundary.start is None or step > boundary.start:
        return False
    if boundary.misdated is not None and when < boundary.misdated:
        return True
    return any(each.since > boundary.since for each in boundaries[:place])


def known_by_count(
    boundaries: Sequence[Boundary], when: datetime | None, row: int, at_least: int
) -> int:
    """The same for the `row`th row, which has no time and was read at `when`: rows that a tick had
    read before a launch are older.
    """
    newest = launched_by(boundaries, when, at_least)
    while newest > at_least and boundaries[newest].rows >= row:
        newest -= 1
    return newest


def writer_of(
    boundaries: Sequence[Boundary],
    row: int,
    step: int,
    newest: int,
    at_least: int,
    polled_at: datetime | None,
) -> int:
    """The index of the instance to which the `row`th row, which has no time, may be assigned;
    `newest` can have written it.

    If the rows before a launch were not counted, a row below the start of the new instance is more
    likely an older one's than proof of a wrong start: it stays with the oldest that can have
    written it.
    """
    range_ = range(newest, at_least, -1)
    certain_index = next(
        (n for n in range_ if boundaries[n].wrote(row, polled_at)), max(at_least, min(newest, 0))
    )
    if at_least < 0:
        return certain_index
    return next(
        (n for n in range(newest, certain_index, -1) if boundaries[n].can_reach(step)),
        certain_index,
    )


def passes_start(boundary: Boundary, step: int, high_water: int) -> bool:
    """Whether a step is the first after the start of an instance, and no earlier instance went
    further.
    """
    return boundary.start is not None and high_water <= boundary.start < step
