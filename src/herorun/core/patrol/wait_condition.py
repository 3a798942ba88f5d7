"""The condition of `herorun box wait`, and whether the wait is over. Pure."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum

from herorun.core.durations import format_span
from herorun.core.errors import WrongUse
from herorun.core.evidence import JobState
from herorun.core.health.run_health import RunHealth
from herorun.core.lazy_dataclass import dataclass
from herorun.core.patrol.advice import PatrolState
from herorun.core.patrol.observation import HostObservation, LogEnd

STALL = timedelta(minutes=60)
WORDS = tuple(
    dict.fromkeys(
        [*(state.value for state in PatrolState), *RunHealth, *(s.value for s in JobState)]
    )
)


class WaitOutcome(StrEnum):
    REACHED = "reached"
    OVER = "over"  # it can no longer come, or a person must look
    WAIT = "wait"


@dataclass(frozen=True)
class WaitCondition:
    """One of the three, or the end of everything that was declared."""

    marker: str = ""
    state: str = ""
    step: int | None = None

    def __str__(self) -> str:
        if self.marker:
            return f"marker {self.marker}"
        if self.state:
            return f"state {self.state}"
        return f"step {self.step}" if self.step is not None else "the end"


def condition_of(marker: str | None, state: str | None, step: int | None) -> WaitCondition:
    if sum(each is not None for each in (marker, state, step)) > 1:
        raise WrongUse("Give only one of --marker, --state and --step.")
    if marker is not None and not marker.startswith("/"):
        raise WrongUse(
            f"--marker {marker!r} is not an absolute path on the machine where the job runs."
        )
    if state is not None and state not in WORDS:
        raise WrongUse(f"--state {state!r} is not a state: give one of {', '.join(WORDS)}.")
    if step is not None and step < 0:
        raise WrongUse(f"--step {step} is not a step: give 0 or more.")
    return WaitCondition(marker or "", state or "", step)


def judge_condition(
    condition: WaitCondition,
    observation: HostObservation,
    state: PatrolState,
    facts: Mapping[str, str | int | None],
    still: timedelta,
) -> tuple[WaitOutcome, str]:
    """`facts` is what else is known: `job`, `run` and `step`. A look that saw nothing ends
    nothing.
    """
    if _is_met(condition, observation, state, facts):
        return WaitOutcome.REACHED, f"{condition} is reached"
    if state is PatrolState.UNKNOWN:
        return (
            WaitOutcome.WAIT,
            observation.unreachable or observation.why or "it could not be checked",
        )
    if state is PatrolState.DOWN:
        how = (
            "job succeeded, but the run is not complete" if observation.succeeded else "run is down"
        )
        return WaitOutcome.OVER, f"the {how}{_describe_missed(condition)}"
    if (
        state is PatrolState.DONE and not condition.marker
    ):  # a marker may be made long after the job has ended well
        return WaitOutcome.OVER, f"everything is done{_describe_missed(condition)}"
    if still >= STALL and isinstance(
        observation.log, LogEnd
    ):  # what waits in a queue has no log yet
        return (
            WaitOutcome.OVER,
            f"neither log nor output has changed for {format_span(still)}: check whether it hangs",
        )
    return WaitOutcome.WAIT, f"{condition} is not reached yet"


def _describe_missed(condition: WaitCondition) -> str:
    """What was asked for and did not come; nothing more where only the end was."""
    return "" if condition == WaitCondition() else f", and {condition} was not reached"


def _is_met(
    condition: WaitCondition,
    observation: HostObservation,
    state: PatrolState,
    facts: Mapping[str, str | int | None],
) -> bool:
    if condition.marker:
        return isinstance(observation.awaited_marker, datetime)
    if condition.state:
        return condition.state in (state.value, facts.get("job"), facts.get("run"))
    if condition.step is not None:
        step = max(
            (s for s in (facts.get("step"), _step_in_log(observation)) if isinstance(s, int)),
            default=-1,
        )
        return step >= condition.step
    return state is PatrolState.DONE


def _step_in_log(observation: HostObservation) -> int | None:
    return observation.log.step if isinstance(observation.log, LogEnd) else None
