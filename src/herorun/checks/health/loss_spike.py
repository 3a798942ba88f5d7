"""The loss is far above its expected trend, and stays there.

Why: a lasting spike is a numerical problem; relaunching it as a hardware fault wastes the budget.
Fix: the DRI decides: wait, roll back (`herorun rollback RUN --to STEP --stop-first`; STEP: see
`herorun checkpoints list RUN`), or skip data.
Source: the 50 % above the trend and the 10 steps are from marin-community/marin, manage-hero-run.
The limits of noise are set on the public curves of docs/backtest.md: with them, no clean or noisy
curve there raises a false alarm.

It fires if one line of this table holds for the newest rows. Of several rows before, the highest
is compared.

| newest rows            | height                | compared with         | condition             |
| ---------------------- | --------------------- | --------------------- | --------------------- |
| 3, over 10 steps       | 1.5 times             | trend                 | no generator          |
| 3                      | 3 times               | trend                 |                       |
| 2, over 100 steps      | one at 10 times       | trend                 |                       |
| 1                      | 300 times             | trend, 0.1 at least   |                       |
| 1                      | 10 times              | 3 or more rows before | first                 |
| 1                      | 3 times               | 4 rows before         | first, within 10 %    |
| 2                      | 3 times, norm as well | 4 rows before         | first                 |
| 3                      | 2 times               | 3 rows before         | first, within 20 %    |
| 3                      | 1.5 times             | 4 rows before         | first, within 10 %    |
| 3, each above the last | 2 times               | 2 rows before         | first, fallen by 3    |
| 8, each above the last | last at 2 times       | first of the 8        | first, fallen by 1.25 |
| 1                      | 100 times             | all rows before       | late                  |
| 2                      | 10 times              | all rows before       | late                  |
| 5                      | 1.5 times             | 2 or more rows before | late, within 10 %     |
| 3                      | 2 times               | 8 rows before         | level, within twice   |
| 5                      | 1.5 times             | 8 rows before         | level, within twice   |
| 10                     | median at 1.5 times   | median of 30 before   | level, above          |
| 3                      | 1.15 times            | 4 rows before         | level, bend           |
| 3 or more              | mean at 1.22 times    | median of N before    | level, sum            |
| 5                      | one range             | 30 rows before        | below zero            |

- no generator: not for a loss that began at ln 2 and has not fallen since, which may be a
  generator's, and not where the judged loss is one of a pair such as `loss_gen` and `loss_dis`, of
  models that are trained against each other; `loss-elevated` warns about it.
- first: among the first 30 rows, which have no trend. Losses below 0.1 count only in the line of
  the eight rows.
- fallen by: an earlier row (the run's first, for the eight rows) is so many times the compared row.
- late: first, in a record that begins in the middle of a training.
- within: the rows before are so near to each other.
- level: a new level needs no trend. It counts once it has 3 rows and 10 steps, or 3 rows at three
  times the usual loss.
- above: each of the ten is also above all but one of the 30, and 20 % above their median.
- bend: in the first 60 rows, above 0.1. The rise is also seven times the median, and twice the
  maximum, of the distances of the 12 rows before from the line between their neighbours.
- sum: without its highest row, the mean is also 15 % above the highest of the N rows, H. The sum of
  ln(row / H) is at least 1, and at least F x ln(H / L), where L is the lowest of the N rows. F is 6
  for N = 30, 15 for N = 20, 45 for N = 12, and 40 for N = 8; in the first 80 rows 6, 8, 10 and 15,
  if H / L is at most 1.5. Of the 30 rows, one outlier on each side is left out. They are also
  compared with rows that come 30 rows later, if the loss has fallen since the first rows. If the
  median of the N rows is below 0.1, H / L must be at most 3.
- below zero: the loss is, or was in one of the 500 rows before. The range leaves out one outlier on
  each side.

One odd row is no spike, unless it is enormous: of 285 quiet public curves at five row rates, the
highest is at 47 times. A spike of BLOOM's 13B run has 5 rows in 50 steps, since a run may log every
10 steps. Two rows over 100 steps are a spike, because healthy runs have recovered by then.
"""

import math
from typing import ClassVar

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.detectors.first_rises import NEAR_ZERO
from herorun.core.detectors.loss import RATIO
from herorun.core.evidence import Excursion, History, Metrics
from herorun.core.finding import Verdict, count
from herorun.core.health.excursion import format_rise, judge_excursions
from herorun.core.health.first_losses import may_rise
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import PositiveFloat, PositiveInt


@dataclass(frozen=True, kw_only=True)
class Limits:
    """An excursion begins 50 % above the trend, and fails if it lasts for `steps` and `least_rows`,
    or if its mean is `fast_ratio` times the expected loss for `fast_rows`.

    Its mean must also be above the trend by at least `noise_ratio` times the noise. The distance /
    noise x sqrt(rows) must be at least `sigmas`, or `few_sigmas` for up to `few_rows` rows. An
    excursion whose peak is `leap_ratio` times the expected loss also fails after `leap_rows` and
    `leap_steps`; one whose peak is `huge_ratio` times it, and `huge_ratio` times 0.1, fails at
    once.
    """

    RENAMED: ClassVar = {"noises": "noise_ratio"}

    steps: PositiveInt = 10
    least_rows: PositiveInt = 3
    fast_ratio: PositiveFloat = 3.0
    fast_rows: PositiveInt = 3
    sigmas: PositiveFloat = 7.0
    few_rows: PositiveInt = 3  # an excursion of no more rows than these ...
    few_sigmas: PositiveFloat = 9.0  # ... must stand out by more
    noise_ratio: PositiveFloat = 2.5  # its mean height over the noise, however many its rows
    leap_ratio: PositiveFloat = 10.0  # its peak ...
    leap_rows: PositiveInt = 2  # ... of so many rows at least
    leap_steps: PositiveInt = 100
    huge_ratio: PositiveFloat = 300.0  # its peak, in a single row


@check(Gate.HEALTH, Response.ESCALATE, topic=Topic.METRIC, vetoes_relaunch=True)
def loss_spike(metrics: Metrics, history: History, limits: Limits) -> list[Verdict]:
    """One verdict for each excursion that is open, or ended since the last tick."""

    def lasts(spike: Excursion) -> bool:
        """An excursion that was high enough still counts when it continues lower, until it ends."""
        if spike.kind == "stepped":
            return not (spike.declared or metrics.rival)
        return early(spike) or leapt(spike) or huge(spike) or stayed(spike)

    def early(spike: Excursion) -> bool:
        high = spike.peak >= limits.fast_ratio or not may_rise(metrics, spike.expected)
        return spike.kind == "risen" and high

    def leapt(spike: Excursion) -> bool:
        long = spike.rows >= limits.leap_rows and spike.steps >= limits.leap_steps
        high = spike.peak >= limits.leap_ratio
        return long and high and math.log(spike.peak) >= limits.few_sigmas * spike.noise

    def huge(spike: Excursion) -> bool:
        least = limits.huge_ratio * max(spike.expected, NEAR_ZERO)
        high = spike.expected * spike.peak >= least
        return high and math.log(spike.peak) >= limits.few_sigmas * spike.noise

    def stayed(spike: Excursion) -> bool:
        slow = spike.steps >= limits.steps and spike.rows >= limits.least_rows
        slow = slow and not may_rise(metrics, spike.expected)
        fast = spike.height >= limits.fast_ratio and spike.rows >= limits.fast_rows
        needed_sigmas = limits.few_sigmas if spike.rows <= limits.few_rows else limits.sigmas
        beyond_noise = spike.height >= math.exp(limits.noise_ratio * spike.noise)
        if spike.declared and spike.height < RATIO:
            return False  # a new level that was announced
        return (slow or fast) and spike.sigmas >= needed_sigmas and beyond_noise

    def limit(spike: Excursion) -> str:
        """Excursions that are not measured against a trend have several rules: the page lists
        them.
        """
        page = "the table of `herorun explain loss-spike`"
        if spike.kind == "risen":
            return f"in the lines `first` and `late` of {page}"
        if spike.kind == "stepped":
            return "once that range, for 5 rows"
        if spike.kind == "shifted":
            return f"in the lines `level` of {page}"
        return (
            f"{RATIO:g} times the expected loss for {count(limits.steps, 'step')}, "
            f"{limits.fast_ratio:g} times for {count(limits.fast_rows, 'row')}, "
            f"{limits.leap_ratio:g} times for {count(limits.leap_steps, 'step')}, or "
            f"{limits.huge_ratio:g} times for 1 row"
        )

    excursions = (*metrics.spikes, *metrics.of("shifted", "risen", "stepped"))
    return judge_excursions(
        metrics,
        history,
        excursions,
        lasts,
        "no lasting spike",
        describe=format_rise,
        limit=limit,
        check="loss-spike",
    )
