"""The evidence from the tracker's rows: only new rows are read and processed, the rest comes from
the cache.

Two things are stored for a run: the detectors' state, and the rows as columns, which reports and
comparisons read. Only `keep_metrics` advances both, once the tick is in the journal: otherwise a
mere status, or a crash, could lose an excursion that ended in between. Each has a cursor of its own
and can be deleted.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from herorun.core.canonical_json import canonical, digest
from herorun.core.contract import Contract
from herorun.core.errors import HerorunError, describe_error
from herorun.core.evidence import History, Metrics, Nothing, Now
from herorun.core.metric_names import names_of
from herorun.core.ports import Place, Row, Rows, Tracker
from herorun.core.redaction.scrub import scrub
from herorun.system.clock import now
from herorun.system.files import write_atomic

if TYPE_CHECKING:
    from herorun.sources._detector_state import MetricsRead
    from herorun.system.metrics_cache import Writer

CACHE = "metrics.json"
COLUMNS = "metrics"  # the folder, for `system.metrics_cache.fetched`

_reads: dict[str, "MetricsRead"] = {}  # the last reads, by state folder


def read_metrics(
    tracker: Tracker, contract: Contract, place: Place, at: Now, history: History
) -> Metrics | Nothing:
    """The metrics after all present rows."""
    source, cache = _source_of(contract), Path(place.state) / CACHE
    read: Callable[[str], Rows] = tracker.read
    try:
        if not os.path.exists(cache):
            first = tracker.read("")
            if not first.rows:
                _reads.pop(place.state, None)
                return Nothing("no rows yet")
            read = _with_first(first, tracker.read)
        from herorun.sources._detector_state import read_rows  # many modules: only if needed

        last_read = read_rows(read, cache, names_of(contract), source, at, history)
    except FileNotFoundError as error:
        return Nothing(_describe_lost_history(place, source, error))
    _reads[place.state] = last_read
    return last_read.metrics or Nothing("no rows yet")


def _with_first(first: Rows, read: Callable[[str], Rows]) -> Callable[[str], Rows]:
    """The same reader, with the answer to its first query already known."""
    answers = [first]
    return lambda cursor: answers.pop() if answers and not cursor else read(cursor)


def _describe_lost_history(place: Place, source: str, error: FileNotFoundError) -> str:
    """The message for a history that the tracker no longer has; fetched rows stay readable. An
    adapter without a file states itself what is missing.
    """
    own_words = "" if error.errno is not None else scrub(str(error))
    columns = Path(place.state) / COLUMNS
    at = _writer(columns, source).fetched_at if columns.exists() else None
    if at is None:
        return own_words or "no metrics file yet"
    message = own_words or "the tracker has no rows now"
    return f"{message}: those fetched until {at:%Y-%m-%d %H:%M} UTC are kept"


def _writer(columns: Path, source: str) -> "Writer":
    from herorun.system.metrics_cache import Writer  # imported only if there are rows

    return Writer(columns, source)


def keep_metrics(place: Place, evidence: object) -> str:
    """Store the state after the rows of `evidence`, so that they are not read again. Returns why
    that failed, which only costs time.
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
        _keep_rows(_writer(Path(place.state) / COLUMNS, last_read.source), last_read)
        del _reads[place.state]
    except (OSError, ValueError, HerorunError) as error:
        return f"metrics: the rows could not be stored: {scrub(describe_error(error))}"
    return ""


def read_rows(place: Place, contract: Contract) -> tuple[Sequence[Row], str]:
    """The rows that the last tick read, and the cursor after them, if it read from the tracker's
    first row of the same source; otherwise none.
    """
    last_read = _reads.get(place.state)
    if last_read is None or last_read.arrived.before or last_read.source != _source_of(contract):
        return (), ""
    return last_read.arrived.rows, last_read.arrived.after


def _source_of(contract: Contract) -> str:
    return digest(contract.tracker.model_dump(mode="json"))


def _keep_rows(columns: "Writer", last_read: "MetricsRead") -> None:
    """Store the rows of the last read if they follow the stored ones; otherwise read once from
    where these end.
    """
    from herorun.sources._detector_state import mask_secret_names

    arrivals = last_read.arrived
    if arrivals.restarted:
        columns.start_over()
    if columns.cursor == arrivals.before:
        columns.append(arrivals.rows, arrivals.after, last_read.names, now())
        return
    batch = mask_secret_names(last_read.read(columns.cursor), last_read.names)
    if batch.restarted:
        columns.start_over()
    columns.append(batch.rows, batch.cursor, last_read.names, now())
