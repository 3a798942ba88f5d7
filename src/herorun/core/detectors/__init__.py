"""Detectors are reducers: `(state, rows) -> (state, excursions)`, by steps and not by ticks.

A tick costs the new rows only. The state is a plain value, cached by its cursor, and can always be
rebuilt from the rows. Every row is judged in order, however rarely somebody looks.

`order` brings rows into the order of their steps and tells attempts apart, `loss`, `norm`, `speed`,
`wander` and `finite` find excursions, `resume` compares two attempts, and `rows` puts them
together.
"""

from herorun.core.detectors.baseline import FLOOR
from herorun.core.detectors.excursion import KEPT
from herorun.core.detectors.instances import Boundary, boundaries_of
from herorun.core.detectors.names import Names
from herorun.core.detectors.pipeline import fold_rows, rules_digest, summarise
from herorun.core.detectors.state import MetricsState

__all__ = [
    "FLOOR",
    "KEPT",
    "Boundary",
    "MetricsState",
    "Names",
    "boundaries_of",
    "fold_rows",
    "rules_digest",
    "summarise",
]
