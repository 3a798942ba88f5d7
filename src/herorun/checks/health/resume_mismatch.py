"""The loss after a resume differs from the expected one.

Why: other data, another optimiser state or other arithmetic after a resume is another run under the
same name; a lower loss means data seen twice.
Fix: compare the data position, the seed, the parallel layout and the loaded step with the attempt
before.
Source: 0.002 at equal steps and 1 % after the warm-up are those of marin-community/marin,
manage-hero-run. bigscience-workshop/bigscience loaded one checkpoint of its 176B run in six
parallel layouts. The loss differed by 0.00007 and 0.0019 in two of them, and by 0.0103, 0.0193,
0.0194 and 0.099 in the others; a limit of 1 % alone would find only the last. Two identical GPU
runs of Marin differ by 0.0023 in the median and by 0.061 at most: so the limits grow with the noise
between rows, unless the contract declares a deterministic order of the data.
"""

import math
from dataclasses import replace
from typing import ClassVar

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.contract import Contract
from herorun.core.evidence import History, Metrics, Resume
from herorun.core.finding import Outcome, Verdict, count, failed, not_applicable, passed, unknown
from herorun.core.health.excursion import two_write
from herorun.core.health.resume_point import resume_as_logged, resume_of
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import PositiveFloat, PositiveInt
from herorun.core.notify.escalation import EscalationReason


@dataclass(frozen=True, kw_only=True)
class Limits:
    """An equal step is one that both attempts have. There the check fails if the loss differs by
    more than `median_difference` in the median or in `early_rows` of the first five, or by more
    than `max_difference` at one step. It also fails if the level of `least_level_rows` rows after
    the warm-up differs by the share `level_difference`.

    `median_difference` and `max_difference` apply unchanged if the contract says `[data] order =
    "deterministic"`. Otherwise they are at least `row_sigmas` times the noise between two rows.
    Then fewer than `least_rows` equal steps never fail. `least_mean_rows` equal steps or more fail
    if their mean differs by `level_difference`; if it does not, the resume is verified, although
    the losses of single steps differ.
    `level_difference` is at least `sigmas` times the noise of the mean.
    """

    RENAMED: ClassVar = {
        "once": "max_difference",
        "catch_up": "median_difference",
        "after": "level_difference",
        "least_after": "least_level_rows",
        "least_equal": "least_mean_rows",
    }

    median_difference: PositiveFloat = 0.002
    early_rows: PositiveInt = 3
    max_difference: PositiveFloat = 0.02
    level_difference: PositiveFloat = 0.01
    sigmas: PositiveFloat = 8.0
    least_level_rows: PositiveInt = 50
    row_sigmas: PositiveFloat = 4.0
    least_rows: PositiveInt = 3
    least_mean_rows: PositiveInt = 10


@check(
    Gate.HEALTH,
    Response.ESCALATE,
    topic=Topic.LINEAGE,
    vetoes_relaunch=True,
    asks=EscalationReason.LINEAGE,
)
def resume_mismatch(
    metrics: Metrics, history: History, contract: Contract, limits: Limits
) -> Verdict:
    resume = resume_of(metrics, history)
    if resume is None:
        return not_applicable("no resume of this instance")
    where = f"resume at step {resume.step}"
    if why := two_write(metrics):
        return unknown(why, subject=where)
    if resume.counter_reset:
        return unknown(
            "not comparable: the step count began again, but the loss continued", subject=where
        )
    exact = contract.data.order == "deterministic"
    logged_resume = resume_as_logged(metrics, resume)
    verdict = _equal_steps(logged_resume, exact, limits) or _compare_after_warmup(
        logged_resume, exact, limits
    )
    if verdict.outcome is Outcome.FAIL:
        steps = (resume.first_bad_step or resume.step, max(resume.step, metrics.step))
        verdict = replace(verdict, steps=steps, taints_from=resume.step)
        if logged_resume.step != resume.step:  # the subject counts updates, the message does not
            message = f"{verdict.message}; the resume is at step {metrics.name_step(resume.step)}"
            verdict = replace(verdict, message=message)
    return replace(verdict, subject=where)


def _equal_steps(resume: Resume, exact: bool, limits: Limits) -> Verdict | None:
    """The failure that equal steps show, or None. `exact`: the contract declares the order of the
    data.
    """
    if exact:
        return _mismatch(resume, limits) if _catch_up(resume, limits) else None
    if not resume.level or resume.compared < limits.least_rows:
        return None
    if _catch_up(resume, with_noise := _with_noise(resume, limits)):
        return _mismatch(resume, with_noise)
    if resume.compared >= limits.least_mean_rows and abs(resume.shift) > _shift(resume, limits):
        return failed(_describe_shift(resume, math.expm1(_shift(resume, limits))))
    return None


def _mismatch(resume: Resume, limits: Limits) -> Verdict:
    return failed(_differs(resume, limits))


def _verifies(resume: Resume, exact: bool, limits: Limits) -> bool:
    """Whether equal steps show that the resume is sound: their losses are the same, or the averages
    over enough of them are.
    """
    if exact or not _catch_up(resume, limits):
        return resume.has_overlap
    return resume.compared >= limits.least_mean_rows and bool(resume.level)


def _compare_after_warmup(resume: Resume, exact: bool, limits: Limits) -> Verdict:
    """Judges the resume by the level of the loss after the warm-up."""
    level = (
        f"the loss differs by {math.expm1(resume.offset):+.2%} from the trend, over "
        f"{count(resume.after, 'row')} after "
        "the warm-up"
    )
    if resume.after >= limits.least_level_rows and _level(resume, limits):
        return failed(f"{level}; the limit is {math.expm1(_least(resume, limits)):.2%}")
    if _verifies(resume, exact, limits):
        return passed(f"{_equal(resume)} the losses differ by {resume.median:.5f} in the median")
    if resume.after < limits.least_level_rows:
        return unknown(_not_verified(resume))
    if resume.fall is None and resume.offset < -_least(resume, limits):
        return unknown(f"not comparable: {level}, and there are too few earlier rows")
    if resume.has_overlap:
        return passed(
            "the losses of the steps that both attempts logged differ; other training data at "
            f"these steps would explain it; {level}"
        )
    return passed(f"no step was logged twice, and {level}")


def _not_verified(resume: Resume) -> str:
    """Why neither equal steps nor the level after the warm-up show whether the resume is sound."""
    if resume.has_overlap:
        return (
            f"not verified: {_differs(resume)}; other training data at these steps would explain "
            'it; if the order of the data is fixed, state `[data] order = "deterministic"`'
        )
    if resume.broken:
        return "not comparable: rows are missing after the resume, see `lost-rows`"
    return f"not comparable: no step up to {resume.high_water} was logged twice"


def _with_noise(resume: Resume, limits: Limits) -> Limits:
    """If two attempts train on different data at one step, their losses differ as any two rows
    do.
    """
    noise = limits.row_sigmas * math.sqrt(2) * resume.noise * resume.level
    return replace(
        limits,
        median_difference=max(limits.median_difference, noise),
        max_difference=max(limits.max_difference, 2 * noise),
    )


def _shift(resume: Resume, limits: Limits) -> float:
    """The average difference at equal steps that fails, as a logarithm."""
    noise = limits.sigmas * math.sqrt(2) * resume.noise
    return max(math.log1p(limits.level_difference), noise / math.sqrt(max(resume.compared, 1)))


def _catch_up(resume: Resume, limits: Limits) -> bool:
    early = sum(abs(difference) > limits.median_difference for difference in resume.early)
    usual = resume.compared >= limits.early_rows and resume.median > limits.median_difference
    return early >= limits.early_rows or usual or abs(resume.worst) > limits.max_difference


def _level(resume: Resume, limits: Limits) -> bool:
    """Two-sided; a loss that was falling may have fallen on, half as fast again. Where it is
    unknown how fast it was falling, a lower level says nothing.
    """
    least = _least(resume, limits)
    return resume.offset > least or (
        resume.fall is not None and resume.offset < -least - 1.5 * resume.fall
    )


def _least(resume: Resume, limits: Limits) -> float:
    """The difference of the level that fails, as a logarithm."""
    return max(
        math.log1p(limits.level_difference),
        limits.sigmas * resume.noise / math.sqrt(max(resume.after, 1)),
    )


def _describe_shift(resume: Resume, limit: float) -> str:
    values = _losses(resume)
    most = f", most at step {resume.worst_step} ({values})" if values else ""
    return (
        f"{_equal(resume)} the loss of the new attempt differs by {math.expm1(resume.shift):+.2%} "
        f"on average (limit {limit:.2%}){most}"
    )


def _differs(resume: Resume, limits: Limits | None = None) -> str:
    """Each difference next to its limit, if there are limits."""
    median_limit = f" (limit {limits.median_difference:.4f})" if limits else ""
    notes = [f"limit {limits.max_difference:.4f}" if limits else "", _losses(resume)]
    note = "; ".join(filter(None, notes))
    first = f"; the first difference is at step {resume.first_bad_step}"
    lower = "; the new loss is lower there, perhaps because data was seen twice"
    return (
        f"{_equal(resume)} the losses differ by {resume.median:.4f} in the median{median_limit}, "
        f"and by {abs(resume.worst):.4f} at step {resume.worst_step}{f' ({note})' if note else ''}"
        f"{lower if resume.worst < 0 else ''}{'' if resume.first_bad_step is None else first}"
    )


def _equal(resume: Resume) -> str:
    steps = count(resume.compared, "step")
    return f"over the {steps} up to step {resume.high_water} that both attempts logged,"


def _losses(resume: Resume) -> str:
    """The old and the new loss, if the detectors stored them."""
    if resume.worst_new is None:
        return ""
    return f"{resume.worst_new - resume.worst:.6g} before, {resume.worst_new:.6g} now"
