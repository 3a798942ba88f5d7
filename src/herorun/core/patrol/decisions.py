"""The decision table: what job, training and chain together mean, and what to do. Pure.

Whether the job lives and whether its chain runs are two facts. A chain that waits for the training
proves nothing about a job that is dead, and a job that is gone is no reason to train again once its
training is done.
"""

from enum import StrEnum

from herorun.core.lazy_dataclass import dataclass
from herorun.core.patrol.advice import PatrolState


class JobFact(StrEnum):
    """`ALIVE`: running, or in the queue. `ENDED`: well, by its scheduler's word."""

    ALIVE = "alive"
    ENDED = "ended"
    GONE = "gone"  # ended otherwise, or nowhere to be found
    UNKNOWN = "unknown"


class ChainFact(StrEnum):
    NONE = "none"
    WAITING = "waiting"  # for the end of the training
    RUNNING = "running"  # one of its stages
    FAILED = "failed"
    GONE = "gone"  # it does not run, and gave no reason
    UNKNOWN = "unknown"


class Remedy(StrEnum):
    NOTHING = "nothing"
    REMOVE = "remove the patrol"
    RESUME = "resume the job, and its chain unless that waits"
    CHAIN = "the remaining stages of the chain, and no training"
    FINISH = "what is missing after the training, by hand"
    SAVE = "decide what to do: the job succeeded without complete results"
    CONFIRM = "see what is missing: only the scheduler says that the job succeeded"
    LOOK = "look at the log: the job ended well and does not say that it is done"


@dataclass(frozen=True)
class Decision:
    """One row. An empty tuple stands for any value."""

    job: tuple[JobFact, ...]
    trained: tuple[bool | None, ...]  # None: whether it is could not be read
    chain: tuple[ChainFact, ...]
    state: PatrolState
    remedy: Remedy

    def matches(self, job: JobFact, is_training: bool | None, chain: ChainFact) -> bool:
        rows = ((self.job, job), (self.trained, is_training), (self.chain, chain))
        return all(not allowed_values or value in allowed_values for allowed_values, value in rows)


_ENDED_FACTS = (JobFact.ENDED, JobFact.GONE)
_GOING = (ChainFact.WAITING, ChainFact.RUNNING)
_BROKEN_FACTS = (ChainFact.FAILED, ChainFact.GONE)
# The first row that holds counts. Before them: everything that was declared is there (done), and
# the box could not be reached (unknown).
DECISIONS = (
    # the training is done, whatever became of the job
    Decision((), (True,), _GOING, PatrolState.RUNNING, Remedy.NOTHING),
    Decision((JobFact.ALIVE,), (), (), PatrolState.RUNNING, Remedy.NOTHING),
    Decision((), (True,), _BROKEN_FACTS, PatrolState.DOWN, Remedy.CHAIN),
    Decision((), (True,), (ChainFact.UNKNOWN,), PatrolState.UNKNOWN, Remedy.NOTHING),
    Decision(_ENDED_FACTS, (True,), (ChainFact.NONE,), PatrolState.DOWN, Remedy.FINISH),
    # unknown
    Decision((JobFact.UNKNOWN,), (), (), PatrolState.UNKNOWN, Remedy.NOTHING),
    Decision(_ENDED_FACTS, (None,), (), PatrolState.UNKNOWN, Remedy.NOTHING),
    # it is not done
    Decision((JobFact.ENDED,), (False,), (), PatrolState.DOWN, Remedy.LOOK),
    Decision((JobFact.GONE,), (False,), (), PatrolState.DOWN, Remedy.RESUME),
)


def decision_of(job: JobFact, is_training: bool | None, chain: ChainFact) -> Decision:
    return next(row for row in DECISIONS if row.matches(job, is_training, chain))
