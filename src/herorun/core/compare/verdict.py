"""Go or no-go, by the gates alone. What could not be compared is neither."""

from collections.abc import Iterable, Sequence
from enum import StrEnum

from herorun.core.compare.gate import ComparisonGate
from herorun.core.compare.join import CurveJoin, pair
from herorun.core.compare.operand import Operand, list_unexercised_parts
from herorun.core.finding import count
from herorun.core.lazy_dataclass import dataclass


class ComparisonAnswer(StrEnum):
    GO = "go"
    NO_GO = "no-go"
    UNJUDGED = "unjudged"  # no gate was set
    UNKNOWN = "not comparable"


@dataclass(frozen=True)
class GateComparison:
    """One gate. `measured` is in the gate's own unit; `why` says why it could not be judged."""

    gate: str
    answer: ComparisonAnswer
    measured: float | None = None
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class RunComparison:
    first: int | None  # the window, both ends included
    last: int | None
    answer: ComparisonAnswer
    metrics: tuple[CurveJoin, ...] = ()
    gates: tuple[GateComparison, ...] = ()
    unexercised: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def compare(
    a: Operand,
    b: Operand,
    gates: Sequence[ComparisonGate] = (),
    metrics: Iterable[str] = (),
    window: tuple[int | None, int | None] = (None, None),
) -> RunComparison:
    """Loss, the metrics that gates or a person name, over the window: by default all steps that
    both have reached.
    """
    if a.span is None or b.span is None:
        empty = a.name if a.span is None else b.name
        return RunComparison(
            first=None, last=None, answer=ComparisonAnswer.UNKNOWN, notes=(f"{empty} has no rows",)
        )
    first = window[0] if window[0] is not None else max(a.span[0], b.span[0])
    last = window[1] if window[1] is not None else min(a.span[1], b.span[1])
    if first > last:
        note = (
            f"{a.name} has steps {a.span[0]} to {a.span[1]}, {b.name} {b.span[0]} to {b.span[1]}: "
            "no step is in both"
        )
        return RunComparison(first=first, last=last, answer=ComparisonAnswer.UNKNOWN, notes=(note,))
    metric_names = dict.fromkeys(("loss", *metrics, *(gate.metric for gate in gates)))
    pairings = tuple(
        pair(metric, a.curve(metric), b.curve(metric), first, last) for metric in metric_names
    )
    short = _describe_uncovered(a, b, first, last)
    by_name = {each.metric: each for each in pairings}
    gate_comparisons = tuple(_judge_comparison(gate, by_name[gate.metric], short) for gate in gates)
    return RunComparison(
        first=first,
        last=last,
        answer=_together(gate_comparisons, pairings),
        metrics=pairings,
        gates=gate_comparisons,
        unexercised=list_unexercised_parts(b, first, last),
        notes=_notes(pairings, gates, short),
    )


def _describe_uncovered(a: Operand, b: Operand, first: int, last: int) -> str:
    """What of the window a curve does not cover; up to one row's distance at either end is no
    hole.
    """
    for side in (a, b):
        assert side.span is not None
        low, high = side.span
        if low - first >= max(side.spacing, 1) or last - high >= max(side.spacing, 1):
            return f"{side.name} covers steps {low} to {high}, not all of {first} to {last}"
    return ""


def _judge_comparison(gate: ComparisonGate, pairing: CurveJoin, short: str) -> GateComparison:
    """A bound that is broken is broken, whatever else is missing; one that holds must hold for all
    of the window.
    """
    if pairing.not_finite_b:
        why = f"B is not finite at {count(pairing.not_finite_b, 'step')} at which A is"
        return GateComparison(str(gate), ComparisonAnswer.NO_GO, None, why)
    measured_change = pairing.measure(gate)
    if measured_change is None:
        return GateComparison(
            str(gate), ComparisonAnswer.UNKNOWN, None, "no step has it in both runs"
        )
    if not gate.allows(measured_change):
        return GateComparison(str(gate), ComparisonAnswer.NO_GO, measured_change)
    return GateComparison(
        str(gate),
        ComparisonAnswer.UNKNOWN if short else ComparisonAnswer.GO,
        measured_change,
        short,
    )


def _together(
    gate_comparisons: Sequence[GateComparison], pairings: Sequence[CurveJoin]
) -> ComparisonAnswer:
    answers = {each.answer for each in gate_comparisons}
    if ComparisonAnswer.NO_GO in answers:
        return ComparisonAnswer.NO_GO
    if ComparisonAnswer.UNKNOWN in answers or not any(each.pairs for each in pairings):
        return ComparisonAnswer.UNKNOWN
    return ComparisonAnswer.GO if answers else ComparisonAnswer.UNJUDGED


def _notes(
    pairings: Iterable[CurveJoin], gates: Iterable[ComparisonGate], short: str
) -> tuple[str, ...]:
    """Why something was not compared, where no gate says so."""
    notes, gate_metrics = [short] if short else [], {gate.metric for gate in gates}
    for each in pairings:
        if not each.pairs and each.metric not in gate_metrics:
            notes.append(f"{each.metric}: no step has it in both runs")
        if each.not_finite_a:
            notes.append(
                f"{each.metric}: A is not finite at {count(each.not_finite_a, 'step')}, at which "
                "B is not judged"
            )
        if each.not_finite_b:
            notes.append(
                f"{each.metric}: B is not finite at {count(each.not_finite_b, 'step')} at which "
                "A is"
            )
        if each.pairs and max(each.only_a, each.only_b):
            notes.append(
                f"{each.metric}: {count(each.only_a, 'step')} in A alone, {each.only_b} in B alone"
            )
    return tuple(notes)
