"""The run trains past its final step, or its trainer expects a different one.

Why: a rounded or doubled number costs a second run, or ends the first one half-way; a progress bar
shows neither.
Fix: compare the final step in the contract with the trainer's own; stop it, and launch again with
the right number.
Source: marin-community/marin, num_train_steps bug: four runs had exactly twice the steps, and one
of them overshot. One row beyond the end, of a last evaluation, is ordinary.
"""

from pydantic import NonNegativeInt

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


@dataclass(frozen=True)
class Limits:
    """Rows beyond the final step that are no overshoot."""

    beyond: NonNegativeInt = 1


@check(Gate.HEALTH, Response.ESCALATE, topic=Topic.JOB)
def past_final_step(
    final: FinalStep,
    metrics: Metrics | Nothing,
    history: History,
    prior: PriorLaunch | Nothing,
    identity: TrackerIdentity | Nothing | Unavailable,
    limits: Limits,
) -> list[Verdict]:
    """One answer each for the steps and for the tracker's config."""
    if final.value is None:
        return [not_applicable("the final step is unknown")]
    found = []
    if (
        isinstance(metrics, Metrics)
        and history.wrote(metrics)
        and metrics.step > final.value + limits.beyond
    ):
        found.append(
            failed(f"step {metrics.step} is past the final step {final.value}", subject="step")
        )
    if isinstance(identity, TrackerIdentity):
        found += _by_config(identity, final.value, prior)
    return found or [passed(f"the final step is {final.value}")]


def _by_config(
    identity: TrackerIdentity, final: int, prior: PriorLaunch | Nothing
) -> list[Verdict]:
    """What the plan's own config says was judged at the launch gate."""
    admitted = (
        {told.value for told in total_steps(prior.config)}
        if isinstance(prior, PriorLaunch)
        else set()
    )
    told = total_steps(identity.config)
    if not told or any(each.value in {final, *admitted} for each in told):
        return []
    said = ", ".join(f"{each.key} = {each.value}" for each in told)
    return [
        failed(f"the tracker's config says {said}, and the final step is {final}", subject="config")
    ]
