"""Which instance wrote a row: by the recorded launches, never by the order of the rows alone.

A tracker that drops steps it has already, as W&B's client does, shows no step twice, and a
checkpoint of the last step leaves nothing to repeat: in the rows alone such a resume cannot be
seen.
"""

from collections.abc import Sequence
from datetime import datetime

from herorun.core.evidence import History
from herorun.core.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Boundary:
    """Where an instance begins: no row of it is older than `since`."""

    instance: str
    since: datetime
    start: int | None = None  # completed updates that it starts from; None: unknown
    rows: int = 0  # of the tracker, that the ticks knew before it was launched
    counted: bool = False  # whether that was all of them: the one before had been seen to end
    # its clock was wrong until then: a row between can be an older one's
    misdated: datetime | None = None
    attempt: int = 1  # later ones were started by the back end, and are known by their check-in

    def wrote(self, row: int, polled_at: datetime | None) -> bool:
        """Whether the `row`th row, new since `polled_at`, is surely no older instance's."""
        return (self.counted and row > self.rows) or (
            polled_at is not None and polled_at >= self.since
        )

    def can_reach(self, step: int) -> bool:
        return self.start is None or self.start <= step


def boundaries_of(history: History) -> tuple[Boundary, ...]:
    """One for each instance, oldest first, then one for each restart of the newest one."""
    launches = [
        Boundary(each.name, each.since, each.start, each.rows, each.counted, each.misdated)
        for each in history.instances
    ]
    for at, attempt in history.restarts if launches else ():
        if at > launches[-1].since and attempt > launches[-1].attempt:
            launches.append(Boundary(launches[-1].instance, at, attempt=attempt))
    return tuple(launches)


def known_place(boundaries: Sequence[Boundary], instance: str, attempt: int) -> int:
    """The place of the instance's newest start up to this one; -1 where the record knows none of
    it.
    """
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
    """The place of the newest instance that had been launched by then, or `at_least` if that is
    higher; -1 before the first.

    Instances only follow each other: a job's clock that is set back takes no row back to an older
    one. A launch dated before an earlier one was dated by a clock that was set back: then no row of
    a `step` up to its start is its own.
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
    """The same of the `row`th row, which tells no time and was seen at `when`: what a tick knew
    before a launch is older.
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
    """The place of the instance to which the `row`th row, which tells no time, may be handed;
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
    """Whether a step is the first beyond the start of an instance: nobody went further before it
    was launched.
    """
    return boundary.start is not None and high_water <= boundary.start < step
