"""One of the two compared curves, and what its window tested."""

from collections.abc import Mapping
from dataclasses import field
from itertools import pairwise

from herorun.core.detectors.names import Names, is_eval
from herorun.core.finding import count
from herorun.core.lazy_dataclass import dataclass


@dataclass(frozen=True, kw_only=True)
class Operand:
    """`values` are by metric and step; of a step that several attempts logged, the last one's."""

    name: str
    values: Mapping[str, Mapping[int, float]]
    names: Names = field(default_factory=Names)
    # first and last step of each; None: it does not tell
    attempts: Mapping[int, tuple[int, int]] | None = None
    permanent_every: int | None = None  # steps; None if not stated
    phases: tuple[tuple[str, int], ...] = ()  # declared boundaries: name, step
    is_run: bool = False

    def column(self, metric: str) -> str:
        """What it calls a metric: our own word, `loss` or `lr`, stands for the first such name that
        it has.
        """
        names = self.names
        names_by_word = {
            "loss": names.loss,
            "grad_norm": names.norm,
            "lr": names.rate,
            "step_time": names.time,
            "tokens_per_s": names.speed,
        }
        if metric in self.values:
            return metric
        return next((name for name in names_by_word.get(metric, ()) if name in self.values), metric)

    def curve(self, metric: str) -> Mapping[int, float]:
        return self.values.get(self.column(metric), {})

    @property
    def span(self) -> tuple[int, int] | None:
        """The first and the last step of its loss; without a loss, of any metric."""
        steps = self.curve("loss").keys() or {
            step for curve in self.values.values() for step in curve
        }
        return (min(steps), max(steps)) if steps else None

    @property
    def spacing(self) -> int:
        """Steps from row to row, as a rule."""
        steps = sorted(self.curve("loss"))
        gaps = sorted(b - a for a, b in pairwise(steps))
        return gaps[len(gaps) // 2] if gaps else 1


def list_unexercised_parts(side: Operand, first: int, last: int) -> tuple[str, ...]:
    """What the window says nothing about, because it did not come about in it, or it is unknown
    whether it did.
    """
    return (
        tuple(
            reason
            for reason in (
                _describe_absent_restart(side, first, last),
                _describe_absent_checkpoint(side, first, last),
                _describe_absent_eval(side, first, last),
            )
            if reason
        )
        + tuple(_list_unchanged_rate(side, first, last))
        + tuple(_list_outside_phases(side, first, last))
    )


def _describe_absent_restart(side: Operand, first: int, last: int) -> str:
    if side.attempts is None:
        return f"restart: it is not known at which steps {side.name} was restarted"
    inside = [low for low, _ in side.attempts.values() if first < low <= last]
    return (
        "" if inside and len(side.attempts) > 1 else f"restart: {side.name} has none at these steps"
    )


def _describe_absent_checkpoint(side: Operand, first: int, last: int) -> str:
    every = side.permanent_every
    if every is None:
        return f"checkpoint: it is not known at which steps {side.name} saves"
    due = (max(first, 1) + every - 1) // every * every
    return (
        ""
        if due <= last
        else f"checkpoint: {side.name} saves every {count(every, 'step')}, so at none of these"
    )


def _describe_absent_eval(side: Operand, first: int, last: int) -> str:
    evals = [name for name in side.values if is_eval(name)]
    logs_eval = any(first <= step <= last for name in evals for step in side.values[name])
    return "" if logs_eval else f"eval: {side.name} logs no eval metric at these steps"


def _list_unchanged_rate(side: Operand, first: int, last: int) -> list[str]:
    rates = {value for step, value in side.curve("lr").items() if first <= step <= last}
    if not rates:
        return [f"learning rate: {side.name} logs no learning rate at these steps"]
    return [f"learning rate: it stays at {rates.pop():g}"] if len(rates) == 1 else []


def _list_outside_phases(side: Operand, first: int, last: int) -> list[str]:
    return [
        f"phase {name!r}: it begins at step {step}, outside the window"
        for name, step in side.phases
        if not first < step <= last
    ]
