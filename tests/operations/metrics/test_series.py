"""Where curves come from: the rows that a babysitter stored, and those that came since."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from builders import NOON, a_contract, a_row
from herorun.core.ports import Rows
from herorun.operations.metrics import series
from herorun.operations.report import compare


class Steps:
    """A tracker whose cursor is the step of the newest row."""

    def __init__(self, *steps: int) -> None:
        self._rows = [a_row(step, 1.0 * step) for step in steps]

    def read(self, cursor: str) -> Rows:
        rows = tuple(row for row in self._rows if row.step > int(cursor or 0))
        return Rows(rows=rows, cursor=str(rows[-1].step) if rows else cursor)


class Stored:
    """Curves that were stored up to step 2."""

    fetched_at, cursor = NOON, "2"
    names = ("train/loss",)

    def points(self, metric: str) -> Iterator[Any]:
        yield from ()

    def number_rows(self, rows: Iterator[Any], names: object) -> Iterator[Any]:
        assert names is not None
        return ((1, row) for row in rows)


def a_run(tracker: object) -> Any:
    place = SimpleNamespace(state="/state")
    contract = a_contract()
    return SimpleNamespace(tracker=tracker, slug="tiny", place=place, contract=contract)


def steps(curves: Any) -> list[tuple[int, int]]:
    return [(point.attempt, point.step) for point in curves.points("train/loss")]


def test_rows_that_the_last_tick_read_are_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    run = a_run(Steps(1, 2, 3))
    monkeypatch.setattr(series, "stored_curves", lambda run: None)
    of = {(run.place.state, run.contract.slug): ([a_row(1, 1.0), a_row(2, 2.0)], "2")}
    monkeypatch.setattr(series, "read_rows", lambda place, contract: of[place.state, contract.slug])
    curves, _ = series.curves_of(run)
    assert steps(curves) == [(1, 1), (1, 2), (1, 3)]


def test_stored_rows_are_followed_by_newer_ones_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(series, "stored_curves", lambda run: Stored())
    curves, source = series.curves_of(a_run(Steps(1, 2, 3, 4)))
    assert steps(curves) == [(1, 3), (1, 4)]
    assert ", and 2 more" in source


@pytest.mark.parametrize("at", [None, NOON])
def test_stored_curves_count_once_they_were_read(at: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fetched_rows = SimpleNamespace(fetched_at=at)
    monkeypatch.setattr(series, "read_fetched", lambda folder: fetched_rows)
    run: Any = SimpleNamespace(state=Path("/state"))
    assert series.stored_curves(run) is (fetched_rows if at else None)


def test_rows_without_times_are_of_the_instance_by_the_order_of_attempts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    curves = series.RowSeries()
    for attempt, step in ((0, 1), (0, 2), (1, 2)):
        curves.put_point("train/loss", series.Point(attempt, step, None, 1.0))
    instances = [SimpleNamespace(name=name, intended=NOON) for name in ("tiny-1", "tiny-2")]
    memory = SimpleNamespace(instances=instances, launchings={"tiny-1": None, "tiny-2": None})
    run: Any = SimpleNamespace(slug="tiny", record=SimpleNamespace(memory=lambda: memory))
    sides: list[tuple[str, Any]] = []
    monkeypatch.setattr(compare, "curves_of", lambda run: (curves, ""))
    monkeypatch.setattr(compare, "_side", lambda run, name, own: sides.append((name, own)))
    compare._of_instance(run, "tiny-2")
    ((name, own),) = sides
    assert "tiny-2" in name and "attempt 1" in name
    assert steps(own) == [(1, 2)]
