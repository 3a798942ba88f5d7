"""Which posts also go to channels, and how often: computed from the journal.

A page is the text of a post, sent by the first channel that accepts it. The budget counts repeats
only: every crash, relaunch and escalation is sent.
"""

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from herorun.core.babysit.action_key import Verb, parse_key, verb_of, write_key
from herorun.core.babysit.actions import Action, Escalate, Tell
from herorun.core.check import Check, Response, Severity
from herorun.core.event import Done, Event, Failed, Intended, Ordered, Word
from herorun.core.lazy_dataclass import dataclass
from herorun.core.recovery.policy import FailedAttempts

SENT_RESULT, FOLDED_RESULT = "sent", "folded"
GROUPED_RESULT = "grouped"  # sent in the message of another page
# sendings of one page by one channel whose outcome is unknown: repeated once, no more
MAX_INTERRUPTED = 2
SILENT = "undelivered-escalation"  # what no channel took needs no page that says so
DAY = timedelta(days=1)
HOUR = timedelta(hours=1)


class Urgency(StrEnum):
    MUST = "must"  # a crash, a relaunch, an escalation: never folded
    NEWS = "news"  # folded if the same was sent before
    AGAIN = "again"  # a reminder
    SECOND = "second"  # not acknowledged: for another person, never folded
    INFORM = "inform"  # a warning, for the channels that only inform

    @property
    def can_wait(self) -> bool:
        """Information: it needs no action now."""
        return self in (Urgency.NEWS, Urgency.INFORM)

    @classmethod
    def _missing_(cls, value: object) -> "Urgency":
        """A word of another version, or of any other writer of the line: no reading fails by it."""
        return cls.MUST


@dataclass(frozen=True)
class PageBudget:
    """Pages by one channel, beyond which repeats are folded."""

    hour: int = 6
    day: int = 30


@dataclass(frozen=True)
class Page:
    key: str  # of the post
    title: str
    body: str
    urgency: Urgency
    at: datetime

    @property
    def group(self) -> str:
        """What it is about, in any incident: `check[subject]`."""
        alert = parse_key(self.key).alert
        return alert.name if alert else self.key

    @property
    def since(self) -> datetime:
        """When its incident began, which an alert's key tells; otherwise when it was decided."""
        alert = parse_key(self.key).alert
        try:
            began = datetime.fromisoformat(alert.since) if alert else self.at
        except ValueError:
            return self.at
        return began if began.tzinfo else self.at


@dataclass(frozen=True)
class SentPage:
    at: datetime
    channel: str
    group: str


@dataclass(frozen=True)
class GroupedPages:
    count: int
    since: datetime


def urgency(action: Action, checks: Mapping[str, Check]) -> Urgency | None:
    """How much an action's post matters to the DRI; None for what stands in the issue alone."""
    from herorun.core.notify.escalation_policy import UNACKNOWLEDGED_SUFFIX

    key = parse_key(action.key)
    check = checks.get(key.check)
    if check is not None and check.name == SILENT:
        return None
    match action:
        case Escalate() if key.verb == Verb.AGAIN and key.last == UNACKNOWLEDGED_SUFFIX:
            return Urgency.SECOND
        case Escalate():
            return Urgency.AGAIN if key.verb == Verb.AGAIN else Urgency.MUST
        case Tell() if key.last in ("finished", "bad-node"):
            return Urgency.NEWS
        case Tell() if check is not None and check.severity is Severity.CRITICAL:
            if key.last == "resolved":
                return Urgency.NEWS
            # the escalation says it
            return None if check.response is Response.ESCALATE else Urgency.MUST
        case Tell() if check is not None and check.severity is Severity.WARN:
            return Urgency.INFORM
    return None


def sending_key(channel: str, post: str) -> str:
    return write_key(Verb.PAGE, channel, post)


@dataclass(frozen=True)
class Pages:
    """What was paged, and what waits for it."""

    waiting: Mapping[str, Page] = field(default_factory=dict)  # by the post's key
    settled_keys: frozenset[str] = frozenset()  # the posts that a channel took, or that were folded
    sent_pages: tuple[SentPage, ...] = ()  # of the last day
    folded: Mapping[str, GroupedPages] = field(
        default_factory=dict
    )  # by group, since the last page
    interrupted: Mapping[str, int] = field(default_factory=dict)  # by sending

    def remember(self, event: Event) -> "Pages":
        match event:
            case Intended() if event.page and event.key not in self.settled_keys:
                page = Page(event.key, event.what, event.body, Urgency(event.page), event.at)
                return replace(self, waiting={**self.waiting, event.key: page})
            case Done() if verb_of(event.key) == Verb.PAGE:
                return self._add_delivery(event)
            case Failed() if verb_of(event.key) == Verb.PAGE and event.interrupted:
                times = self.interrupted.get(event.key, 0) + 1
                return replace(self, interrupted={**self.interrupted, event.key: times})
            case Failed() if verb_of(event.key) == Verb.SUBMIT:
                return self._without([write_key(Verb.POST, event.key)])  # nothing was launched
            case Ordered() if event.word in (Word.ACK, Word.APPROVE, Word.DENY):
                return self._without(
                    key for key in self.waiting if any(a in key for a in event.about)
                )
        return self

    @property
    def in_order(self) -> list[Page]:
        """What waits, oldest first; what was decided at once, in the order of its keys."""
        return sorted(self.waiting.values(), key=lambda page: (page.at, page.key))

    def _add_delivery(self, event: Done) -> "Pages":
        sending = parse_key(event.key)
        channel, key = sending.topic, sending.detail
        page = self.waiting.get(key)
        after = replace(self._without([key]), settled_keys=self.settled_keys | {key})
        group = page.group if page else key
        if event.result == FOLDED_RESULT:
            before = self.folded.get(group, GroupedPages(0, page.at if page else event.at))
            return replace(
                after, folded={**self.folded, group: replace(before, count=before.count + 1)}
            )
        earlier_pages = (one for one in self.sent_pages if event.at - one.at < DAY)
        # one message uses the budget once
        used_channel = "" if event.result == GROUPED_RESULT else channel
        return replace(
            after, sent_pages=(*earlier_pages, SentPage(event.at, used_channel, group)), folded={}
        )

    def _without(self, keys: Iterable[str]) -> "Pages":
        dropped_keys = set(keys)
        return replace(
            self,
            waiting={key: page for key, page in self.waiting.items() if key not in dropped_keys},
        )

    def has_room(self, channel: str, budget: PageBudget, now: datetime) -> bool:
        """Whether the channel's budget takes one more repeat."""
        ages = [now - one.at for one in self.sent_pages if one.channel == channel]
        return (
            sum(age < HOUR for age in ages) < budget.hour
            and sum(age < DAY for age in ages) < budget.day
        )

    def is_folded(self, page: Page, channel: str, budget: PageBudget, now: datetime) -> bool:
        """A repeat beyond the budget is counted and reported in the next page."""
        if page.urgency in (Urgency.MUST, Urgency.SECOND):
            return False
        before = {one.group for one in self.sent_pages if now - one.at < DAY} | self.folded.keys()
        repeats = page.urgency is Urgency.AGAIN or page.group in before
        return repeats and not self.has_room(channel, budget, now)

    def summary(self, now: datetime) -> Page | None:
        """What was folded, as a page of its own for when the budget has room again and nothing else
        is sent.
        """
        if not self.folded or self.waiting:
            return None
        since = min(one.since for one in self.folded.values())
        count = sum(one.count for one in self.folded.values())
        key = write_key(Verb.FOLDED, f"{since.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}")
        title = (
            f"{count} repeated message{'' if count == 1 else 's'} since {format_moment(since)}: "
            "see the run's issue"
        )
        return Page(key, title, "", Urgency.AGAIN, now)

    def message_of(self, page: Page, sending: str) -> str:
        """What is sent: the post's words, what was folded since the last page, and whether it may
        be a repeat.
        """
        _, _, body = (
            page.body.partition("\n\n") if page.body.startswith("**") else ("", "", page.body)
        )
        more = [
            f"{one.count} more about {group} since {format_moment(one.since)}."
            for group, one in sorted(self.folded.items())
        ]
        caveat = "This may be a repeat: herorun was interrupted while it sent it."
        parts = [body, "\n".join(more), caveat if self.interrupted.get(sending) else ""]
        return "\n\n".join(part for part in parts if part) or page.title


def format_moment(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


@dataclass(frozen=True)
class UndeliveredAlert:
    """A page or an escalation that no channel has accepted yet."""

    title: str
    since: datetime
    why: str


def list_undelivered_alerts(
    pages: Pages, queue: Mapping[str, Intended], tries_by_key: Mapping[str, FailedAttempts]
) -> tuple[UndeliveredAlert, ...]:
    """What must be sent and was refused: by every channel, or in the issue where there is no
    channel.
    """
    tries = {key: one for key, one in tries_by_key.items() if verb_of(key) == Verb.PAGE}
    last = max(
        (tries[key].last for key in tries if parse_key(key).detail in pages.waiting), default=None
    )
    failures = [
        UndeliveredAlert(page.title, page.at, _whys(tries, page.key))
        for page in pages.in_order
        if last is not None and page.at <= last and not page.urgency.can_wait
    ]
    posts = [
        UndeliveredAlert(one.what, one.at, tries_by_key[key].why if key in tries_by_key else "")
        for key, one in queue.items()
        if verb_of(key) == Verb.ESCALATE and parse_key(key).check != SILENT
        if key not in pages.settled_keys and key not in pages.waiting
    ]
    return (*failures, *posts)


def _whys(tries: Mapping[str, FailedAttempts], post: str) -> str:
    sendings = [(parse_key(key), one.why) for key, one in tries.items()]
    reasons = [(sending.topic, why) for sending, why in sendings if sending.detail == post]
    return "; ".join(by(*one) for one in reasons) or "no channel accepted the message before it"


def by(channel: str, why: str) -> str:
    """Why a channel failed, with its name on it."""
    return why if channel in why else f"{channel}: {why}"


def is_the_dri(dri: str | None, names: Iterable[str | None]) -> bool:
    """Whether the person who launches goes by the DRI's name. Without a DRI it is the launching
    user.

    >>> is_the_dri("@Dri", ["dri"])
    True
    """

    def plain(name: str) -> str:
        return name.strip().lstrip("@").casefold()

    return dri is None or plain(dri) in {plain(name) for name in names if name}
