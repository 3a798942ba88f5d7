"""The result of a patrol: one state, and the advice that applies, each with its exact command."""

from enum import StrEnum

from herorun.core.lazy_dataclass import dataclass


class PatrolState(StrEnum):
    RUNNING = "running"
    DONE = "done"
    DOWN = "down"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Advice:
    """One piece of advice. `command` can be typed as it is; it is empty if there is none."""

    row: str
    message: str
    command: str = ""
    critical: bool = True


@dataclass(frozen=True, kw_only=True)
class PatrolCommands:
    """The exact commands of this run."""

    resume: str = ""  # empty if it is unknown how it was submitted
    chain: str = ""  # rebuilds the chain; empty where there is none
    transfer: tuple[tuple[str, str], ...] = ()  # folder there, command
    remove: str = ""  # this patrol
    memory: float = 0.9
    logs: str = ""  # prints the end of the log; empty where herorun did not start the job
    status: str = ""  # shows the run's alerts and orders; empty where `logs` is
    stop: str = ""  # stops the job for good; empty where herorun did not start it
    restart: str = ""  # stops it, and starts it again from its newest checkpoint
    chain_waits: bool = False  # whether the chain's script waits before its first stage
    resume_verb: str = ""  # the command of herorun that `resume` is; empty if it is none
    has_question: bool = False  # herorun asked the DRI what to do with a run that is down
    relaunches_itself: bool = False  # a babysitter here does, if its rules allow it
    stays_down: str = ""  # the order by which nothing relaunches it; empty where there is none
    dri_decides: bool = False  # herorun does not relaunch a run that is down, by its rules
    is_settled: bool = False  # a person or the contract stopped it, or a person denied a relaunch
    chain_log: str = ""  # the path of the chain's log; empty where there is none
    monitor: str = ""  # what monitors the run, for the line; empty where that is unknown
    unmonitored: str = ""  # why it may be unmonitored, and what to do; empty where it is not
    patrol: str = ""  # this command
    doctor: str = ""  # shows which back end answers; empty where herorun did not start the job
    dri: str = ""  # a name, for what the DRI decides
    may_seal: bool = False  # herorun started the job, and the run is not sealed yet
    is_silent: bool = False  # no tick is recorded for so long that a person must act

    def sends(self, path: str) -> str:
        return dict(self.transfer).get(path, "")


@dataclass(frozen=True)
class PatrolAdvice:
    state: PatrolState
    advice: tuple[Advice, ...]
    monitor: str = ""  # as in `PatrolCommands`

    @property
    def code(self) -> int:
        """0 clear, 1 something is to be done, 3 could not look."""
        if self.state is PatrolState.UNKNOWN:
            return 3
        return int(any(each.critical for each in self.advice))
