"""One metric's points, singly and as columns."""

import math
from array import array
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from herorun.core.lazy_dataclass import dataclass
from herorun.system.metrics_cache.format import NO_TIME


@dataclass(frozen=True)
class Attempt:
    """One attempt, by the number that columns name it by."""

    number: int
    first_step: int  # as logged
    last_step: int  # the highest


class Point(NamedTuple):
    attempt: int
    step: int  # as logged
    at: datetime | None  # None where the row has no zoned time
    value: float


@dataclass(frozen=True)
class PointColumns:
    """Some points of one metric as columns, by attempt and step."""

    attempts: "array[int]"
    steps: "array[int]"
    seconds: "array[float]"  # since 1970; NaN where the row has no zoned time
    values: "array[float]"

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[Point]:
        for number, step, at, value in zip(
            self.attempts, self.steps, self.seconds, self.values, strict=True
        ):
            yield Point(
                number, step, None if math.isnan(at) else datetime.fromtimestamp(at, UTC), value
            )


def columns_of_points(points: Sequence[Point]) -> PointColumns:
    """The points in their order."""
    return PointColumns(
        array("I", (p.attempt for p in points)),
        array("q", (p.step for p in points)),
        array("d", (p.at.timestamp() if p.at else math.nan for p in points)),
        array("d", (p.value for p in points)),
    )


def piece_of(points: dict[tuple[int, int], tuple[int, float]]) -> PointColumns:
    pairs = sorted(points.items())
    return PointColumns(
        array("I", (key[0] for key, _ in pairs)),
        array("q", (key[1] for key, _ in pairs)),
        array("d", (_seconds_of_microseconds(at) for _, (at, _) in pairs)),
        array("d", (value for _, (_, value) in pairs)),
    )


def _seconds_of_microseconds(microseconds: int) -> float:
    return math.nan if microseconds == NO_TIME else microseconds / 1e6
