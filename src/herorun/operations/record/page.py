"""Sending pages: intended before, done or failed after, by the first channel that takes it.

What waits is folded from the journal, so a page outlives every interruption. A channel cannot be
asked what it has said: a sending whose outcome nobody knows is repeated once and says so, and is
then left to the next channel.
"""

from herorun.core.action_key import Verb, verb_of
from herorun.core.durations import say_duration
from herorun.core.errors import HerorunError, in_words
from herorun.core.event import Done, Failed, Intended
from herorun.core.paging import (
    FOLDED,
    MOST_INTERRUPTED,
    SENT,
    Page,
    PageBudget,
    by,
    sending_key,
)
from herorun.core.policy import back_off, backs_off
from herorun.core.ports import Channel, Post
from herorun.core.redaction.scrub import scrub
from herorun.runs import MonitoredRun
from herorun.system.clock import now


def send_pages(run: MonitoredRun) -> list[str]:
    """Send all that waits, oldest first; what reached nobody comes back in words."""
    settle_pages(run)
    if not run.channels.all:
        return []
    down: set[str] = set()
    doubts = [
        f"{page.title}: {why}"
        for page in run.record.memory().pages.in_order
        if (why := _send(run, page, down))
    ]
    folded = run.record.memory().pages.summary(now())
    if folded is not None and run.record.memory().pages.has_room(
        run.channels.all[0].name, budget(run), now()
    ):
        _send(run, folded, down)
    return doubts


def send_page(run: MonitoredRun, key: str) -> str:
    """Send what waits under a post's key, and say why nobody took it; empty where it is told, or
    was before.
    """
    settle_pages(run)
    page = run.record.memory().pages.waiting.get(key)
    return _send(run, page, set()) if page else ""


def settle_pages(run: MonitoredRun) -> None:
    """A sending that was begun and has no outcome was interrupted: perhaps it was said, and nobody
    can tell.
    """
    for key, intended in run.record.memory().intended.items():
        if verb_of(key) == Verb.PAGE:
            why = "interrupted; it may have been sent"
            run.record.append(Failed(now(), key, intended.attempt, why, interrupted=True))


def budget(run: MonitoredRun) -> PageBudget:
    told = run.contract.notify
    return PageBudget(told.pages_per_hour, told.pages_per_day)


def _send(run: MonitoredRun, page: Page, down: set[str]) -> str:
    """By the first channel that takes it. One that fails is `down` for the rest of this round."""
    whys = []
    for channel in run.channels.all:
        why = f"{channel.name} fails" if channel.name in down else _waits(run, channel, page)
        if not why:
            why = _by(run, channel, page)
            if not why:
                return ""
            down.add(channel.name)
        whys.append(why)
    return "; ".join(whys) or "there is no channel"


def _waits(run: MonitoredRun, channel: Channel, page: Page) -> str:
    """Why a channel is left out now: it was tried too lately, or was interrupted too often; empty
    if it is not.
    """
    key, memory = sending_key(channel.name, page.key), run.record.memory()
    tries = memory.failed.get(key)
    if memory.pages.interrupted.get(key, 0) >= MOST_INTERRUPTED:
        return f"{channel.name} perhaps said it, and was interrupted twice"
    if tries is None or tries.interrupted:
        return ""
    cadence = run.contract.babysit.cadence
    if not backs_off(tries, cadence, now()):
        return ""
    return f"{tries.why}; it is tried again after {say_duration(back_off(tries.count, cadence))}"


def _by(run: MonitoredRun, channel: Channel, page: Page) -> str:
    """Send it by one channel, or count it where the budget folds it; say why it failed."""
    key, memory = sending_key(channel.name, page.key), run.record.memory()
    attempt = memory.attempt(key)
    if memory.pages.is_folded(page, channel.name, budget(run), now()):
        run.record.append(Done(now(), key, attempt, result=FOLDED))
        return ""
    run.record.append(
        Intended(at=now(), key=key, attempt=attempt, what=f"page by {channel.name}: {page.title}")
    )
    try:
        channel.post(
            Post(page.key, page.title, _add_issue_link(run, memory.pages.words(page, key)))
        )
    except (HerorunError, OSError) as error:
        why = by(channel.name, scrub(in_words(error)))
        run.record.append(Failed(now(), key, attempt, why))
        return why
    run.record.append(Done(now(), key, attempt, result=SENT))
    return ""


def _add_issue_link(run: MonitoredRun, text: str) -> str:
    begun = run.record.memory().initialised
    return f"{text}\n\nIssue: {begun.issue}" if begun and begun.issue else text
