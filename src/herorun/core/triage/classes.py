"""The vocabulary of triage: classes, roles and strengths."""

from enum import IntEnum, StrEnum


class FailureClass(StrEnum):
    """What kind of failure it is; the recovery policy goes by it."""

    OOM_HOST = "oom-host"
    OOM_ACCELERATOR = "oom-accelerator"
    HBM_EXHAUSTION = "hbm-exhaustion"
    NODE_FAILURE = "node-failure"
    PREEMPTION = "preemption"
    TIMEOUT = "timeout"
    NETWORK_COLLECTIVE = "network-collective"
    DISK_FULL = "disk-full"
    BAD_ACCELERATOR = "bad-accelerator"
    CAPACITY = "capacity"
    HOST_CONTENTION = "host-contention"
    CODE_BUG_SMALL = "code-bug-small"
    CODE_BUG_COMPLEX = "code-bug-complex"
    DATA = "data"
    STORAGE = "storage"
    STORAGE_AUTH = "storage-auth"
    NUMERIC = "numeric"
    REFUSED = "refused"
    NOT_A_FAILURE = "not-a-failure"
    UNKNOWN = "unknown"
    BENIGN = "benign"


QUIET = frozenset({FailureClass.NOT_A_FAILURE, FailureClass.UNKNOWN, FailureClass.BENIGN})


class LineRole(StrEnum):
    """What a line is in the story. Only a root anchors the answer."""

    ROOT = "root"
    CASCADE = "cascade"  # it follows from a root, of this process or of another
    CONFIRMATION = "confirmation"  # it says nothing alone, and settles a faint root
    ADVICE = "advice"  # a tool's guess about causes that it did not see
    BENIGN = "benign"  # it sounds alarming and is not
    RESTART = "restart"  # a new attempt begins here
    LOADING = "loading"  # where the training begins; held against the plan, and no failure
    PROGRESS = "progress"  # many steps were made since the last root, or a retry succeeded
    SUSPECT = "suspect"  # it looks like a failure, and no other row knows it
    SUCCESS = "success"  # it shows that the training runs, or ended as it should


class LoadedState(StrEnum):
    """What a line with the role `loading` says was loaded."""

    SCRATCH = "scratch"  # nothing, and the training continues
    NONE = "none"  # none was found in one place; there may be others
    OLDER = "older"  # not the checkpoint that was tried first
    WEIGHTS = "weights"  # without the optimiser's state and the step
    PART = "part"  # keys were missing or unexpected
    RESUMED = "resumed"


class RootStrength(IntEnum):
    """How much a root explains: the strongest wins, among equals the earliest."""

    FAINT = 0  # that it ended, not why: `Killed`
    SYMPTOM = 1  # often the effect of what another rank or host says: a collective's time-out
    BUG = 2  # an uncaught exception of the program's own
    CAUSE = 3  # it explains the others
