"""A bound on a difference, set before the comparison: `loss mean <= +0.5%`."""

from enum import StrEnum

from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex

_FORM = lazy_regex(
    r"(?P<metric>\S+)\s+(?P<measure>mean|median|largest)\s+(?P<bound><=|>=|within)\s*"
    r"(?P<size>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?)\s*(?P<percent>%?)"
)
FORM = "METRIC mean|median|largest <=|>=|within NUMBER[%], as in 'loss mean <= +0.5%'"


class Bound(StrEnum):
    """In which direction a difference, B less A, is too much."""

    MOST = "<="
    LEAST = ">="
    WITHIN = "within"


@dataclass(frozen=True)
class ComparisonGate:
    """`size` is of the metric's own unit, or in percent of A's."""

    metric: str
    measure: str  # mean, median or largest
    bound: Bound
    size: float
    percent: bool

    def __str__(self) -> str:
        sign = "" if self.bound is Bound.WITHIN else "+" if self.size >= 0 else ""
        return (
            f"{self.metric} {self.measure} {self.bound} "
            f"{sign}{self.size:g}{'%' if self.percent else ''}"
        )

    def allows(self, difference: float) -> bool:
        """Whether a difference is allowed; one that is not a number never is."""
        if self.bound is Bound.MOST:
            return difference <= self.size
        return (
            difference >= self.size if self.bound is Bound.LEAST else abs(difference) <= self.size
        )


def parse_gate(text: str) -> ComparisonGate:
    """A ValueError says what is wrong.

    >>> str(parse_gate("loss mean <= +0.5%"))
    'loss mean <= +0.5%'
    """
    match = _FORM.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} does not state a limit: write {FORM}")
    gate = ComparisonGate(
        match["metric"],
        match["measure"],
        Bound(match["bound"]),
        float(match["size"]),
        bool(match["percent"]),
    )
    if gate.bound is Bound.WITHIN and gate.size < 0:
        raise ValueError(f"{text!r}: the number after within must be 0 or more")
    return gate
