"""Made curves of many shapes, noises, units and logging intervals, and what can go wrong with them.

Each is made from a seed, so that a failure can be made again: `clean(seed)` has nothing to be woken
for, and the other functions take such a curve and break it at a row.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from builders import a_row
from herorun.core.ports import Row

ROWS = 300
BREAK = 200  # the row at which something goes wrong
NAN = math.nan

# the logarithm of the level at this part of the run, from 0 to 1
Shape = Callable[[float, Random], float]
Noise = Callable[[Random], float]  # of the logarithm


def _falls(part: float, lots: Random) -> float:
    return math.log(1.8 + 9.2 * (1 + 200 * part) ** -0.6)


def _steps_down(part: float, lots: Random) -> float:
    return _falls(part, lots) - 0.2 * (part > 0.3) - 0.15 * (part > 0.5)


def _mixtures(part: float, lots: Random) -> float:
    return _falls(part, lots) + 0.06 * (part > 0.25) - 0.1 * (part > 0.4) + 0.05 * (part > 0.55)


def _plateau(part: float, lots: Random) -> float:
    return 0.7


def _saw_tooth(part: float, lots: Random) -> float:
    """Eight epochs: memorised data fall within each, and the next begins a little higher."""
    epoch, within = divmod(8 * part, 1)
    return math.log(2.5) - 0.05 * epoch - 0.08 * within


def _to_zero(part: float, lots: Random) -> float:
    return -7.0 * part


def _wakes_late(part: float, lots: Random) -> float:
    """It learns nothing for a fifth of the run, and then all at once."""
    return 2.3 - 1.6 / (1 + math.exp(-60 * (part - 0.2)))


def _cosine(part: float, lots: Random) -> float:
    return math.log(2.0 + 1.5 * (1 + math.cos(math.pi * min(part / 0.9, 1))))


def _two_modes(part: float, lots: Random) -> float:
    return _falls(part, lots) - (0.4 if lots.random() < 0.3 else 0.0)


SHAPES: dict[str, Shape] = {
    "falls": _falls,
    "steps-down": _steps_down,
    "mixtures": _mixtures,
    "plateau": _plateau,
    "saw-tooth": _saw_tooth,
    "to-zero": _to_zero,
    "wakes-late": _wakes_late,
    "cosine": _cosine,
    "two-modes": _two_modes,
}
SPREADS = (0.002, 0.01, 0.03, 0.08, 0.15)
TAILS: dict[str, Callable[[Random], float]] = {
    "gauss": lambda lots: lots.gauss(0, 1),
    "heavy": lambda lots: lots.gauss(0, 1) / math.sqrt(max(lots.gammavariate(1.5, 1 / 1.5), 0.02)),
    "skewed": lambda lots: lots.expovariate(1) - 1,
}
MEMORIES = (0.0, 0.0, 0.7, 0.9)  # how much of a row's noise the next one keeps
UNITS = (1e-3, 1.0, 1e3)
GAPS = (1, 10, 100)  # steps between two rows


@dataclass(frozen=True)
class Made:
    """A curve, and what it was made of."""

    shape: str
    tail: str
    spread: float
    memory: float
    unit: float
    gap: int
    losses: list[float]

    def __str__(self) -> str:
        return (
            f"{self.shape}, {self.tail} noise of {self.spread} that keeps {self.memory}, in "
            f"{self.unit}, every {self.gap}"
        )

    def rows(self, first: int = 0) -> list[Row]:
        return rows_of(self.losses, self.gap, first)

    def break_at(self, change: Callable[[int, float], float], at: int = BREAK) -> "list[Row]":
        """The same, with each loss from a row on changed: by its place behind that row, and its
        value.
        """
        after = [change(i, loss) for i, loss in enumerate(self.losses[at:])]
        return rows_of([*self.losses[:at], *after], self.gap)


def rows_of(losses: list[float], gap: int = 1, first: int = 0) -> list[Row]:
    return [a_row(first + gap * i, loss) for i, loss in enumerate(losses)]


def clean(seed: int, spreads: tuple[float, ...] = SPREADS, rows: int = ROWS, **parts: str) -> Made:
    """A curve with nothing to be woken for."""
    lots = Random(seed)
    shape, tail = lots.choice(sorted(SHAPES)), lots.choice(sorted(TAILS))
    shape, tail = parts.get("shape", shape), parts.get("tail", tail)
    spread, memory = lots.choice(spreads), lots.choice(MEMORIES)
    if tail == "heavy" or spread > 0.1:
        memory = 0.0  # what wanders by a half and stays there for ten rows is not clean
    unit, gap = lots.choice(UNITS), lots.choice(GAPS)
    noise, losses = 0.0, []
    for i in range(rows):
        noise = memory * noise + math.sqrt(1 - memory**2) * TAILS[tail](lots)
        losses.append(unit * math.exp(SHAPES[shape](i / rows, lots) + spread * noise))
    return Made(
        shape=shape, tail=tail, spread=spread, memory=memory, unit=unit, gap=gap, losses=losses
    )
