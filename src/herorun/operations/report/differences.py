"""The result of a comparison, as a document and as lines for people."""

from herorun.core.compare.join import CurveJoin
from herorun.core.compare.operand import Operand
from herorun.core.compare.verdict import ComparisonAnswer, RunComparison
from herorun.core.finding import count
from herorun.core.lazy_dataclass import dataclass
from herorun.schemas.evaluations import CompareDocument


@dataclass(frozen=True)
class CompareOutcome:
    """What two runs, instances or files differ in, and whether the gates hold."""

    a: Operand
    b: Operand
    kind: str  # repeat, resume, change or curves
    comparison: RunComparison
    differs: tuple[str, ...] = ()

    @property
    def code(self) -> int:
        return {ComparisonAnswer.NO_GO: 1, ComparisonAnswer.UNKNOWN: 3}.get(
            self.comparison.answer, 0
        )

    def document(self) -> CompareDocument:
        return CompareDocument.of(
            self.comparison,
            a=self.a.name,
            b=self.b.name,
            kind=self.kind,
            verdict=self.comparison.answer,
            window=[self.comparison.first, self.comparison.last],
            config_differences=self.differs,
            untested=self.comparison.unexercised,
        )

    def lines(self) -> list[str]:
        result = self.comparison
        lines = [
            (
                f"{self.b.name} against {self.a.name}, steps {result.first} to {result.last} "
                f"({KINDS[self.kind]})"
            )
        ]
        for each in result.metrics:
            if each.pairs:
                lines += _metric(each, noise=self.kind in ("repeat", "resume"))
        lines += [_gate(each.gate, each.answer, each.measured, each.why) for each in result.gates]
        lines += [f"differs in the plan: {change}" for change in self.differs]
        lines += [f"not tested: {each}" for each in result.unexercised]
        lines += [f"note: {each}" for each in result.notes]
        return [*lines, _answer(result)]


KINDS = {
    "repeat": "a repeat: the plans are equal, so differences should be noise only",
    "resume": (
        "two instances of one run, so differences at equal steps are noise, or a wrong resume"
    ),
    "change": "their plans differ",
    "curves": "two curves",
}
NO_VERDICT = (
    "no verdict, because no gate is set; exit code 0 does not mean go. Set one with --gate, or in "
    "the contract's [compare] gates"
)


def _answer(result: RunComparison) -> str:
    """The verdict; one that is no go names its gates, whose lines say why. A go says what the
    window left untested.
    """
    if result.answer is ComparisonAnswer.UNJUDGED:
        return NO_VERDICT
    names = "; ".join(gate.gate for gate in result.gates if gate.answer is result.answer)
    if result.answer is ComparisonAnswer.UNKNOWN:
        return f"not comparable: {names or 'for the reasons above'}"
    gates = count(len(result.gates), "gate")
    if result.answer is ComparisonAnswer.NO_GO:
        failures = sum(gate.answer is result.answer for gate in result.gates)
        return f"no-go: {failures} of {len(result.gates)} gates failed: {names}"
    gaps = " (see `not tested`)" if result.unexercised else ""
    return f"go: {gates} passed{gaps}"


def _metric(pairing: CurveJoin, noise: bool) -> list[str]:
    percent = pairing.percent("mean")
    by = f", {percent:+.3g}%" if percent is not None else ""
    largest = f"largest {pairing.largest:+.6g} at step {pairing.largest_step}"
    means = f"mean {pairing.mean_a:.6g} -> {pairing.mean_b:.6g} ({pairing.mean:+.6g}{by})"
    lines = [
        (
            f"  {pairing.metric}: {means}, median {pairing.median:+.6g}, {largest}; "
            f"{count(pairing.pairs, 'common step')}"
        )
    ]
    if noise:
        first = (
            f", the first difference at step {pairing.first_difference}"
            if pairing.first_difference is not None
            else ""
        )
        lines.append(
            f"    determinism noise: {pairing.equal} of {count(pairing.pairs, 'step')} are equal "
            f"to the last bit, the median difference is {pairing.median_difference:.3g}{first}"
        )
    return lines


def _gate(gate: str, answer: ComparisonAnswer, measured_change: float | None, why: str) -> str:
    unit = "%" if gate.endswith("%") else ""
    value = f"{measured_change:+.3g}{unit}" if measured_change is not None else ""
    details = "; ".join(part for part in (value, why) if part)
    return f"  gate {gate}: {answer}" + (f" ({details})" if details else "")
