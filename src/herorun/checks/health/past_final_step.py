"""The run trains past its final step, or its trainer expects a different one.

Why: a rounded or doubled number costs a second run, or ends the first one half-way; a progress bar
shows neither.
Fix: compare the final step in the contract with the trainer's own; stop the job (`herorun stop
RUN`), and launch again with the right number.
Source: marin-community/marin, num_train_steps bug: four runs had exactly twice the steps, and one
of them overshot. One row beyond the end, of a last evaluation, is ordinary.
"""

from typing import ClassVar

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.config.trainer_keys import total_steps
from herorun.core.evidence import (
    FinalStep,
    History,
    Metrics,
    Nothing,
    PriorLaunch,
    TrackerIdentity,
    Unavailable,
)
from herorun.core.finding import Verdict, failed, not_applicable, passed
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import NonNegativeInt


@dataclass(frozen=True)
class Limits:
    """Steps past the final step that are allowed."""

    RENAMED: ClassVar = {"beyond": "extra_steps"}

    extra_steps: NonNegativeInt = 1


@check(Gate.HEALTH, Response.ESCALATE, topic=Topic.JOB)
def past_final_step(
    final: FinalStep,
    metrics: Metrics | Nothing,
    history: History,
    prior: PriorLaunch | Nothing,
    identity: TrackerIdentity | Nothing | Unavailable,
    limits: Limits,
) -> list[Verdict]:
    """One verdict for the steps, and one for the tracker's config."""
    if final.value is None:
        return [not_applicable("the final step is unknown")]
    verdicts = []
    if isinstance(metrics, Metrics) and history.wrote(metrics):
        verdicts.append(_by_step(metrics.step, final.value, limits.extra_steps))
    if isinstance(identity, TrackerIdentity):
        verdicts += _by_config(identity, final.value, prior)
    return verdicts or [
        not_applicable(
            "there is neither a row of this instance nor a number of steps in its config"
        )
    ]


def _by_step(step: int, final: int, extra_steps: int) -> Verdict:
    if step > final + extra_steps:
        return failed(f"step {step} is past the final step {final}", subject="step")
    if step > final:
        message = (
            f"step {step} is past the final step {final} by no more than the {extra_steps} that is "
            "allowed; if the trainer counts its first update as step 1, set `[tracker] first_step "
            "= 1`"
        )
        return passed(message, subject="step")
    return passed(f"step {step} is not past the final step {final}", subject="step")


def _by_config(
    identity: TrackerIdentity, final: int, prior: PriorLaunch | Nothing
) -> list[Verdict]:
    """The tracker's config only: the launch gate has judged the plan's own."""
    plan_totals = (
        {totals.value for totals in total_steps(prior.config)}
        if isinstance(prior, PriorLaunch)
        else set()
    )
    totals = total_steps(identity.config)
    if not totals:
        return []
    message = ", ".join(f"{each.key} = {each.value}" for each in totals)
    if any(each.value in {final, *plan_totals} for each in totals):
        return [passed(f"the tracker's config says {message}", subject="config")]
    return [
        failed(
            f"the tracker's config says {message}, but the final step is {final}", subject="config"
        )
    ]
