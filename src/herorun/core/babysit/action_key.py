"""The type of an action's key: the only place that formats and parses keys.

In the journal a key is text, `verb/topic/detail`; the detail may contain slashes, for example in a
path or in the key of another post.
"""

from enum import StrEnum

from herorun.core.babysit.alert import AlertKey, parse_leading_key
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex

_CHECK = lazy_regex(r"[a-z0-9-]+")


class Verb(StrEnum):
    """The first word of a key."""

    TELL = "tell"  # an alert or an instance, then the event
    ESCALATE = "escalate"  # an alert; or `relaunch`, `judge`, `lease`, then the subject
    AGAIN = "again"  # an alert, then the number of the reminder
    PAGE = "page"  # a channel, then the key of the post
    SUBMIT = "submit"  # an instance
    STOP = "stop"  # an instance
    RELAUNCH = "relaunch"  # the instance that it follows
    ROLLBACK = "rollback"  # the instance that it follows, then the step
    NODE = "node"  # the instance that ran there
    PRUNE = "prune"  # a plan, then the path of a checkpoint
    # The others are only compared as a whole.
    POST = "post"  # the key or the tag of the post's subject, or `prune`, a plan and a number
    ISSUE = "issue"  # a run
    UNSUBMITTED = "unsubmitted"  # the key of a submission
    SNAPSHOT = "snapshot"  # an instance
    RESUBMIT = "resubmit"  # the instance that it follows, of a job without a contract
    FORK = "fork"  # the new run, in the old one's issue
    FORKED_FROM = "forked-from"  # the old run, in the new one's issue
    HANDOFF = "handoff"  # a time; or `take`, then the lease's fence
    NOTE = "note"  # the journal's line
    TAG = "tag"  # the tag of a seal
    PATROL = "patrol"  # a run, then the finding, then the time
    WATCHDOG = "watchdog"  # an instance, then the start of the silence
    FOLDED = "folded"  # the time since which pages were combined
    TEST = "test"  # the time of a channel's test


# Actions on the job or its machines.
INTERVENTIONS = frozenset({Verb.RELAUNCH, Verb.STOP, Verb.NODE})
# Actions that start another instance.
STARTS = frozenset({Verb.RELAUNCH, Verb.ROLLBACK})
# Actions that tell people of an alert.
ANNOUNCEMENTS = frozenset({Verb.TELL, Verb.ESCALATE, Verb.AGAIN})
_MESSAGES = {Verb.TELL: "notification", Verb.ESCALATE: "escalation"}


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
        """The event of an instance or an alert: `finished`, `day-3`, `resolved`."""
        return self.segments[-1]

    @property
    def segments(self) -> tuple[str, ...]:
        return tuple(str(self).split("/"))

    @property
    def check(self) -> str:
        """The check of an alert's message; "" for other keys."""
        match = _CHECK.match(self.topic)
        return match[0] if match and self.verb in ANNOUNCEMENTS else ""

    @property
    def alert(self) -> AlertKey | None:
        """The alert of a message, a question or a reminder; None for other keys.

        >>> parse_key("escalate/wrong-root[/a/b]@2026-01-01T00:00:00Z").alert.subject
        '/a/b'
        """
        is_announced = self.verb in ANNOUNCEMENTS
        return parse_leading_key(str(self).partition("/")[2]) if is_announced else None

    @property
    def resolved_alert(self) -> AlertKey | None:
        """The alert that a message reports as resolved; None for other keys.

        >>> str(parse_key("tell/crashed[a-1]@2026-01-01T00:00:00Z/resolved").resolved_alert)
        'crashed[a-1]@2026-01-01T00:00:00Z'
        """
        return self.alert if self.verb == Verb.TELL and self.last == "resolved" else None

    @property
    def judged_version(self) -> str:
        """The version of herorun that a person is asked about; "" for other keys."""
        asks_version = self.verb == Verb.ESCALATE and self.topic == "judge"
        return self.detail.partition("/")[0] if asks_version else ""

    @property
    def relaunch_question(self) -> tuple[str, str] | None:
        """The instance, and why it is not relaunched automatically; None for other keys."""
        if self.verb != Verb.ESCALATE or self.topic != "relaunch":
            return None
        instance, _, kind = self.detail.partition("/")
        return instance, kind


def write_key(verb: Verb, *parts: object) -> str:
    """The key as text, for the journal. A part may contain slashes: an alert, a path, another key.

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


def describe_action(entry: str) -> str:
    """An action's key and purpose as text. A relaunch or a rollback is known by the instance that
    it follows.

    >>> describe_action("relaunch/a-1: relaunch after a-1: ordered by ada")
    'relaunch after a-1: ordered by ada'
    >>> describe_action("tell/a-1/first-step: a-1 is training")
    'notification: a-1 is training'
    >>> describe_action("rollback/a-1/100"), describe_action("stop/a-1: nan")
    ('rollback after a-1 to step 100', 'stop a-1: nan')
    """
    text, _, purpose = entry.partition(": ")
    key = parse_key(text)
    if purpose and key.verb in _MESSAGES:
        return f"{_MESSAGES[Verb(key.verb)]}: {purpose}"
    name = f"{key.verb} {'/'.join(key.segments[1:])}"
    if key.verb in STARTS:
        name = f"{key.verb} after {key.topic}{f' to step {key.detail}' if key.detail else ''}"
    return purpose if purpose.startswith(name) else ": ".join(filter(None, [name, purpose]))
