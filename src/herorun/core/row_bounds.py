"""Leaves out rows with an impossible step, and metrics beyond a plausible number. Pure."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from herorun.core.finding import count
from herorun.core.ports import Row, Rows
from herorun.core.ports.columnar import ColumnarRows, metric_names, parts_of

# beyond it no float holds every step; at a million steps a second it takes 285 years
MAX_STEP = 2**53
MAX_NAME = 1_000  # characters of a metric's name: a path through a model has a hundred
MAX_NAMES = 5_000  # metrics of one read: a name for each layer of a large model is some hundreds


def drop_implausible(batch: Rows, priority_names: Collection[str] = ()) -> Rows:
    """What is left out is a problem, in one line each. `priority_names` are kept before all
    others.
    """
    rows, problems = batch.rows, list(batch.problems)
    if not all(map(_has_plausible_steps, parts_of(rows))):
        rows = tuple(row for row in rows if abs(row.step) <= MAX_STEP)
        problems.append(
            f"{count(len(batch.rows) - len(rows), 'row')} with a step beyond {MAX_STEP} left out"
        )
    names = metric_names(rows)
    if long := [name for name in names if len(name) > MAX_NAME]:
        problems.append(
            f"{count(len(long), 'metric')} with a name of more than {MAX_NAME} characters left "
            f"out, such as {long[0][:80]!r}"
        )
        rows = tuple(_without(row, frozenset(long)) for row in rows)
        names = dict.fromkeys(name for name in names if len(name) <= MAX_NAME)
    if len(names) > MAX_NAMES:
        first = [name for name in priority_names if name in names]
        retained_names = frozenset([*first, *names][:MAX_NAMES])
        dropped_name = next(name for name in names if name not in retained_names)
        problems.append(
            f"{count(len(names), 'metric')} are more than the {MAX_NAMES} that are read: others "
            f"were left out, such as {dropped_name[:80]!r}"
        )
        rows = tuple(
            replace(row, values={n: v for n, v in row.values.items() if n in retained_names})
            for row in rows
        )
    return replace(batch, rows=rows, problems=tuple(problems))


def _has_plausible_steps(rows: Sequence[Row]) -> bool:
    steps = rows.steps if isinstance(rows, ColumnarRows) else [row.step for row in rows]
    return max(map(abs, steps), default=0) <= MAX_STEP


def _without(row: Row, names: Collection[str]) -> Row:
    return replace(row, values={n: v for n, v in row.values.items() if n not in names})
