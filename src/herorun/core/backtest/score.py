"""Scores the alerts of a backtest against labels: false alarms, found and missed events, delays.

The loss label judges what speaks of the curve, the throughput label what speaks of throughput.
Curves whose labels are neither quiet nor have events ("ambiguous") count for nothing.
"""

from collections.abc import Sequence
from dataclasses import field

from herorun.core.backtest.curve import FiredAlert
from herorun.core.check import Topic
from herorun.core.lazy_dataclass import dataclass

SLACK = 3  # rows by which a label's window is rough
SECONDS = 30.0  # a row of a large run; rows of public curves rarely tell their time
QUIET = ("clean", "noisy", "rl-critic-noisy")
QUIET_TIME = ("", "time-clean", "noisy-time")
CURVE = frozenset({Topic.METRIC, Topic.LINEAGE, Topic.NUMERIC})
SPEED = frozenset({Topic.PROGRESS})


@dataclass(frozen=True)
class Label:
    """What a person saw in a curve: events are (first row, last row, words)."""

    label: str = ""
    events: tuple[tuple[int, int, str], ...] = ()
    time_label: str = ""
    time_events: tuple[tuple[int, int, str], ...] = ()


@dataclass(kw_only=True)
class Score:
    """False alarms and finds over many curves."""

    clean_rows: int = 0
    clean_steps: int = 0
    false_alarms: int = 0
    warnings: int = 0  # on clean curves
    events: int = 0
    hits: int = 0
    sustained: int = 0  # events of five rows and more
    sustained_found: int = 0
    curves: int = 0  # with events
    curves_found: int = 0
    time_events: int = 0
    time_found: int = 0
    delays: list[int] = field(default_factory=list)  # steps from an event's first row to the alert
    row_delays: list[int] = field(default_factory=list)  # the same, in rows
    quiet: int = 0  # curves that are clean or noisy throughout
    missed: list[tuple[str, int, int, str]] = field(default_factory=list)

    @property
    def hours(self) -> float:
        """Run-hours of the quiet curves, for a live run at its cadence."""
        return self.clean_rows * SECONDS / 3600

    @property
    def warnings_a_curve(self) -> float | None:
        """Warnings per quiet curve; None without quiet curves."""
        return self.warnings / self.quiet if self.quiet else None

    def add(
        self, name: str, label: Label, steps: Sequence[int], alerts: Sequence[FiredAlert]
    ) -> None:
        curve = [alert for alert in alerts if alert.topic in CURVE and alert.severity == "critical"]
        speed = [alert for alert in alerts if alert.topic in SPEED]
        self._clean(label, steps, alerts, curve, speed)
        hits = [self._event(name, steps, event, curve) for event in label.events]
        self.curves += bool(hits)
        self.curves_found += any(hits)
        for first, last, metric_words in label.time_events:
            self.time_events += 1
            hit = _hit(first, last, speed)
            self.time_found += hit is not None
            if hit is None:
                self.missed.append((name, first, last, metric_words))

    def _clean(
        self,
        label: Label,
        steps: Sequence[int],
        alerts: Sequence[FiredAlert],
        curve: Sequence[FiredAlert],
        speed: Sequence[FiredAlert],
    ) -> None:
        false = list(curve) if label.label in QUIET else []
        if label.time_label in QUIET_TIME:
            false += [alert for alert in speed if alert.severity == "critical"]
        if label.label in QUIET and label.time_label in QUIET_TIME:
            self.quiet += 1
            self.clean_rows += len(steps)
            self.clean_steps += steps[-1] - steps[0] if steps else 0
            self.warnings += sum(alert.severity == "warn" for alert in alerts)
        self.false_alarms += len(false)

    def _event(
        self,
        name: str,
        steps: Sequence[int],
        event: tuple[int, int, str],
        curve: Sequence[FiredAlert],
    ) -> bool:
        first, last, metric_words = event
        hit = _hit(first, last, curve)
        long = last - first + 1 >= 5
        self.events += 1
        self.sustained += long
        if hit is None:
            self.missed.append((name, first, last, metric_words))
            return False
        self.hits += 1
        self.sustained_found += long
        if 0 <= first < len(steps):
            self.delays.append(max(hit.step - steps[first], 0))
            self.row_delays.append(max(hit.row - first, 0))
        return True


def _hit(first: int, last: int, alerts: Sequence[FiredAlert]) -> FiredAlert | None:
    """The first alert that fires within the window: one that fired earlier notifies nobody."""
    fitting = (alert for alert in alerts if first - SLACK <= alert.row <= last + SLACK)
    return min(fitting, key=lambda alert: alert.row, default=None)
