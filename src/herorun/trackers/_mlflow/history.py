"""The rows of an MLflow run, put together from the histories of its metrics. Pure.

MLflow keeps each metric apart, in the order of time, and both points of a step that was trained
twice. It pages by a token that only the server understands: a history that is read to its end is
known by the token of its last page and the number of points that were taken from it.
"""

import hashlib
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from math import copysign, inf
from typing import Any

from herorun.core.lazy_dataclass import dataclass
from herorun.core.ports import Row
from herorun.core.redaction.scrub import scrub
from herorun.core.row_bounds import MAX_STEP
from herorun.trackers._flatten import as_number

CURSOR = 1  # of this form
OWN = "system/"  # MLflow's own machine metrics, which have another step counter


@dataclass(frozen=True)
class Mark:
    """How far one metric's history was read."""

    token: str = ""  # of the page; empty for the first
    points: int = 0  # points of that page
    sample: str = ""  # the last of them, digested


@dataclass(frozen=True, order=True)
class MetricPoint:
    """One logged value; sorted as MLflow sorts them."""

    time: int  # milliseconds, by the job's clock
    step: int
    name: str
    value: float


@dataclass(frozen=True)
class MetricPage:
    """The answer for one metric: the points after the mark."""

    name: str
    mark: Mark
    raw: Sequence[Any]  # the whole page, as MLflow sent it
    following: str  # the token of the next page; empty at the end

    @property
    def complete_until(self) -> tuple[int, int] | None:
        """The time and step up to which the page is complete; None if it reaches the end of the
        history.
        """
        if not self.following or not self.raw:
            return None
        return _order_of(self.raw[-1])


class ChangedHistory(Exception):
    """The history was changed since it was read."""


def is_own(name: str) -> bool:
    return name.startswith(OWN)


def encode(run: str, marks: Mapping[str, Mark]) -> str:
    marks_by_name = {name: [mark.token, mark.points, mark.sample] for name, mark in marks.items()}
    return json.dumps([CURSOR, run, marks_by_name], sort_keys=True)


def decode_cursor(cursor: str, run: str) -> dict[str, Mark] | None:
    """The marks; None for a cursor of another run, or that this module did not write."""
    try:
        form, cursor_run, entries = json.loads(cursor)
        marks = {str(name): Mark(str(t), int(n), str(s)) for name, (t, n, s) in entries.items()}
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None
    return marks if (form, cursor_run) == (CURSOR, run) else None


def verify_page(page: MetricPage) -> MetricPage:
    """The page, if the last point that was read from it is unchanged."""
    offset = page.mark.points
    if offset > len(page.raw) or (offset and sample_of(page.raw[offset - 1]) != page.mark.sample):
        raise ChangedHistory
    return page


def sample_of(raw: Any) -> str:
    return hashlib.sha256(repr(raw).encode()).hexdigest()[:16]


def take(
    pages: Iterable[MetricPage],
) -> tuple[list[MetricPoint], dict[str, Mark], list[str]]:
    """The points up to which all pages are complete, the marks after them, and the problems.

    Otherwise a metric with a further page would lag behind the others, and its steps would look
    like those of a restarted run.
    """
    pages = list(pages)
    horizon = min(
        (page.complete_until for page in pages if page.complete_until is not None), default=None
    )
    points: list[MetricPoint] = []
    problems: list[str] = []
    marks = {}
    for page in pages:
        count = page.mark.points
        for raw in page.raw[count:]:
            if horizon is not None and _order_of(raw) > horizon:
                break
            count += 1
            _add_point(points, problems, page, raw, count)
        marks[page.name] = _mark_reached(page, count)
    return sorted(points), marks, problems


def _add_point(
    points: list[MetricPoint], problems: list[str], page: MetricPage, raw: Any, number: int
) -> None:
    try:
        points.append(_point(page.name, raw))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        why = str(error) if isinstance(error, _UnusablePoint) else "no value under a step"
        problems.append(f"MLflow metric {scrub(page.name)}, point {number} of its page: {why}")


def _mark_reached(page: MetricPage, count: int) -> Mark:
    if count == len(page.raw) and page.following:
        return Mark(page.following)
    return Mark(page.mark.token, count, sample_of(page.raw[count - 1]) if count else "")


class _UnusablePoint(ValueError):
    """Why a point is invalid, without its content."""


def _point(name: str, raw: Any) -> MetricPoint:
    step = int(raw.get("step") or 0)
    value = as_number(raw["value"])
    if value is None:
        raise _UnusablePoint("no number")
    if step < 0:
        raise _UnusablePoint("a negative step")
    if step > MAX_STEP:
        raise _UnusablePoint(f"a step beyond {MAX_STEP:,}, which no training reaches")
    if abs(value) == sys.float_info.max:  # MLflow's database stores infinity as this
        value = copysign(inf, value)
    return MetricPoint(int(raw.get("timestamp") or 0), step, name, value)


def _order_of(raw: Any) -> tuple[int, int]:
    try:
        return int(raw.get("timestamp") or 0), int(raw.get("step") or 0)
    except (TypeError, ValueError, AttributeError, OverflowError):
        return 0, 0


def merge_rows(points: Iterable[MetricPoint]) -> list[Row]:
    """Consecutive points of one step form one row; a repeated metric begins the next."""
    rows: list[Row] = []
    values: dict[str, float] = {}
    last: MetricPoint | None = None
    for point in points:
        if last is not None and (point.step != last.step or point.name in values):
            rows.append(Row(last.step, values, utc(last.time)))
            values = {}
        values[point.name] = point.value
        last = point
    if last is not None:
        rows.append(Row(last.step, values, utc(last.time)))
    return rows


def utc(milliseconds: Any) -> datetime | None:
    """The time; None for an invalid one: 0 comes from an import without times."""
    try:
        seconds = int(milliseconds) / 1000
        return datetime.fromtimestamp(seconds, UTC) if seconds > 0 else None
    except (ValueError, TypeError, OverflowError, OSError):
        return None
