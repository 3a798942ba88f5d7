"""The state of the loss detectors."""

from dataclasses import field

from herorun.core.detectors.baseline import Trend
from herorun.core.detectors.excursion import ExcursionWatch
from herorun.core.detectors.first_rises import FirstRises
from herorun.core.detectors.first_rows import FirstRows
from herorun.core.evidence import Excursion
from herorun.core.lazy_dataclass import dataclass

# Rows after a loss below zero of which only differences are judged: near zero, ratios mean nothing.
SIGNED_ROWS = 500
# Excursions that are shapes of the curve; a spike is a few rows long.
LASTING = (
    "elevated",
    "drift",
    "diverged",
    "regressed",
    "collapsed",
    "emptied",
    "untrained",
    "frozen",
    "shifted",
    "raised",
    "saturated",
)


@dataclass(frozen=True, kw_only=True)
class LevelRise:
    """Rows above those before them, not yet enough to be a shift. Logarithms, but for counts."""

    comparison: int  # with which rows before, see `level_rises.COMPARISONS`
    highest: float  # of those rows
    needed: float  # of evidence
    usual: float  # their median
    rows: int
    total: float  # the sum of the distances above the highest
    top: float  # the largest of these distances
    misses: int = 0


@dataclass(slots=True)
class SignedLevel:
    """The newest rows of a loss that is below zero, or on both sides of zero."""

    losses: list[float] = field(default_factory=list)  # outside of a new level
    steps: list[int] = field(default_factory=list)
    floor: float = 0.0  # a new level lasts while above this
    watch: ExcursionWatch = field(default_factory=ExcursionWatch)


@dataclass(slots=True, kw_only=True)
class LossState:
    """The state of the loss detectors after the rows so far."""

    trend: Trend = field(default_factory=Trend)
    spike: ExcursionWatch = field(default_factory=ExcursionWatch)
    elevated: ExcursionWatch = field(default_factory=ExcursionWatch)
    drift: ExcursionWatch = field(default_factory=ExcursionWatch)
    diverged: ExcursionWatch = field(default_factory=ExcursionWatch)
    regressed: ExcursionWatch = field(default_factory=ExcursionWatch)
    collapsed: ExcursionWatch = field(default_factory=ExcursionWatch)
    emptied: ExcursionWatch = field(default_factory=ExcursionWatch)
    untrained: ExcursionWatch = field(default_factory=ExcursionWatch)
    frozen: ExcursionWatch = field(default_factory=ExcursionWatch)
    shifted: ExcursionWatch = field(default_factory=ExcursionWatch)
    raised: ExcursionWatch = field(default_factory=ExcursionWatch)
    saturated: ExcursionWatch = field(default_factory=ExcursionWatch)
    first_rows: FirstRows = field(default_factory=FirstRows)
    rises: FirstRises = field(default_factory=FirstRises)
    signed_level: SignedLevel = field(default_factory=SignedLevel)
    zeros: int = 0  # rows before this one that were zero
    zeros_from: int = 0  # the step at which the newest stretch of them began
    longest_zeros: int = 0
    longest_zeros_from: int = 0  # its first step
    positive: float = 0.0  # the newest loss above zero
    wobble: float = 0.0  # the recent mean difference of its logarithm from row to row
    before: float = 0.0  # the logarithm of the row before
    newest: float = 0.0
    same: int = 0  # earlier consecutive rows with the same value
    longest_same: int = 0
    changes: int = 0
    smooth: float = 0.0  # a smoothed level that no spike freezes
    low: float = 0.0  # its lowest value since it settled, or since a declared phase
    start: float = 0.0  # the smoothed level when it settled
    lowest: float = 0.0  # the lowest smoothed level ever
    settled: bool = False
    opening: list[float] = field(default_factory=list)
    opened: bool = False  # the opening is complete
    descent: int = 0  # rows until the loss came below half of the opening
    descended: bool = False
    matched: int = 0  # rows that repeat the opening ...
    matched_from: int = 0  # ... from this step on
    stay: int = 0  # rows for which the loss must then stay high
    stayed: int = 0  # rows for which it has
    back_below: float = 0.0  # the logarithm below which the loss is down again
    dips: int = 0  # consecutive rows below that
    restart_rows: int = 0  # remaining rows of an attempt whose step counter begins again
    last_step: int = 0
    # the newest rows outside shifts, as logarithms ...
    recent: list[float] = field(default_factory=list)
    recent_steps: list[int] = field(default_factory=list)  # ... and their steps
    rises_above: list[LevelRise] = field(default_factory=list)  # rises that may become a shift
    shift_floor: float = 0.0  # an open shift continues while above this, as a logarithm
    raised_floor: float = 0.0  # an open raised level continues while above this, as a logarithm
    above: int = 0  # a bit for each of the newest rows: above the one ten rows earlier
    far_below: int = 0  # consecutive rows far below a young trend
    calm: float | None = None  # the highest of the calm rows before a spike of a young curve
    above_zero: bool = False  # some loss so far
    signed: int = 0  # rows until a loss that was below zero is forgotten

    def excursions(self) -> list[Excursion]:
        lasting_ones = [
            each for kind in LASTING for each in getattr(self, kind).excursions(kind, "loss")
        ]
        first_ones = [*self.first_rows.excursions(), *self.rises.excursions()]
        signed_ones = self.signed_level.watch.excursions("stepped", "loss")
        return [*lasting_ones, *first_ones, *signed_ones]
