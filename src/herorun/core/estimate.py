"""What the run is expected to take, before it starts: compute, accelerator-hours, money, time."""

from herorun.core.contract import HERO_FLOPS, Contract
from herorun.core.durations import format_span
from herorun.core.evidence import Nothing, Offered, Unavailable
from herorun.core.lazy_dataclass import dataclass


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """None where it cannot be known from what the contract and the scheduler say."""

    flops: float | None  # model FLOPs
    flops_source: str
    hero: bool
    why: str  # why it is a hero run, or is not
    is_size_known: bool  # whether the contract says what decides that
    accelerator_hours: float | None  # as budgeted
    cost: float | None  # in the money of `[budget] rate`
    wall_hours: float | None  # the budget, shared by all accelerators at once
    time_limit_hours: float | None  # what the scheduler gives one job

    @property
    def short_by(self) -> float | None:
        """Hours that the scheduler's limit lacks; None where it is long enough or not known."""
        if (
            self.wall_hours is None
            or self.time_limit_hours is None
            or self.time_limit_hours >= self.wall_hours
        ):
            return None
        return self.wall_hours - self.time_limit_hours

    @property
    def _hero(self) -> str:
        if self.hero:
            return "yes"
        return "no" if self.is_size_known else "unknown, treated as no"

    def rows(self) -> list[tuple[str, str]]:
        """For people; what is not known is left out."""
        rows = [
            ("model FLOPs", f"{self.flops:g} ({self.flops_source})" if self.flops else ""),
            ("hero run", f"{self._hero}: {self.why}"),
            ("accelerator-hours", f"{self.accelerator_hours:g}" if self.accelerator_hours else ""),
            ("cost", f"{self.cost:,.2f}" if self.cost else ""),
            ("wall time", format_span(3600 * self.wall_hours) if self.wall_hours else ""),
            ("time limit", _limit(self)),
        ]
        return [(name, value) for name, value in rows if value]


def _limit(each: Estimate) -> str:
    if each.time_limit_hours is None:
        return ""
    return f"{format_span(3600 * each.time_limit_hours)}" + (
        f", {format_span(3600 * each.short_by)} too short" if each.short_by else ""
    )


def estimate(contract: Contract, offer: Offered | Nothing | Unavailable) -> Estimate:
    """From the contract's own numbers; nothing is measured."""
    hours, rate, count = (
        contract.budget.accelerator_hours,
        contract.budget.rate,
        contract.hardware.count,
    )
    limit = offer.time_limit if isinstance(offer, Offered) else None
    return Estimate(
        flops=contract.model_flops,
        flops_source=_flops_source(contract),
        hero=contract.is_hero,
        why=_format_size(contract),
        is_size_known=contract.hero is not None or contract.model_flops is not None,
        accelerator_hours=hours,
        cost=hours * rate if hours and rate else None,
        wall_hours=hours / count if hours and count else None,
        time_limit_hours=limit / 3600 if limit is not None else None,
    )


def _flops_source(contract: Contract) -> str:
    if contract.flops is not None:
        return "stated"
    if contract.model_flops is not None:
        return f"6 x {contract.params:g} parameters x {contract.tokens:g} tokens"
    return "not known: the contract states neither `flops`, nor both `params` and `tokens`"


def _format_size(contract: Contract) -> str:
    if contract.hero is not None:
        return f"the contract says hero = {str(contract.hero).lower()}"
    if contract.model_flops is None:
        return "the contract states neither `flops`, nor both `params` and `tokens`"
    side = "at least" if contract.is_hero else "less than"
    return f"{contract.model_flops:g} model FLOPs are {side} {HERO_FLOPS:g}"
