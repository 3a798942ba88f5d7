"""Rows of small curves, and what the folds make of them."""

import math
from random import Random

from builders import a_row
from herorun.core.detectors.names import Names
from herorun.core.detectors.pipeline import fold_rows, summarise as summary
from herorun.core.detectors.state import MetricsState

NAMES = Names(watched=("grad_norm",))
CALM = [2.0] * 60
NAN = math.nan


def curve(*losses, first=0, gap=1, **values):
    return [a_row(first + gap * index, loss, **values) for index, loss in enumerate(losses)]


def leaping(seed):
    """A loss that leaps every few rows and comes down more slowly, as that of a small model with a
    large learning rate: a spike stands out of such noise at some of its rows only.
    """
    lots, height, losses = Random(seed), 0.0, []
    for _ in range(300):
        height = 0.85 * height + (lots.uniform(1, 5) if lots.random() < 0.03 else 0.0)
        losses.append(0.1 * math.exp(height + lots.gauss(0, 0.3)))
    return curve(*losses, gap=100)


def values(name, *numbers, first=0):
    return [a_row(first + index, **{name: number}) for index, number in enumerate(numbers)]


def fold_curve(rows, state=None, names=NAMES, **changes):
    return fold_rows(state or MetricsState(), rows, names, **changes)


def summarise(state, names=NAMES):
    return summary(state, names)


def excursions_of(rows, *kinds, names=NAMES):
    """The excursions of these kinds after all rows; of every kind but spikes where none is
    named.
    """
    metrics = summarise(fold_curve(rows, names=names), names)
    return metrics.of(*kinds) if kinds else metrics.excursions


def spikes(*losses, **changes):
    return summarise(fold_curve(curve(*losses, **changes))).spikes
