"""The type of an action's key: the only place that formats and parses keys.

In the journal a key is text, `verb/topic/detail`; the detail may hold slashes of its own, as a path
or the key of another post does.
"""

from enum import StrEnum

from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex

_CHECK = lazy_regex(r"[a-z0-9-]+")


class Verb(StrEnum):
    """The first word of a key."""

    TELL = "tell"  # an alert or an instance, then what of it
    ESCALATE = "escalate"  # an alert; or `relaunch`, `judge`, `lease`, then of what
    AGAIN = "again"  # an alert, then how often it was said
    PAGE = "page"  # a channel, then the key of the post
    SUBMIT = "submit"  # an instance
    STOP = "stop"  # an instance
    RELAUNCH = "relaunch"  # the instance that it follows
    ROLLBACK = "rollback"  # the instance that it follows, then the step
    NODE = "node"  # the instance that ran there
    PRUNE = "prune"  # a plan, then the path of a checkpoint
    # The rest are only compared whole.
    POST = "post"  # the key or the tag that it is about, or `prune`, a plan and how many
    ISSUE = "issue"  # a run
    UNSUBMITTED = "unsubmitted"  # the key of a submission
    SNAPSHOT = "snapshot"  # an instance
    RESUBMIT = "resubmit"  # the instance that it follows, of a job without a contract
    FORK = "fork"  # the new run, in the old one's issue
    FORKED_FROM = "forked-from"  # the old run, in the new one's issue
    HANDOFF = "handoff"  # when; or `take`, then what was seen of the lease
    NOTE = "note"  # the journal's line
    TAG = "tag"  # the tag of a seal
    PATROL = "patrol"  # a run, then what was seen, then when
    WATCHDOG = "watchdog"  # an instance, then since when
    FOLDED = "folded"  # since when pages were folded
    TEST = "test"  # when a channel was tried


# What is done to the job or its machines.
INTERVENTIONS = frozenset({Verb.RELAUNCH, Verb.STOP, Verb.NODE})
# What starts another instance.
STARTS = frozenset({Verb.RELAUNCH, Verb.ROLLBACK})


@dataclass(frozen=True)
class ActionKey:
    """
    >>> parse_key("prune/3f2a/gs://bucket/tiny/step-5").detail
    'gs://bucket/tiny/step-5'
    >>> str(parse_key("stop/tiny-1")), parse_key("escalate/relaunch/tiny-1/veto").relaunch_question
    ('stop/tiny-1', ('tiny-1', 'veto'))
    """

    verb: str
    topic: str = ""
    detail: str = ""

    def __str__(self) -> str:
        return "/".join(part for part in (self.verb, self.topic, self.detail) if part)

    @property
    def last(self) -> str:
        """What of an instance or an alert: `finished`, `day-3`, `resolved`."""
        return self.segments[-1]

    @property
    def segments(self) -> tuple[str, ...]:
        return tuple(str(self).split("/"))

    @property
    def check(self) -> str:
        """The check of an alert that is told; empty for what is no alert's."""
        match = _CHECK.match(self.topic)
        is_announced = self.verb in (Verb.TELL, Verb.ESCALATE, Verb.AGAIN)
        return match[0] if match and is_announced else ""

    @property
    def judged_version(self) -> str:
        """The version of herorun that a person is asked about; empty for another key."""
        asks_version = self.verb == Verb.ESCALATE and self.topic == "judge"
        return self.detail.partition("/")[0] if asks_version else ""

    @property
    def relaunch_question(self) -> tuple[str, str] | None:
        """The instance, and why nothing relaunches it by itself; None for another key."""
        if self.verb != Verb.ESCALATE or self.topic != "relaunch":
            return None
        instance, _, kind = self.detail.partition("/")
        return instance, kind


def write_key(verb: Verb, *parts: object) -> str:
    """As the journal has it. A part may hold slashes of its own: an alert, a path, another key.

    >>> write_key(Verb.ESCALATE, "relaunch", "tiny-1", "veto")
    'escalate/relaunch/tiny-1/veto'
    """
    return "/".join((verb, *map(str, parts)))


def parse_key(text: str) -> ActionKey:
    verb, _, argument = text.partition("/")
    topic, _, detail = argument.partition("/")
    return ActionKey(verb, topic, detail)


def verb_of(text: str) -> str:
    return text.partition("/")[0]
