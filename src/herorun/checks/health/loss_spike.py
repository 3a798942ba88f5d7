"""The loss is far above its expected trend, and stays there.

Why: a lasting spike is a numerical problem; relaunching it as a hardware fault wastes the budget.
Fix: the DRI decides: wait, roll back (`herorun rollback RUN --to STEP --stop-first`; STEP: see
`herorun checkpoints list RUN`), or skip data.
Source: the 50 % above the trend and the 10 steps are from marin-community/marin, manage-hero-run.
The limits of noise are set on the public curves of docs/backtest.md: with them, no clean or noisy
curve there raises a false alarm.

With a trend:

- It needs 3 rows, because a run may log every 10 steps: the spike of BLOOM's 13B run has 5 rows in
  50 steps, and one odd row is no spike.
- 3 rows at three times the expected loss are a spike.
- 2 rows at ten times the expected loss are a spike if they are 100 steps apart: healthy runs have
  recovered by then.
- A loss that began at ln 2 and has not fallen since may be a generator's, which rises as its
  discriminator learns: only three times the expected loss counts; `loss-elevated` warns about less.

In the first 30 rows, which have no trend:

- 1 row is a spike at ten times all rows before it, if these are at least three, or at three times
  the four rows before it, if these are within 10 %.
- 2 rows are a spike at three times the four rows before them, if the gradient norm rises as much.
- 3 rows are a spike at twice the three rows before them, if these are within 20 %, or at 1.5 times
  the four rows before them, if these are within 10 %.
- 8 rows are a spike if each is above the one before, the eighth is at twice the first of them, and
  the run began at 1.25 times the first of them. Only this rule judges losses below 0.1.
- 3 rows are a spike if each is above the one before, the first is at twice both rows before it, and
  an earlier row was at three times these two.

In the first 30 rows of a record that begins in the middle of a training, these are spikes as well:

- 1 row at a hundred times all rows before it, and 2 rows at ten times.
- 5 rows at 1.5 times all rows before them, if these are at least two and within 10 %.

A new level needs no trend. It counts once it has 3 rows and 10 steps, or 3 rows at three times the
usual loss, if one of these holds:

- The mean of its rows without the highest is 22 % above the median of the N rows before, and 15 %
  above their highest, H. The sum of ln(row / H) over its rows is at least 1, and at least
  F x ln(H / L), where L is the lowest of the N rows. F is 6 for N = 30, 15 for N = 20, 45 for
  N = 12, and 40 for N = 8. In the first 80 rows F is 6, 8, 10 and 15, if H / L is at most 1.5. Of
  the 30 rows, one outlier on each side is left out. They are also compared with rows that come 30
  rows later, if the loss has fallen since the first rows. If the median of the N rows is below 0.1,
  H / L must be at most 3.
- 3 rows are at twice the highest of the eight rows before, or 5 rows at 1.5 times, if the eight are
  within a factor of two.
- Each of 10 rows is above all but one of the 30 rows before, and 20 % above their median. The
  median of the 10 rows is 50 % above the median of the 30.
- Among the first 60 rows, 3 rows are 15 % above the four before. That is also seven times the
  median, and twice the maximum, of the distances of the 12 rows before from the line between their
  neighbours. The highest of the four is above 0.1.

A loss below zero, or that was below zero in one of the 500 rows before, has no such ratios. There 5
rows are a new level if each is above the highest of the 30 rows before by more than the range of
those, of which one outlier on each side is left out.
"""

import math

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.detectors.loss import RATIO
from herorun.core.evidence import Excursion, History, Metrics
from herorun.core.finding import Verdict, count
from herorun.core.health.excursion import format_ratio, format_step, judge_excursions
from herorun.core.health.first_losses import may_rise
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import PositiveFloat, PositiveInt


@dataclass(frozen=True)
class Limits:
    """An excursion begins 50 % above the trend, and fails if it lasts for `steps` and `least_rows`,
    or if its mean is `fast_ratio` times the expected loss for `fast_rows`.

    Its mean must also be above the trend by at least `noises` times the noise. The distance / noise
    x sqrt(rows) must be at least `sigmas`, or `few_sigmas` for up to `few_rows` rows. An excursion
    whose peak is `leap_ratio` times the expected loss also fails after `leap_rows` and
    `leap_steps`.
    """

    steps: PositiveInt = 10
    least_rows: PositiveInt = 3
    fast_ratio: PositiveFloat = 3.0
    fast_rows: PositiveInt = 3
    sigmas: PositiveFloat = 7.0
    few_rows: PositiveInt = 3  # an excursion of no more rows than these ...
    few_sigmas: PositiveFloat = 9.0  # ... must stand out by more
    noises: PositiveFloat = 2.5  # its mean height over the noise, however many its rows
    leap_ratio: PositiveFloat = 10.0  # its peak ...
    leap_rows: PositiveInt = 2  # ... of so many rows at least
    leap_steps: PositiveInt = 100


@check(Gate.HEALTH, Response.ESCALATE, topic=Topic.METRIC, vetoes_relaunch=True)
def loss_spike(metrics: Metrics, history: History, limits: Limits) -> list[Verdict]:
    """One verdict for each excursion that is open, or ended since the last tick."""

    def lasts(spike: Excursion) -> bool:
        """An excursion that was high enough still counts when it continues lower, until it ends."""
        if spike.kind == "stepped":
            return not spike.declared
        return early(spike) or leapt(spike) or stayed(spike)

    def early(spike: Excursion) -> bool:
        high = spike.peak >= limits.fast_ratio or not may_rise(metrics.opening, spike.expected)
        return spike.kind == "risen" and high

    def leapt(spike: Excursion) -> bool:
        long = spike.rows >= limits.leap_rows and spike.steps >= limits.leap_steps
        high = spike.peak >= limits.leap_ratio
        return long and high and math.log(spike.peak) >= limits.few_sigmas * spike.noise

    def stayed(spike: Excursion) -> bool:
        slow = spike.steps >= limits.steps and spike.rows >= limits.least_rows
        slow = slow and not may_rise(metrics.opening, spike.expected)
        fast = spike.height >= limits.fast_ratio and spike.rows >= limits.fast_rows
        needed_sigmas = limits.few_sigmas if spike.rows <= limits.few_rows else limits.sigmas
        beyond_noise = spike.height >= math.exp(limits.noises * spike.noise)
        if spike.declared and spike.height < RATIO:
            return False  # a new level that was announced
        return (slow or fast) and spike.sigmas >= needed_sigmas and beyond_noise

    def limit(spike: Excursion) -> str:
        """Excursions that are not measured against a trend have several rules: the page lists
        them.
        """
        if spike.kind == "risen":
            return "one for the first 30 rows: see `herorun explain loss-spike`"
        if spike.kind == "stepped":
            return "once that range, for 5 rows"
        if spike.kind == "shifted":
            return "one for a new level: see `herorun explain loss-spike`"
        return (
            f"{RATIO:g} times the expected loss for {count(limits.steps, 'step')}, "
            f"{limits.fast_ratio:g} times for {count(limits.fast_rows, 'row')}, or "
            f"{limits.leap_ratio:g} times for {count(limits.leap_steps, 'step')}"
        )

    def describe(spike: Excursion) -> str:
        return format_step(spike) if spike.kind == "stepped" else format_ratio(spike)

    excursions = (*metrics.spikes, *metrics.of("shifted", "risen", "stepped"))
    return judge_excursions(
        metrics,
        history,
        excursions,
        lasts,
        "no lasting spike",
        describe=describe,
        limit=limit,
        check="loss-spike",
    )
