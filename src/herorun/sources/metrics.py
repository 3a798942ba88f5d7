"""What the tracker's rows amount to: only the new ones are read and folded, the rest comes from the
cache.

Two things are stored for a run: the detectors' state, and the rows as columns, which reports and
comparisons read. Only `keep_metrics` advances both, once the tick is in the journal: otherwise a
mere status, or a crash, could lose an excursion that ended in between. Each has a cursor of its own
and can be deleted.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from pathlib import Path

from herorun.core.canonical_json import canonical, digest
from herorun.core.contract import Contract
from herorun.core.decode import decode
from herorun.core.detectors.instances import Boundary, boundaries_of
from herorun.core.detectors.names import Names
from herorun.core.detectors.pipeline import fold_rows, rules_digest, summarise
from herorun.core.detectors.resume_state import put_in_order
from herorun.core.detectors.state import MetricsState, NewRows, date_rows, last_look
from herorun.core.errors import HerorunError, describe_error
from herorun.core.evidence import History, Metrics, Nothing, Now
from herorun.core.lazy_dataclass import dataclass
from herorun.core.metric_names import names_of
from herorun.core.ports import Place, Row, Rows, Tracker
from herorun.core.ports.columnar import (
    ColumnarRows,
    chained,
    metric_names,
    newest_time,
    parts_of,
)
from herorun.core.redaction.scrub import scrub
from herorun.core.row_bounds import drop_implausible
from herorun.core.untrusted_json import read_json
from herorun.system.clock import now
from herorun.system.files import write_atomic
from herorun.system.metrics_cache import Writer

CACHE = "metrics.json"
COLUMNS = "metrics"  # the folder, for `system.metrics_cache.fetched`
# rows, or numbers in columns, that a look holds; of more the columns get the rest in the next ticks
MOST_HELD, MOST_NUMBERS = 200_000, 8_000_000


@dataclass
class Arrived:
    """The rows that a look has read, as far as they are held, and the cursors before and after
    them.
    """

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
        follows = cursor == self.after or batch.restarted  # nothing in between was left out
        if follows and (not self.rows or _part_held(self.rows) + _part_held(batch.rows) <= 1):
            self.rows = chained([self.rows, batch.rows])
            self.after = batch.cursor


def _part_held(rows: Sequence[Row]) -> float:
    """The part of what may be held that they take."""
    return sum(
        len(part) * len(part.columns) / MOST_NUMBERS
        if isinstance(part, ColumnarRows)
        else len(part) / MOST_HELD
        for part in parts_of(rows)
    )


@dataclass(frozen=True, kw_only=True)
class MetricsRead:
    """What was read last, to be kept if it was seen by a tick."""

    metrics: Metrics | None
    version: str  # of the folded state
    state: MetricsState
    arrived: Arrived
    tracker: Tracker
    source: str  # digest of how the tracker is configured
    names: Names


_reads: dict[str, MetricsRead] = {}  # by state folder


def read_metrics(
    tracker: Tracker, contract: Contract, place: Place, at: Now, history: History
) -> Metrics | Nothing:
    """The folded state after all rows that there are now."""
    names = names_of(contract)
    source = _source_of(contract)
    # Constants are part of the cache's name: another version folds again from the first row.
    version = digest([rules_digest(), names, source])
    state = _cached(Path(place.state) / CACHE, version)
    last = last_look(state)
    try:
        state, arrivals = _since(tracker, state, names, history.at_tick(at.at))
    except FileNotFoundError as error:
        return Nothing(_describe_lost_history(place, source, error))
    date_rows(state, last, at, NewRows(arrivals.newest, arrivals.changed_at, arrivals.restarted))
    metrics = summarise(state, names)
    _reads[place.state] = MetricsRead(
        metrics=metrics,
        version=version,
        state=state,
        arrived=arrivals,
        tracker=tracker,
        source=source,
        names=names,
    )
    return metrics or Nothing("no rows yet")


def _describe_lost_history(place: Place, source: str, error: FileNotFoundError) -> str:
    """What was fetched of a history that is gone is not the tracker's word any more, and stays
    readable. An adapter whose source is no file says itself what is missing.
    """
    own_words = "" if error.errno is not None else scrub(str(error))
    at = Writer(Path(place.state) / COLUMNS, source).fetched_at
    if at is None:
        return own_words or "no metrics file yet"
    message = own_words or "the tracker has no rows now"
    return f"{message}: those fetched until {at:%Y-%m-%d %H:%M} UTC are kept"


def keep_metrics(place: Place, evidence: object) -> str:
    """What was read for `evidence` need not be read again. Why it could not be kept, which only
    costs time.
    """
    last_read = _reads.get(place.state)
    if last_read is None or last_read.metrics is None or last_read.metrics is not evidence:
        return ""
    try:
        cache = Path(place.state) / CACHE
        write_atomic(
            cache,
            (canonical({"version": last_read.version, "state": last_read.state}) + "\n").encode(),
            spare=True,
            sync=False,
        )
        _keep_rows(Writer(Path(place.state) / COLUMNS, last_read.source), last_read)
        del _reads[place.state]
    except (OSError, ValueError, HerorunError) as error:
        return f"metrics: the rows could not be stored: {scrub(describe_error(error))}"
    return ""


def read_rows(place: Place, contract: Contract) -> tuple[Sequence[Row], str]:
    """The rows that the last look read from the tracker's first one on, and the cursor behind them;
    none and an empty one where it began later, or at another source.
    """
    last_read = _reads.get(place.state)
    if last_read is None or last_read.arrived.before or last_read.source != _source_of(contract):
        return (), ""
    return last_read.arrived.rows, last_read.arrived.after


def _source_of(contract: Contract) -> str:
    return digest(contract.tracker.model_dump(mode="json"))


def _keep_rows(columns: Writer, last_read: MetricsRead) -> None:
    """The rows of the look where they follow those that are kept; else one read from where these
    end.
    """
    arrivals = last_read.arrived
    if arrivals.restarted:
        columns.start_over()
    if columns.cursor == arrivals.before:
        columns.append(arrivals.rows, arrivals.after, last_read.names, now())
        return
    batch = _mask_secret_names(last_read.tracker.read(columns.cursor), last_read.names)
    if batch.restarted:
        columns.start_over()
    columns.append(batch.rows, batch.cursor, last_read.names, now())


def _since(
    tracker: Tracker, state: MetricsState, names: Names, history: History
) -> tuple[MetricsState, Arrived]:
    """The state after all rows, and those that are new; ticks have told of the excursions in
    `history.rows` rows.

    This machine may know fewer of them than the record: another one watched the run, or the rules
    changed.
    """
    reported_rows, boundaries = history.rows, boundaries_of(history)
    arrivals = Arrived(state.cursor, state.cursor)
    after = _catch_up(tracker, state, names, arrivals, reported_rows, boundaries)
    if (
        state.rows < reported_rows and after.rows < reported_rows
    ):  # these are not the rows that were told of
        arrivals = Arrived(state.cursor, state.cursor)
        after = _catch_up(tracker, state, names, arrivals, 0, boundaries)
    return after, arrivals


def _catch_up(
    tracker: Tracker,
    state: MetricsState,
    names: Names,
    arrivals: Arrived,
    reported_rows: int,
    boundaries: Sequence[Boundary],
) -> MetricsState:
    first = True
    while True:
        batch = _mask_secret_names(tracker.read(state.cursor), names)
        arrivals.add(batch, state.cursor)
        if batch.restarted:
            state, reported_rows = MetricsState(), 0
        old_rows = max(reported_rows - state.rows, 0)
        for rows in (batch.rows[:old_rows], batch.rows[old_rows:]) if old_rows else (batch.rows,):
            news = not first and state.rows > reported_rows
            state = fold_rows(state, rows, names, batch.changed_at, news, boundaries)
        state = replace(
            state,
            cursor=batch.cursor,
            problems=(*state.problems, *batch.problems)[-20:],
            undated=batch.undated if batch.rows else state.undated,
        )
        first = False
        if not batch.rows:
            return state


def _mask_secret_names(batch: Rows, names: Names) -> Rows:
    """Mask metric names that hold a secret: names are stored and shown."""
    batch = drop_implausible(batch, names.all_named)
    if all(_clean_name(name) == name for name in metric_names(batch.rows)):
        return batch
    return replace(batch, rows=tuple(map(_clean_row, batch.rows)))


def _clean_row(row: Row) -> Row:
    return replace(row, values={_clean_name(name): value for name, value in row.values.items()})


@lru_cache(100_000)
def _clean_name(name: str) -> str:
    return scrub(name)


def _cached(cache: Path, version: str) -> MetricsState:
    """The state of the last tick; a missing, damaged or outdated cache is no loss: all rows are
    folded again.
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
