"""Classes of reasons why a job waits, by patterns in the schedulers' messages. The first match
decides.
"""

import re
from enum import StrEnum

from herorun.core.lazy_regex import lazy_regex


class Waiting(StrEnum):
    EXPECTED = "expected"  # the wait was requested
    QUOTA = "quota"
    PEER = "peer unreachable"
    GANG = "gang gating"
    HARDWARE = "wrong hardware"
    CAPACITY = "capacity"
    NEVER = "can never start"
    UNSTATED = "no reason given"
    OTHER = "unclassified"


ADVICE = {
    Waiting.QUOTA: "ask the person who sets the quota",
    Waiting.PEER: "check whether the other cluster answers, and whether the job runs there already",
    Waiting.GANG: "check which of its parts has no place",
    Waiting.HARDWARE: (
        "compare the accelerator, count and topology of the request with what there is"
    ),
    Waiting.CAPACITY: "other capacity may start it sooner",
    Waiting.NEVER: "stop it, fix the cause, and submit it again",
    Waiting.UNSTATED: "look at the job in the scheduler",
    Waiting.OTHER: "look at the job in the scheduler",
}

# Slurm's reasons, Kueue's and Kubernetes' conditions, Ray's and Iris' words.
PATTERNS: tuple[tuple[Waiting, str], ...] = (
    (
        Waiting.NEVER,
        (
            r"\bDependencyNeverSatisfied\b|\b(ErrImagePull|ImagePullBackOff|ErrImageNeverPull"
            r"|InvalidImageName|ImageInspectError|CreateContainer(Config)?Error|CrashLoopBackOff"
            r"|RunContainerError|StartError)\b"
        ),
    ),
    (
        Waiting.EXPECTED,
        r"\bDependency\b|\bBeginTime\b|\bJobArrayTaskLimit\b|\bJobHeldUser\b|maintenance",
    ),
    (
        Waiting.PEER,
        (
            r"pending on peer|peer .{0,40}unreachable|reachable ?= "
            r"?false|QUEUED_HANDOFF|heartbeat (is )?stale"
        ),
    ),
    (Waiting.QUOTA, r"\bQOS|\bAssoc(Grp|Max|iation)|quota|MaxCpuPer|MaxGRESPer|limit exceeded"),
    (
        Waiting.HARDWARE,
        (
            r"\bBadConstraints\b|PartitionConfig|\bPartition(Node|Time)Limit\b|node configuration "
            r"is not available"
            r"|no nodes? (match|satisf)|unknown (accelerator|tpu|gpu)|no scale "
            r"group|(invalid|unsupported) .{0,20}(tpu|gpu|accelerator|topology|slice)"
            r"|didn't match Pod's node affinity"
        ),
    ),
    (Waiting.GANG, r"\bSchedulingGated\b|gang|co-?schedul|all[- ]or[- ]nothing|minMember"),
    (
        Waiting.CAPACITY,
        r"\bResources\b|\bPriority\b|\bReqNodeNotAvail\b|\bNodeDown\b|\bPartition(Down|Inactive)\b|are DOWN, DRAINED|scale-?up|insufficient|capacity|unsatisf|stockout|no free|Unschedulable",  # noqa: E501  # one pattern
    ),
)
_COMPILED_PATTERNS = tuple((kind, lazy_regex(pattern, re.IGNORECASE)) for kind, pattern in PATTERNS)


def why_waiting(reason: str) -> Waiting:
    """
    >>> why_waiting("AssocGrpGRES").value
    'quota'
    """
    if not reason.strip() or reason.strip().lower() == "none":
        return Waiting.UNSTATED
    return next(
        (kind for kind, pattern in _COMPILED_PATTERNS if pattern.search(reason)), Waiting.OTHER
    )
