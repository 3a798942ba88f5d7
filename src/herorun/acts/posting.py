"""Saying something once: intended, posted unless it is there already, journalled as done."""

from collections.abc import Mapping
from datetime import datetime

from herorun.acts.beginning import reopen
from herorun.core.errors import HerorunError, in_words
from herorun.core.event import Done, Failed, Intended
from herorun.core.ports import Post
from herorun.system.clock import now
from herorun.workspace import Run


def say(run: Run, key: str, title: str, why: str, lines: Mapping[str, str]) -> None:
    """One post under one key in the issue, with its entry in the logbook. `why` may name the DRI: it is ours."""
    memory = run.record.memory()
    if key in memory.done:
        return
    if key not in memory.intended:
        run.record.append(intent_to_say(run, key, title, why, lines, now()))
    deliver(run, run.record.memory().intended[key])


def intent_to_say(
    run: Run, key: str, title: str, why: str, lines: Mapping[str, str], at: datetime
) -> Intended:
    """What is journalled before it is said, word for word."""
    tip = run.record.tip
    body = f"**{title}**\n\n{why}\n\nRun `{run.slug}`, record {tip or 'not begun'}."
    return Intended(at, key, run.record.memory().attempt(key), title, body, lines)


def deliver(run: Run, intended: Intended) -> None:
    """Post what was intended, unless the issue has it already, and journal the outcome."""
    post = Post(intended.key, intended.what, intended.body)
    try:
        reopen(run)
        reference = run.issue.find(intended.key) or run.issue.post(post)
    except (HerorunError, OSError) as error:
        run.record.append(
            Failed(now(), intended.key, intended.attempt, f"the post failed: {in_words(error)}")
        )
        raise
    _done(run, intended, reference)


def _done(run: Run, intended: Intended, reference: str) -> None:
    title = intended.what if intended.lines else ""
    run.record.append(Done(now(), intended.key, intended.attempt, title, intended.lines, reference))
