"""Reduces an observation to one state: only a declared end is done, and unknown is never down.
Pure.
"""

from herorun.core.clock_skew import SKEW
from herorun.core.health.run_health import RunHealth
from herorun.core.patrol.advice import PatrolState
from herorun.core.patrol.decisions import ChainFact, JobFact, Remedy, decision_of
from herorun.core.patrol.observation import (
    ChainState,
    HostObservation,
    Liveness,
    LogEnd,
    MachineUnread,
)
from herorun.core.remote.job_chain import WAIT


def patrol_state_of(observation: HostObservation) -> PatrolState:
    """Done is what is declared to be done, never the mere end of a process; unknown is never
    down.
    """
    return decided_on(observation)[0]


def decided_on(observation: HostObservation) -> tuple[PatrolState, Remedy]:
    """By the table, after what needs none."""
    if observation.unreachable:
        return PatrolState.UNKNOWN, Remedy.NOTHING
    is_done = all_done(observation)
    if is_done:
        return PatrolState.DONE, Remedy.REMOVE
    if is_success_alone(observation):
        return _by_health(observation)
    is_training = trained_of(observation)
    if is_done is None and not is_training:
        is_training = None  # a sign that could not be read may be there
    row = decision_of(job_fact_of(observation), is_training, chain_fact(observation))
    return row.state, row.remedy


def _by_health(observation: HostObservation) -> tuple[PatrolState, Remedy]:
    """A trainer may end with 0 before its final step; herorun knows that step for jobs that it
    launched.
    """
    if observation.launched_at is None or observation.health is RunHealth.FINISHED:
        return PatrolState.DONE, Remedy.REMOVE
    if observation.health is RunHealth.DOWN:
        return PatrolState.DOWN, Remedy.RESUME
    if observation.health is RunHealth.DEGRADED:  # of a job that succeeded: see `AT_THE_END`
        return PatrolState.DOWN, Remedy.SAVE
    return PatrolState.UNKNOWN, Remedy.CONFIRM


def is_success_alone(observation: HostObservation) -> bool:
    """Whether the scheduler's success is the only sign: nothing was declared."""
    return (
        observation.succeeded and observation.alive is Liveness.NO and not _has_signs(observation)
    )


def job_fact_of(observation: HostObservation) -> JobFact:
    if observation.alive is not Liveness.NO:
        return JobFact.ALIVE if observation.alive is Liveness.YES else JobFact.UNKNOWN
    return JobFact.ENDED if observation.succeeded else JobFact.GONE


def chain_fact(observation: HostObservation) -> ChainFact:
    chain = observation.chain
    if chain is None:
        return ChainFact.NONE
    if isinstance(chain, MachineUnread):
        return ChainFact.UNKNOWN
    if chain.runs:
        return ChainFact.RUNNING if _is_stage(chain.stage) else ChainFact.WAITING
    return ChainFact.FAILED if chain.failed else ChainFact.GONE


def trained_of(observation: HostObservation) -> bool | None:
    """Whether the training itself is done: by its words, by a chain that has got behind its wait,
    or by the scheduler where no words were declared. None: the words could not be looked for, or a
    person started a chain that waits for nothing, and nothing else shows why.
    """
    chain = observation.chain
    stage = chain if isinstance(chain, ChainState) and _is_stage(chain.stage) else None
    if stage and stage.waits:
        return True
    log = observation.log
    if isinstance(log, LogEnd) and log.done is not None:
        return log.done
    if isinstance(log, MachineUnread) and observation.has_success_pattern:
        return None
    is_success = observation.alive is Liveness.NO and observation.succeeded
    return None if stage and not is_success else is_success


def _is_stage(stage: str) -> bool:
    """A chain of an older herorun does not say where it is: nothing follows from that."""
    return stage not in ("", WAIT)


def fresh(observation: HostObservation, path: str) -> bool | None:
    """Whether a marker is there, and of this run; None if it could not be read."""
    marker = observation.markers[path]
    if isinstance(marker, MachineUnread):
        return None
    return marker is not None and (
        observation.launched_at is None or marker >= observation.launched_at - SKEW
    )


def all_done(observation: HostObservation) -> bool | None:
    """Every sign that was declared: markers, words of success, results, copies. None: one could not
    be seen.
    """
    signs = _signs(observation)
    if False in signs:
        return False
    return None if None in signs else bool(signs)


def _signs(observation: HostObservation) -> list[bool | None]:
    signs = [fresh(observation, path) for path in observation.markers]
    signs += [
        None if isinstance(each, MachineUnread) else each is not None
        for each in observation.results.values()
    ]
    if isinstance(observation.log, LogEnd) and observation.log.done is not None:
        signs.append(observation.log.done)
    return signs + [copy.is_complete for copy in observation.copies] if signs else []


def _has_signs(observation: HostObservation) -> bool:
    return bool(_signs(observation))
