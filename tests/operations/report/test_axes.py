"""The axes of a report's curves, and its further curves."""

from array import array
from collections.abc import Mapping
from typing import Any

import pytest

from builders import a_contract
from herorun.core.config.final_step import tokens_per_step
from herorun.core.detectors.names import Names
from herorun.core.goodput.timeline import Beat
from herorun.core.ports import Row
from herorun.core.ports.columnar import ColumnarRows
from herorun.operations.metrics.charts import charts_of, further_charts
from herorun.operations.metrics.series import RowSeries
from herorun.operations.report.axes import BREAK, EVEN, axes_of

CONTRACT = a_contract()
SECOND = 1_000_000


def test_a_step_that_was_done_again_has_its_last_time() -> None:
    beats = [Beat(at * SECOND, step) for at, step in enumerate([1, 2, 3, 4, 2, 3, 5])]
    axes = axes_of(CONTRACT, (), beats)
    assert (axes.steps, axes.seconds) == ((1, 2, 3, 5), (0.0, 4.0, 5.0, 6.0))


@pytest.mark.parametrize("beats", [[], [Beat(SECOND, 1)]])
def test_without_times_there_is_no_such_axis(beats: list[Beat]) -> None:
    assert axes_of(CONTRACT, (), beats).steps == ()


def test_a_long_run_keeps_its_breaks() -> None:
    down = 50_000
    beats = [Beat((n + (down if n > 30_001 else 0)) * SECOND, n) for n in range(100_000)]
    axes = axes_of(CONTRACT, (), beats)
    assert {30_001, 30_002} <= set(axes.steps) and len(axes.steps) <= EVEN + 2 * BREAK
    assert (axes.steps[0], axes.steps[-1]) == (0, 99_999)


@pytest.mark.parametrize(
    ("config", "tokens"),
    [
        ({"batch": 8, "seq": 512}, 4096),
        ({"batch": 8}, None),
        ({"batch": 8, "seq": "long"}, None),
        ({"batch": 8, "seq": 512, "rampup_batch_size": [1, 2]}, None),
    ],
)
def test_tokens_of_a_step_are_what_the_named_keys_say(
    config: Mapping[str, Any], tokens: int | None
) -> None:
    config_table = CONTRACT.config.model_copy(
        update={"batch_size": "batch", "sequence_length": "seq"}
    )
    assert tokens_per_step(CONTRACT.model_copy(update={"config": config_table}), config) == tokens
    assert tokens_per_step(CONTRACT, config) is None


def test_the_rate_and_each_metric_of_the_contract_are_drawn_once() -> None:
    rows = RowSeries()
    for step in range(4):
        rows.add(Row(step, {"loss": 2.0, "lr": 0.1, "grad_norm": 1.0, "mfu": 0.4}))
    names = Names(declared=("lr", "grad_norm", "mfu", "gone", "tokens_per_s"))
    charts, left_out = further_charts(rows, names, charts_of(rows, names))
    assert [(one.id, one.title, bool(one.series)) for one in charts] == [
        ("rate", "Learning rate", True),
        ("metric-1", "mfu", True),
        ("metric-2", "gone", False),
    ]
    assert charts[2].why and left_out == []
    many = Names(declared=tuple(f"metric{n}" for n in range(14)))
    assert further_charts(rows, many, ())[1] == ["metric12", "metric13"]


@pytest.mark.parametrize("steps", [[*range(90)], [*range(60), *range(40, 70)], [*range(9), 8, 9]])
def test_rows_as_columns_are_drawn_as_rows_are(steps: list[int]) -> None:
    rows = [Row(step, {"loss": 2.0 + number % 7}) for number, step in enumerate(steps)]
    losses = array("d", (row.values["loss"] for row in rows))
    as_columns = ColumnarRows(array("q", steps), {"loss": losses})
    one, other = RowSeries(), RowSeries()
    for row in [*rows, Row(99, {"loss": 3.0})]:
        one.add(row)
    other.add_all(as_columns)
    other.add(Row(99, {"loss": 3.0}))
    assert list(other.points("loss")) == list(one.points("loss")) and other.names == one.names
    assert charts_of(other, Names()) == charts_of(one, Names())
