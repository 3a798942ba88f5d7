"""The curves of a report: which metrics, and their points as few lines, by completed updates."""

from array import array
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from math import isnan, nan

from herorun.core.detectors.names import Names, is_eval
from herorun.core.lazy_dataclass import dataclass
from herorun.core.report.annotations import AttemptStart
from herorun.core.report.downsample import (
    MAX_POINTS,
    ChartLine,
    NonFiniteSpan,
    Trace,
    not_finite,
    strands,
)
from herorun.operations.metrics.series import Curves
from herorun.system import progress
from herorun.system.metrics_cache import PointColumns

EVALS = 2  # evaluation losses besides the loss
MAX_FURTHER = 12  # metrics that the contract names
MAX_STRETCHES = 200  # stretches without a finite value that are drawn, the longest ones


@dataclass(frozen=True)
class Series:
    metric: str
    strands: tuple[ChartLine, ...]
    not_finite: tuple[NonFiniteSpan, ...] = ()


@dataclass(frozen=True)
class ChartDrawing:
    """One chart. Without `series`, `why` is the reason."""

    id: str
    title: str
    unit: str
    series: tuple[Series, ...] = ()
    why: str = ""

    @property
    def newest(self) -> float | None:
        """The value of the highest step; NaN, which no line shows, if it is not finite."""
        if not self.series:
            return None
        lines, spans = self.series[0].strands, self.series[0].not_finite
        main = lines[0] if lines and lines[0].lane == 0 else None
        if spans and (main is None or max(each.last for each in spans) > main.steps[-1]):
            return nan
        return main.values[-1] if main else None

    @property
    def newest_text(self) -> str:
        """The newest value as text; "" if there is none."""
        return (
            ""
            if self.newest is None
            else "not finite"
            if isnan(self.newest)
            else f"{self.newest:.5g}"
        )


def charts_of(curves: Curves, names: Names) -> list[ChartDrawing]:
    """The charts of the loss with evaluation losses, throughput or time per step, and gradient
    norm.
    """
    available = curves.names
    loss = next((name for name in names.loss if name in available), "")
    evals = [name for name in available if is_eval(name) and "loss" in name][:EVALS]
    speed = next((name for name in names.speed if name in available), "")
    time = next((name for name in names.time if name in available), "")
    norm = next((name for name in names.norm if name in available), "")
    pace = (
        ("Throughput", speed or "per second")
        if speed or not time
        else ("Time per step", f"{time}, seconds")
    )
    specs = (
        ("loss", "Loss", loss or "loss", [loss, *evals]),
        ("throughput", *pace, [speed or time]),
        ("norm", "Gradient norm", norm or "norm", [norm]),
    )
    charts = []
    for number, (id, title, unit, metrics) in enumerate(specs):
        progress.progress("drawing the curves", number, len(specs))
        charts.append(_chart(curves, names, id=id, title=title, unit=unit, metrics=metrics))
    progress.progress("drawing the curves", 1, 1)
    return charts


def further_charts(
    curves: Curves, names: Names, earlier: Sequence[ChartDrawing]
) -> tuple[list[ChartDrawing], list[str]]:
    """The charts of the learning rate, if logged, and of each metric that the contract names and
    `earlier` does not show. The second result names those beyond `MAX_FURTHER`.
    """
    in_charts = {one.metric for chart in earlier for one in chart.series}
    empty = {chart.id for chart in earlier if not chart.series}
    roles = {"norm": names.norm, "throughput": (*names.speed, *names.time), "loss": names.loss}
    in_charts |= {name for id, role in roles.items() if id in empty for name in role}
    rate = next((name for name in names.rate if name in curves.names), "")
    remaining = [name for name in names.declared if name not in in_charts and name != rate]
    charts = (
        [_chart(curves, names, id="rate", title="Learning rate", unit=rate, metrics=[rate])]
        if rate
        else []
    )
    charts += [
        _chart(curves, names, id=f"metric-{number}", title=name, metrics=[name])
        for number, name in enumerate(remaining[:MAX_FURTHER], 1)
    ]
    return charts, remaining[MAX_FURTHER:]


def _chart(
    curves: Curves,
    names: Names,
    *,
    id: str,
    title: str,
    metrics: Sequence[str],
    unit: str = "",
) -> ChartDrawing:
    all_series = [_series(curves, metric, names) for metric in metrics if metric]
    with_points = tuple(one for one in all_series if one.strands or one.not_finite)
    return ChartDrawing(
        id, title, unit, with_points, "" if with_points else "No such metric was reported."
    )


def _series(curves: Curves, metric: str, names: Names) -> Series:
    traces = [trace for trace, _ in traces_of(curves, metric, 1 - names.first_step)]
    return Series(metric, tuple(strands(traces, MAX_POINTS)), tuple(not_finite(traces)))


def attempt_starts(curves: Curves, names: Names) -> list[AttemptStart]:
    """The starts of the attempts, by the rows of the loss, or of any metric without a loss."""
    usual = next((name for name in (*names.loss, *curves.names) if name in curves.names), "")
    traces = traces_of(curves, usual, 1 - names.first_step) if usual else ()
    return [AttemptStart(trace.attempt, trace.steps[0] - 1, at) for trace, at in traces]


def traces_of(curves: Curves, metric: str, shift: int) -> Iterator[tuple[Trace, datetime | None]]:
    """The traces by attempt, each with the time of its first row, if known. `shift` is added to
    each step.
    """
    by_attempt: dict[int, tuple[array[int], array[float], float]] = {}
    for piece in curves.pieces(metric):
        for number, start, end in _attempt_stretches(piece):
            steps, values, at = by_attempt.setdefault(
                number, (array("q"), array("d"), piece.seconds[start])
            )
            steps.extend(piece.steps[start:end])
            values.extend(piece.values[start:end])
    for number in sorted(by_attempt):
        steps, values, at = by_attempt[number]
        rising = sorted(set(steps))
        if list(steps) != rising:
            last = dict(zip(steps, values, strict=True))
            values = array("d", (last[step] for step in rising))
        shifted_steps = (
            array("q", [step + shift for step in rising]) if shift else array("q", rising)
        )
        yield (
            Trace(number, shifted_steps, values),
            None if isnan(at) else datetime.fromtimestamp(at, UTC),
        )


def _attempt_stretches(piece: PointColumns) -> Iterator[tuple[int, int, int]]:
    """The stretches of one attempt: its number, and their first and end index."""
    numbers, start = piece.attempts, 0
    if len(numbers) and numbers.count(numbers[0]) == len(numbers):  # the usual case
        yield numbers[0], 0, len(numbers)
        return
    for at in range(1, len(numbers) + 1):
        if at == len(numbers) or numbers[at] != numbers[start]:
            yield numbers[start], start, at
            start = at
