"""Rules that others have published for the loss, reimplemented from their description, to be
compared with. As a program: the page `docs/backtest.md`, of the curves that are named.

Most of them were made to skip or to count steps, not to wake people; here each is read as an alarm.
A rule takes the losses one by one, None and NaN included, and says whether it complains of this
one.
"""

import argparse
import math
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Protocol

from herorun.core.backtest.curve import FiredAlert
from herorun.core.backtest.report import page
from herorun.core.check import Topic
from herorun.core.detectors.names import Names
from herorun.core.ports import Row
from herorun.operations.report.backtest import backtest, read_labels


class RivalRule(Protocol):
    def complains(self, loss: float) -> bool: ...


@dataclass
class KillLossSpike:
    """llm-foundry: more than `patience` losses in a row of at least twice the mean of the last 100;
    or half of those above a cap, once 200 are over. The cap is the highest of the first 100, and 10
    at most.

    Its window is a twentieth of the run where that is more; a bare curve does not say how long the
    run is.
    """

    patience: int = 4
    multiplier: float = 2.0
    cap: float = 10.0
    window: deque[float] = field(default_factory=lambda: deque(maxlen=100))
    rows: int = 0
    high: int = 0

    def complains(self, loss: float) -> bool:
        self.rows += 1
        window, full = self.window, len(self.window) == 100
        if self.rows == 101:
            self.cap = min(max(window), self.cap)
        self.high = self.high + 1 if full and loss >= self.multiplier * fmean(window) else 0
        at_cap = self.rows > 200 and sum(x > self.cap for x in window) >= 50
        window.append(loss)
        return self.high > self.patience or at_cap


@dataclass
class StabilityMonitor:
    """OLMo: a loss more than 6 standard deviations above the mean of the last 128."""

    sigmas: float = 6.0
    window: deque[float] = field(default_factory=lambda: deque(maxlen=128))

    def complains(self, loss: float) -> bool:
        wild = _above(self.window, loss, self.sigmas, 128)
        self.window.append(loss)
        return wild


@dataclass
class FloorRule:
    """Marin: not finite, or the lowest of the last 20 losses more than 5 % above the lowest
    ever.
    """

    above: float = 1.05
    floor: float = math.inf
    window: deque[float] = field(default_factory=lambda: deque(maxlen=20))
    lows: deque[float] = field(default_factory=lambda: deque(maxlen=20))

    def complains(self, loss: float) -> bool:
        if not math.isfinite(loss):
            return True
        self.window.append(loss)
        if len(self.window) < 20:
            return False
        low = min(self.window)
        high = low > self.above * self.floor
        self.lows.append(fmean(self.window))
        self.floor = min(self.floor, self.lows[0])
        return high


@dataclass
class ZScore:
    """W&B's alerts on a metric: more than 3 standard deviations from the mean of the last 30,
    upwards.
    """

    sigmas: float = 3.0
    window: deque[float] = field(default_factory=lambda: deque(maxlen=30))

    def complains(self, loss: float) -> bool:
        wild = _above(self.window, loss, self.sigmas, 30)
        self.window.append(loss)
        return wild


def _above(window: deque[float], loss: float, sigmas: float, full: int) -> bool:
    if len(window) < full or not math.isfinite(loss):
        return False
    mean = sum(window) / full
    if not math.isfinite(mean):
        return False
    return loss > mean + sigmas * math.sqrt(sum((value - mean) ** 2 for value in window) / full)


RULES: Mapping[str, Callable[[], RivalRule]] = {
    "llm-foundry KillLossSpike": KillLossSpike,
    "OLMo StabilityMonitor": StabilityMonitor,
    "Marin floor rule": FloorRule,
    "W&B z-score": ZScore,
}


def alarms(name: str, rows: Iterator[Row]) -> list[FiredAlert]:
    """Where a rule begins to complain; one alert for each stretch, which ends when it falls
    silent.
    """
    rule, names, alerts = RULES[name](), Names(), []
    firing: FiredAlert | None = None
    for number, row in enumerate(rows):
        loss = names.loss_of(row.values)
        complains = loss is not None and rule.complains(loss)
        if complains and firing is None:
            firing = FiredAlert(
                check=name,
                severity="critical",
                topic=Topic.METRIC,
                subject="loss",
                row=number,
                step=row.step,
                until_row=None,
                message=f"loss {loss}",
            )
            alerts.append(firing)
        elif not complains and firing is not None:
            firing.until_row, firing = number, None
    return alerts


OTHERS: Mapping[str, Callable[[Iterator[Row]], list[FiredAlert]]] = {
    name: partial(alarms, name) for name in RULES
}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("curves", nargs="+", type=Path)
    parser.add_argument("--labels", type=Path, required=True)
    options = parser.parse_args()
    report = backtest(sorted(options.curves), read_labels(options.labels), OTHERS)
    print("\n".join(page(report.scores)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
