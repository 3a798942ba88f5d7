"""What a person is asked: why the decision is theirs, and the possible commands."""

import shlex
from enum import StrEnum

from herorun.core.lazy_dataclass import dataclass


class EscalationReason(StrEnum):
    """What a person decides and no machine, as the question says it in brackets."""

    JUDGEMENT = "what the run does next"
    SPEND = "whether to spend more compute"
    LINEAGE = "which checkpoint to continue from"
    CLUSTER = "what to change on the cluster"
    UNVERIFIED = "what to do about a state that herorun cannot verify"


class Option(StrEnum):
    """One thing that a person can do about it."""

    APPROVE = "approve"
    DENY = "deny"
    ACK = "ack"
    STOP = "stop"
    RELAUNCH = "relaunch"
    STOP_AND_RELAUNCH = "relaunch --stop-first"
    ROLLBACK = "rollback --to STEP"
    STOP_AND_ROLLBACK = "rollback --to STEP --stop-first"
    LAUNCH = "launch"
    PREFLIGHT = "preflight"
    FORK = "fork --from STEP"
    TAKE = "handoff --take"


QUESTION_WAYS = (Option.APPROVE, Option.DENY)
_EFFECTS = {
    Option.APPROVE: "yes: the babysitter does it at the next tick",
    Option.DENY: "no: the run stays down, and its babysitter may end",
    Option.ACK: "acknowledge it: no more reminders",
    Option.STOP: "stop the job",
    Option.PREFLIGHT: "see what blocks a launch with the code and the checkpoint of your choice",
    Option.TAKE: "monitor it from this machine",
}
ACK_WHILE_DOWN = "acknowledge it: no more reminders, and its babysitter may end"
_VERSION_EFFECTS = {
    Option.APPROVE: "yes: this version acts from the next tick on",
    Option.DENY: "no: this version only observes",
}


@dataclass(frozen=True)
class ProposedCommand:
    """A command that works now, and what it does."""

    command: str
    effect: str


def proposal(way: Option, slug: str, about: str = "", ask: bool = True) -> ProposedCommand:
    """The proposed command of an option that needs no checkpoint; without `ask`, an answer is about
    a version of herorun.
    """
    effects = _EFFECTS if ask else {**_EFFECTS, **_VERSION_EFFECTS}
    return ProposedCommand(command_of(way, slug, about), effects[way])


def command_of(way: Option, slug: str, about: str = "", step: int | None = None) -> str:
    """What to type. `about` names the alert that is acknowledged, or the new run of a fork.

    >>> command_of(Option.ACK, "grug", "stalled-steps[grug-1]")
    "herorun ack grug 'stalled-steps[grug-1]'"
    >>> command_of(Option.STOP_AND_ROLLBACK, "grug", step=100)
    'herorun rollback grug --to 100 --stop-first'
    """
    verb, *flags = way.value.split()
    names = [about] if about and way in (Option.FORK, Option.ACK) else []
    return shlex.join(
        ["herorun", verb, slug, *names, *(str(step) if f == "STEP" else f for f in flags)]
    )
