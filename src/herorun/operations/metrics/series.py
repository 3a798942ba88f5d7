"""The rows of a run: those that the babysitter stored on this machine, followed by newer ones of
the tracker.
"""

from array import array
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from math import isnan, nan
from typing import Protocol

from herorun.core.detectors.names import EVAL_TIMES, SAVE_TIMES, Names, is_eval
from herorun.core.errors import CouldNotLook, HerorunError, describe_error
from herorun.core.goodput.states import SECOND
from herorun.core.goodput.timeline import Beat
from herorun.core.lazy_dataclass import dataclass
from herorun.core.metric_names import names_of
from herorun.core.ports import Row, Tracker
from herorun.core.ports.columnar import ColumnarRows, parts_of
from herorun.core.redaction.scrub import scrub
from herorun.core.row_bounds import drop_implausible
from herorun.runs import MonitoredRun, Run
from herorun.sources.metrics import COLUMNS, read_rows
from herorun.system import progress
from herorun.system.metrics_cache import (
    FetchedRows,
    Point,
    PointColumns,
    columns_of_points,
    read_fetched,
)

READING = "reading the tracker's rows"


class Curves(Protocol):
    """Metrics by name, each as points of an attempt and a step, as logged."""

    @property
    def names(self) -> tuple[str, ...]: ...

    def points(self, metric: str) -> Iterator[Point]: ...

    def pieces(self, metric: str) -> Iterator[PointColumns]:
        """The same as columns."""
        ...


class RowSeries:
    """Rows in memory. If the source names no attempts, a step that goes back begins a new one."""

    def __init__(self) -> None:
        self._segments: dict[str, list[PointColumns | list[Point]]] = {}
        self._attempt, self._execution, self._last = 1, "", -1

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self._segments))

    def points(self, metric: str) -> Iterator[Point]:
        for segment in self._segments.get(metric, ()):
            yield from segment

    def pieces(self, metric: str) -> Iterator[PointColumns]:
        for segment in self._segments.get(metric, ()):
            yield segment if isinstance(segment, PointColumns) else columns_of_points(segment)

    def add_all(self, rows: Sequence[Row]) -> None:
        for part in parts_of(rows):
            if not isinstance(part, ColumnarRows) or part.attempt or not self._follows(part):
                for row in part:
                    self.add(row)
                continue
            attempts = array("I", [self._attempt]) * len(part)
            seconds = array("d", [at.timestamp() for at in part.times] or [nan] * len(part))
            for name, values in part.columns.items():
                piece = PointColumns(attempts, part.steps, seconds, values)
                self._segments.setdefault(_scrub_metric_name(name), []).append(piece)
            self._last = part.steps[-1]

    def _follows(self, rows: ColumnarRows) -> bool:
        """Whether all steps of the rows follow the last one."""
        return rows.rising(0, self._last) == len(rows)

    def add(self, row: Row) -> None:
        if row.step < self._last or (row.attempt and self._execution not in ("", row.attempt)):
            self._attempt += 1
        self._last, self._execution = row.step, row.attempt or self._execution
        self.put(row, self._attempt)

    def put(self, row: Row, attempt: int) -> None:
        """Add a row whose attempt is known."""
        for name, value in row.values.items():
            self.put_point(_scrub_metric_name(name), Point(attempt, row.step, row.at, value))

    def put_point(self, metric: str, point: Point) -> None:
        segments = self._segments.setdefault(metric, [])
        if not segments or not isinstance(segments[-1], list):
            segments.append([])
        segments[-1].append(point)  # type: ignore[union-attr]  # a list, see above


@lru_cache(100_000)
def _scrub_metric_name(name: str) -> str:
    """The trainer's name of a metric, without secrets."""
    return scrub(name)


@dataclass
class ExtendedCurves:
    """The stored rows, followed by newer ones of the tracker, which are not written to disk."""

    stored: FetchedRows
    since: RowSeries

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(sorted({*self.stored.names, *self.since.names}))

    def points(self, metric: str) -> Iterator[Point]:
        yield from self.stored.points(metric)
        yield from self.since.points(metric)

    def pieces(self, metric: str) -> Iterator[PointColumns]:
        yield from self.stored.pieces(metric)
        yield from self.since.pieces(metric)


class _HistoryReplaced(Exception):
    """The tracker reports another history than the stored one."""


def curves_of(run: Run) -> tuple[Curves, str]:
    """The run's curves up to now, and their source as text. `CouldNotLook` if there are none.

    Stored rows are not read again. If the newer ones cannot be read, the text says so.
    """
    curves = stored_curves(run)
    if curves is None or curves.fetched_at is None:
        read_already = read_rows(run.place, run.contract)
        return read_all(run.tracker, run.slug, *read_already), "as the tracker has them now"
    message, since, rows = (
        f"as fetched until {curves.fetched_at:%Y-%m-%d %H:%M} UTC",
        RowSeries(),
        0,
    )
    try:
        for attempt, row in curves.number_rows(_behind(run.tracker, curves.cursor), names_for(run)):
            since.put(row, attempt)
            rows += 1
    except (FileNotFoundError, _HistoryReplaced):
        return curves, f"{message}; the tracker does not have these any more"
    except (HerorunError, OSError) as error:
        return curves, f"{message}; what came later could not be read: {describe_error(error)}"
    return (
        (ExtendedCurves(curves, since), f"{message}, and {rows:,} more as the tracker has them now")
        if rows
        else (curves, message)
    )


def _behind(tracker: Tracker, cursor: str) -> Iterator[Row]:
    """The rows after a cursor."""
    while True:
        batch = tracker.read(cursor)
        if batch.restarted:
            raise _HistoryReplaced
        yield from batch.rows
        if not batch.rows:
            progress.progress(READING, 1, 1)
            return
        cursor = batch.cursor
        progress.progress(READING, 0, None)


def stored_curves(run: MonitoredRun) -> FetchedRows | None:
    """The curves that the babysitter stored on this machine; None if there are no intact ones."""
    curves = read_fetched(run.state / COLUMNS)
    return curves if curves is not None and curves.fetched_at is not None else None


def names_for(run: MonitoredRun) -> Names:
    """The roles of the run's columns."""
    return names_of(run.contract)


def read_all(tracker: Tracker, slug: str, rows: Sequence[Row] = (), cursor: str = "") -> RowSeries:
    """All rows of the tracker; `rows` are those up to `cursor`, which were read before."""
    series = RowSeries()
    series.add_all(rows)
    while True:
        progress.progress(READING, 0, None)
        try:
            batch = drop_implausible(tracker.read(cursor))
        except FileNotFoundError:
            raise CouldNotLook(
                f"The tracker has no rows of {slug}, and this clone has stored none."
            ) from None
        if batch.restarted:
            series = RowSeries()
        series.add_all(batch.rows)
        if not batch.rows:
            progress.progress(READING, 1, 1)
            return series
        cursor = batch.cursor


def beats_of(curves: Curves, run: Run) -> tuple[list[Beat], int]:
    """One beat for each row, in the order of their times; and the number of rows without a time."""
    names, columns = names_of(run.contract), run.contract.tracker.metrics
    every = next((name for name in names.loss if name in curves.names), None)
    usual = [every] if every else [name for name in curves.names if not is_eval(name)]
    evals = [name for name in curves.names if is_eval(name)]
    evaluated_steps = {(p.attempt, p.step) for name in evals for p in curves.points(name)}
    eval_seconds = _seconds_by_step(curves, (columns.get("eval_time", ""), *EVAL_TIMES))
    save_seconds = _seconds_by_step(curves, (columns.get("checkpoint_time", ""), *SAVE_TIMES))
    by_key: dict[tuple[int, int], Beat] = {}
    untimed_count, shift = 0, 1 - names.first_step
    for piece in (piece for name in usual for piece in curves.pieces(name)):
        for attempt, step, at in zip(piece.attempts, piece.steps, piece.seconds, strict=True):
            place = attempt, step
            if isnan(at):
                untimed_count += place not in by_key
                continue
            by_key[place] = Beat(
                round(at * SECOND),
                step + shift,
                eval_seconds.get(place, 0.0),
                save_seconds.get(place, 0.0),
                place in evaluated_steps,
            )
    return sorted(by_key.values()), untimed_count


def _seconds_by_step(curves: Curves, names: tuple[str, ...]) -> Mapping[tuple[int, int], float]:
    """The step times in seconds, by attempt and step, from the first of several such columns.
    Invalid values are ignored.
    """
    name = next((name for name in names if name in curves.names), None)
    if name is None:
        return {}
    return {
        (p.attempt, p.step): p.value for p in curves.points(name) if 0 <= p.value < float("inf")
    }
