"""The detectors' state after the rows of a run's tracker: only new rows are processed, the rest
comes from the cache. Imported only if there is a row.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from pathlib import Path

from herorun.core.canonical_json import digest
from herorun.core.decode import decode
from herorun.core.detectors.instances import Boundary, boundaries_of
from herorun.core.detectors.names import Names
from herorun.core.detectors.pipeline import fold_rows, rules_digest, summarise
from herorun.core.detectors.resume_state import put_in_order
from herorun.core.detectors.state import MetricsState, NewRows, date_rows, last_read
from herorun.core.evidence import History, Metrics, Now
from herorun.core.lazy_dataclass import dataclass
from herorun.core.ports import Row, Rows
from herorun.core.ports.columnar import (
    ColumnarRows,
    chain_rows,
    metric_names,
    newest_time,
    parts_of,
)
from herorun.core.redaction.scrub import scrub
from herorun.core.row_bounds import drop_implausible
from herorun.core.untrusted_json import read_json

Reader = Callable[[str], Rows]  # the rows after a cursor
# rows, or numbers in columns, that a tick keeps in memory; later ticks store the rest
MAX_ROWS, MAX_NUMBERS = 200_000, 8_000_000


@dataclass
class RowBuffer:
    """The rows that a tick has read and keeps in memory, and the cursors before and after them."""

    before: str
    after: str
    rows: Sequence[Row] = ()
    restarted: bool = False
    newest: datetime | None = None  # by the rows' own clock
    changed_at: datetime | None = None

    def add(self, batch: Rows, cursor: str) -> None:
        times = [at for at in (newest_time(batch.rows), self.newest) if at is not None]
        self.newest = max(times, default=None)
        self.changed_at = batch.changed_at or self.changed_at
        if batch.restarted:
            self.before, self.after, self.rows, self.restarted = "", "", (), True
        follows = cursor == self.after or batch.restarted  # no rows in between are missing
        if follows and (not self.rows or _part_held(self.rows) + _part_held(batch.rows) <= 1):
            self.rows = chain_rows([self.rows, batch.rows])
            self.after = batch.cursor


def _part_held(rows: Sequence[Row]) -> float:
    """The rows' part of the memory limit, as a fraction."""
    return sum(
        len(part) * len(part.columns) / MAX_NUMBERS
        if isinstance(part, ColumnarRows)
        else len(part) / MAX_ROWS
        for part in parts_of(rows)
    )


@dataclass(frozen=True, kw_only=True)
class MetricsRead:
    """The last read, to be stored if a tick used it."""

    metrics: Metrics | None
    version: str  # of the detectors' state
    state: MetricsState
    arrived: RowBuffer
    read: Reader
    source: str  # digest of the tracker's configuration
    names: Names


def read_rows(
    read: Reader, cache: Path, names: Names, source: str, at: Now, history: History
) -> MetricsRead:
    """Read all new rows; the result has the detectors' state after them."""
    # The constants are part of the cache's name: another version begins again at the first row.
    version = digest([rules_digest(), names, source])
    state = _load_cached_state(cache, version)
    last = last_read(state)
    state, arrivals = _since(read, state, names, history.at_tick(at.at))
    date_rows(state, last, at, NewRows(arrivals.newest, arrivals.changed_at, arrivals.restarted))
    return MetricsRead(
        metrics=summarise(state, names),
        version=version,
        state=state,
        arrived=arrivals,
        read=read,
        source=source,
        names=names,
    )


def _since(
    read: Reader, state: MetricsState, names: Names, history: History
) -> tuple[MetricsState, RowBuffer]:
    """The state after all rows, and the new rows; ticks have reported the excursions in
    `history.rows` rows.

    This machine's state may include fewer rows than the record: another machine monitored the run,
    or the rules changed.
    """
    reported_rows, boundaries = history.rows, boundaries_of(history)
    arrivals = RowBuffer(state.cursor, state.cursor)
    may_repeat = state.rows < reported_rows
    after = _catch_up(
        read,
        state,
        names,
        arrivals=arrivals,
        reported_rows=reported_rows,
        boundaries=boundaries,
        in_place=not may_repeat,
    )
    if may_repeat and after.rows < reported_rows:  # these are not the reported rows
        arrivals = RowBuffer(state.cursor, state.cursor)
        after = _catch_up(
            read,
            state,
            names,
            arrivals=arrivals,
            reported_rows=0,
            boundaries=boundaries,
            in_place=True,
        )
    return after, arrivals


def _catch_up(
    read: Reader,
    state: MetricsState,
    names: Names,
    *,
    arrivals: RowBuffer,
    reported_rows: int,
    boundaries: Sequence[Boundary],
    in_place: bool,
) -> MetricsState:
    """`in_place` changes the given state."""
    first = True
    while True:
        batch = mask_secret_names(read(state.cursor), names)
        arrivals.add(batch, state.cursor)
        if batch.restarted:
            state, reported_rows = MetricsState(), 0
        old_rows = max(reported_rows - state.rows, 0)
        for rows in (batch.rows[:old_rows], batch.rows[old_rows:]) if old_rows else (batch.rows,):
            news = not first and state.rows > reported_rows
            state = fold_rows(
                state,
                rows,
                names,
                seen_at=batch.changed_at,
                keep_closed=news,
                boundaries=boundaries,
                in_place=in_place,
            )
            in_place = True
        state = replace(
            state,
            cursor=batch.cursor,
            problems=(*state.problems, *batch.problems)[-20:],
            undated=batch.undated if batch.rows else state.undated,
        )
        first = False
        if batch.at_end or not batch.rows:  # a job may write rows faster than they are read
            return state


def mask_secret_names(batch: Rows, names: Names) -> Rows:
    """Mask metric names that contain a secret: names are stored and shown."""
    batch = drop_implausible(batch, names.all_named)
    if all(_clean_name(name) == name for name in metric_names(batch.rows)):
        return batch
    return replace(batch, rows=tuple(map(_clean_row, batch.rows)))


def _clean_row(row: Row) -> Row:
    return replace(row, values={_clean_name(name): value for name, value in row.values.items()})


@lru_cache(100_000)
def _clean_name(name: str) -> str:
    return scrub(name)


def _load_cached_state(cache: Path, version: str) -> MetricsState:
    """The state of the last tick. If the cache is missing, damaged or outdated, all rows are
    processed again.
    """
    try:
        document = read_json(cache.read_bytes())
        if document["version"] != version:
            return MetricsState()
        state = decode(MetricsState, document["state"])
        put_in_order(state.lineage)
        return state
    except (OSError, ValueError, KeyError, TypeError):
        return MetricsState()
