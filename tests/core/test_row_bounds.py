"""What no run has, a job may still write: steps of hundreds of digits, and hundreds of thousands of
names.
"""

from builders import NOON
from herorun.core.detectors.names import Names
from herorun.core.detectors.pipeline import fold_rows, summarise
from herorun.core.detectors.state import MetricsState
from herorun.core.ports import Row, Rows
from herorun.core.row_bounds import MAX_NAMES, MAX_STEP, drop_implausible
from wording import mentions

MANY = tuple(Row(step, {f"m{step}_{each}": 1.0 for each in range(1000)}) for step in range(200))


def test_of_200_000_metric_names_so_many_are_kept_and_the_rest_is_reported() -> None:
    batch = drop_implausible(Rows(rows=MANY, cursor="c"), ("m199_7",))
    names = {name for row in batch.rows for name in row.values}
    assert len(names) == MAX_NAMES and "m199_7" in names
    assert [row.step for row in batch.rows] == list(range(200))
    (problem,) = batch.problems
    assert mentions(problem, "200000 metrics", "more", "5000 that")


def test_a_step_that_no_float_holds_is_left_out_and_said() -> None:
    rows = (Row(MAX_STEP, {}), Row(MAX_STEP + 1, {}), Row(10**400, {}))
    batch = drop_implausible(Rows(rows=rows, cursor="c", problems=("before",)))
    assert [row.step for row in batch.rows] == [MAX_STEP]
    earlier, left_out = batch.problems
    assert earlier == "before" and mentions(left_out, "2 rows", f"{MAX_STEP}")


def test_what_a_run_writes_stays_as_it_is() -> None:
    batch = Rows(rows=(Row(1, {"loss": 2.0}),), cursor="c")
    assert drop_implausible(batch) == batch


def test_names_that_are_new_in_every_read_add_up_to_no_more_and_that_is_reported() -> None:
    names, state = Names(), MetricsState()
    for step in range(20):  # the newest rows wait
        values = {"loss": 2.0, **{f"router/{step}_{each}": 1.0 for each in range(1000)}}
        state = fold_rows(state, [Row(step, values, NOON)], names, seen_at=NOON)
    metrics = summarise(state, names)
    assert metrics is not None and len(state.wanders) == MAX_NAMES
    (problem,) = metrics.problems
    assert mentions(problem, "5000 names", "not")
    for each in range(3 * MAX_NAMES):
        names.roles[f"m{each}"]
    assert len(names.roles) <= 2 * MAX_NAMES


def test_a_name_of_a_megabyte_is_left_out_and_said() -> None:
    rows = (Row(1, {"loss": 2.0, "m" * 1_000_000: 1.0}), Row(2, {"loss": 3.0}))
    batch = drop_implausible(Rows(rows=rows, cursor="c"))
    assert [row.values for row in batch.rows] == [{"loss": 2.0}, {"loss": 3.0}]
    (problem,) = batch.problems
    assert mentions(problem, "1 metric", "more", "1000 characters")
    assert len(problem) < 200
