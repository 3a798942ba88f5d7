"""The learning rate did not continue at its value after the resume.

Why: a schedule that starts again, or that counts other steps, silently changes the trajectory.
Fix: compare the resolved schedule with the previous one, and the step at which the optimiser state
was loaded.
Source: the same step must have the same learning rate; a neighbouring one nearly so.
"""

import math
from typing import ClassVar

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.evidence import History, Metrics
from herorun.core.finding import Verdict, failed, not_applicable, passed, unknown
from herorun.core.health.excursion import two_write
from herorun.core.health.resume_point import resume_of
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import PositiveFloat


@dataclass(frozen=True)
class Limits:
    """Relative differences: at a step that both attempts logged, and at one near it."""

    RENAMED: ClassVar = {"same_step": "same_step_change", "near_step": "near_step_change"}

    same_step_change: PositiveFloat = 0.01
    near_step_change: PositiveFloat = 0.2


@check(Gate.HEALTH, Response.ESCALATE, topic=Topic.LINEAGE, vetoes_relaunch=True)
def learning_rate_jump(metrics: Metrics, history: History, limits: Limits) -> Verdict:
    resume = resume_of(metrics, history)
    if resume is None or resume.rate_after is None:
        return not_applicable("no resume with a learning rate")
    if why := two_write(metrics):
        return unknown(why)
    at, name = metrics.name_step(resume.step), f"resume at step {resume.step}"
    if resume.rate_before is None:
        return unknown(f"no learning rate before the resume at step {at} to compare with")
    least = min(resume.rate_before, resume.rate_after)
    largest = max(resume.rate_before, resume.rate_after)
    jump = largest / least - 1 if least > 0 else (math.inf if largest > 0 else 0.0)
    message = (
        f"learning rate {resume.rate_before:.4g} before and {resume.rate_after:.4g} after the "
        f"resume at step {at}"
    )
    limit = limits.same_step_change if resume.rate_exact else limits.near_step_change
    if jump > limit:
        return failed(
            f"{message}; the limit is a difference of {limit:.0%}",
            subject=name,
        )
    return passed(message, subject=name)
