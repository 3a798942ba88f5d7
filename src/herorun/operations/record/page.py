"""Sending pages: intended before, done or failed after, by the first channel that takes it.

What waits is computed from the journal, so a page survives every interruption. A channel cannot be
asked what it was sent: a page with an unknown outcome is sent once more and says so, and then goes
to the next channel.
"""

from herorun.core.babysit.action_key import Verb, verb_of
from herorun.core.durations import format_duration
from herorun.core.errors import HerorunError, describe_error
from herorun.core.event import Done, Failed, Intended
from herorun.core.journal import Memory
from herorun.core.notify.page_policy import (
    FOLDED_RESULT,
    GROUPED_RESULT,
    MAX_INTERRUPTED,
    SENT_RESULT,
    Page,
    PageBudget,
    Urgency,
    by,
    format_moment,
    sending_key,
)
from herorun.core.notify.page_routes import group_pages, group_title, is_held, takers
from herorun.core.ports import Channel, Post
from herorun.core.recovery.backoff import back_off, backs_off
from herorun.core.recovery.policy import format_hourly_cost
from herorun.core.redaction.scrub import scrub
from herorun.runs import MonitoredRun
from herorun.system.clock import now


def send_pages(run: MonitoredRun) -> list[str]:
    """Send all that waits, the oldest first and one message for each route; what reached nobody
    comes back in words.
    """
    settle_pages(run)
    if not run.channels.all:
        return []
    down = set[str]()
    due = [p for p in run.record.memory().pages.in_order if not _is_held(run, p)]
    doubts = [
        f"{page.title}: {why}"
        for group in group_pages(due, run.contract.notify)
        for page, why in _send(run, group, down)
    ]
    summary_page = run.record.memory().pages.summary(now())
    if summary_page is not None:
        first = next(iter(channels_for(run, summary_page.urgency)), None)
        room = first and run.record.memory().pages.has_room(first.name, budget(run), now())
        if room:
            _send(run, [summary_page], down)
    return doubts


def holds_pages(run: MonitoredRun, memory: Memory) -> bool:
    """Whether something waits for the end of the quiet hours."""
    return any(_is_held(run, page) for page in memory.pages.in_order)


def _is_held(run: MonitoredRun, page: Page) -> bool:
    return is_held(page.urgency, run.contract.notify.quiet_hours, now())


def channels_for(run: MonitoredRun, urgency: Urgency) -> list[Channel]:
    """Those of the contract that take such a message, in the order in which they are asked."""
    by_name = {channel.name: channel for channel in run.channels.all}
    return [by_name[name] for name in takers(urgency, run.contract.notify) if name in by_name]


def send_page(run: MonitoredRun, key: str) -> str:
    """Send what waits under a post's key, and say why no channel accepted it; empty if it is
    sent.
    """
    settle_pages(run)
    page = run.record.memory().pages.waiting.get(key)
    return "; ".join(why for _, why in _send(run, [page], set())) if page else ""


def settle_pages(run: MonitoredRun) -> None:
    """A sending that was begun and has no outcome was interrupted: it is unknown whether it was
    sent.
    """
    for key, intent in run.record.memory().intended.items():
        if verb_of(key) == Verb.PAGE:
            why = "interrupted; it may have been sent"
            run.record.append(Failed(now(), key, intent.attempt, why, interrupted=True))


def budget(run: MonitoredRun) -> PageBudget:
    rules = run.contract.notify
    return PageBudget(rules.pages_per_hour, rules.pages_per_day)


def _send(run: MonitoredRun, pages: list[Page], down: set[str]) -> list[tuple[Page, str]]:
    """As one message, by the first channel that takes it; what none took, and why. One that fails
    is `down` for the rest of this round.
    """
    whys: dict[str, list[str]] = {page.key: [] for page in pages}
    for channel in channels_for(run, pages[0].urgency):
        ready = []
        for page in pages:
            why = f"{channel.name} fails" if channel.name in down else _waits(run, channel, page)
            if why:
                whys[page.key].append(why)
            else:
                ready.append(page)
        if not ready:
            continue
        why = _by(run, channel, ready)
        if not why:
            pages = [page for page in pages if page not in ready]
        else:
            down.add(channel.name)
            for page in ready:
                whys[page.key].append(why)
        if not pages:
            break
    return [(page, "; ".join(whys[page.key]) or "no channel is configured") for page in pages]


def _waits(run: MonitoredRun, channel: Channel, page: Page) -> str:
    """Why a channel is left out now: it was tried too lately, or was interrupted too often; empty
    if it is not.
    """
    key, memory = sending_key(channel.name, page.key), run.record.memory()
    tries = memory.failed.get(key)
    if memory.pages.interrupted.get(key, 0) >= MAX_INTERRUPTED:
        return f"{channel.name} may have sent it, and was interrupted twice"
    if tries is None or tries.interrupted:
        return ""
    cadence = run.contract.babysit.cadence
    if not backs_off(tries, cadence, now()):
        return ""
    return f"{tries.why}; it is tried again after {format_duration(back_off(tries.count, cadence))}"


def _by(run: MonitoredRun, channel: Channel, pages: list[Page]) -> str:
    """Send them by one channel as one message, or count what the budget folds; say why it
    failed.
    """
    sending = [page for page in pages if not _is_counted(run, channel, page)]
    if not sending:
        return ""
    keys = [sending_key(channel.name, page.key) for page in sending]
    memory = run.record.memory()
    attempts = [memory.attempt(key) for key in keys]
    for key, attempt, page in zip(keys, attempts, sending, strict=True):
        what = f"page by {channel.name}: {page.title}"
        run.record.append(Intended(at=now(), key=key, attempt=attempt, what=what))
    messages = [memory.pages.message_of(p, key) for p, key in zip(sending, keys, strict=True)]
    try:
        channel.post(Post(sending[0].key, group_title(sending), _message(run, sending, messages)))
    except (HerorunError, OSError) as error:
        why = by(channel.name, scrub(describe_error(error)))
        for key, attempt in zip(keys, attempts, strict=True):
            run.record.append(Failed(now(), key, attempt, why))
        return why
    for at, (key, attempt) in enumerate(zip(keys, attempts, strict=True)):
        run.record.append(Done(now(), key, attempt, result=GROUPED_RESULT if at else SENT_RESULT))
    return ""


def _is_counted(run: MonitoredRun, channel: Channel, page: Page) -> bool:
    """Whether the budget folds it into the next message; that is recorded."""
    memory, key = run.record.memory(), sending_key(channel.name, page.key)
    is_in_summary = memory.pages.is_folded(page, channel.name, budget(run), now())
    if is_in_summary:
        run.record.append(Done(now(), key, memory.attempt(key), result=FOLDED_RESULT))
    return is_in_summary


def _message(run: MonitoredRun, pages: list[Page], messages: list[str]) -> str:
    """The words of each, then once what everybody needs to act on them."""
    titled_texts = [
        f"{page.title}\n\n{text}" for page, text in zip(pages[1:], messages[1:], strict=True)
    ]
    text = "\n\n---\n\n".join([messages[0], *titled_texts])
    init_event = run.record.memory().initialised
    parts = [
        text,
        f"Since {format_moment(min(page.since for page in pages))}.",
        _cost(run, text),
        f"Next: `{run.status_command}`",
        f"Issue: {init_event.issue}" if init_event and init_event.issue else "",
    ]
    return "\n\n".join(part for part in parts if part)


def _cost(run: MonitoredRun, text: str) -> str:
    """What a running hour costs, unless the words say it."""
    contract = run.contract
    cost = format_hourly_cost(contract.hardware.count, contract.budget.rate)
    return "" if cost in text else f"While the job runs: {cost[0].lower()}{cost[1:]}."
