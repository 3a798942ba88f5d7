"""Rows of a job as far as anybody can use them: a step and a number of metrics that no run has are
left out. Pure.
"""

from collections.abc import Collection
from dataclasses import replace

from herorun.core.finding import count
from herorun.core.ports import Rows

# beyond it no float holds every step; at a million steps a second it takes 285 years
LARGEST_STEP = 2**53
MOST_NAMES = 5_000  # metrics of one read: a name for each layer of a large model is some hundreds


def bounded(batch: Rows, wanted: Collection[str] = ()) -> Rows:
    """What is left out is a problem, in one line each. `wanted` names are kept before all
    others.
    """
    rows = tuple(row for row in batch.rows if abs(row.step) <= LARGEST_STEP)
    problems = list(batch.problems)
    if len(rows) < len(batch.rows):
        problems.append(
            f"{count(len(batch.rows) - len(rows), 'row')} with a step beyond {LARGEST_STEP} left "
            "out"
        )
    names = dict.fromkeys(name for row in rows for name in row.values)
    if len(names) > MOST_NAMES:
        first = [name for name in wanted if name in names]
        kept = frozenset([*first, *names][:MOST_NAMES])
        lost = next(name for name in names if name not in kept)
        problems.append(
            f"{count(len(names), 'metric')} are more than the {MOST_NAMES} that are read: others "
            f"were left out, such as {lost[:80]!r}"
        )
        rows = tuple(
            replace(row, values={n: v for n, v in row.values.items() if n in kept}) for row in rows
        )
    return replace(batch, rows=rows, problems=tuple(problems))
