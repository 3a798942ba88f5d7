"""The environment would send the run's reports elsewhere than the contract says.

Why: W&B's client takes id, project, entity, mode and more from `WANDB_...` variables if the trainer
does not set them; MLflow's client takes server, experiment and run from `MLFLOW_...`: the run
silently reports under another identity, or not at all.
Fix: unset the variable where the job gets it from, or state its value in `[tracker]`.
"""

from herorun.core.check import AtRelaunch, Gate, Response, check
from herorun.core.evidence import TrackerEnvironment
from herorun.core.finding import Verdict, failed, passed
from herorun.core.redaction.scrub import scrub


@check(Gate.LAUNCH, Response.BLOCK, at_relaunch=AtRelaunch.WARN)
def tracker_environment(environment: TrackerEnvironment) -> list[Verdict]:
    """One verdict for each variable that the tracker's client would read."""
    return [
        _judge_variable(name, value, environment.problems.get(name, ""))
        for name, value in environment.variables.items()
    ] or [passed("no variable of the tracker's client would change the run's identity")]


def _judge_variable(name: str, value: str, problem: str) -> Verdict:
    statement = f"{name} is {scrub(value)!r} in the job's environment"
    if problem:
        return failed(f"{statement}, {problem}", subject=name)
    return passed(f"{statement}, which agrees with the contract", subject=name)
