"""What a person is asked: why it is theirs to decide, and what they can do, as commands to copy."""

import shlex
from collections.abc import Iterable
from enum import StrEnum


class Reason(StrEnum):
    """Why a person decides and no machine."""

    JUDGEMENT = "judgement"
    SPEND = "spend or capacity"
    LINEAGE = "lineage choice"
    CLUSTER = "cluster intervention"
    UNVERIFIED = "unverified state"


class Way(StrEnum):
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
    FORK = "fork"
    TAKE = "handoff --take"


QUESTION_WAYS = (Way.APPROVE, Way.DENY)
_EFFECTS = {
    Way.APPROVE: "yes: it goes on at the next tick",
    Way.DENY: "no: it stays as it is",
    Way.ACK: "it is known: do not say it again",
    Way.STOP: "stop the job",
    Way.RELAUNCH: "start it again from its newest complete checkpoint",
    Way.STOP_AND_RELAUNCH: "stop the job and start it again from its newest complete checkpoint",
    Way.ROLLBACK: "go back to the checkpoint of a step before the trouble; with `--dry-run` it only says what that costs",
    Way.STOP_AND_ROLLBACK: "stop the job and go back to the checkpoint of a step before the trouble; with `--dry-run` it only says what that costs",
    Way.LAUNCH: "launch anew, with the code and the checkpoint of your choice",
    Way.FORK: "go on as a new run, with an identity and a root of its own",
    Way.TAKE: "watch it from this machine",
}


def command_of(way: Way, slug: str, about: str = "") -> str:
    """What to type. `about` names the alert that is taken note of.

    >>> command_of(Way.ACK, "grug", "stalled-steps[grug-1]")
    "herorun ack grug 'stalled-steps[grug-1]'"
    """
    verb, *flags = way.value.split()
    named = ["NEW"] if way is Way.FORK else [about] if way is Way.ACK and about else []
    return shlex.join(["herorun", verb, slug, *named, *flags])


def choices(ways: Iterable[Way], slug: str, about: str = "") -> str:
    """One choice a line, as Markdown that can be read as plain text too."""
    return "\n".join(f"- `{command_of(way, slug, about)}`: {_EFFECTS[way]}" for way in ways)
