"""Adds people's notes to the record."""

import random
import time
from datetime import datetime, timedelta

from herorun.core.babysit.action_key import Verb, write_key
from herorun.core.errors import Blocked, HerorunError, describe_error
from herorun.core.event import Noted
from herorun.core.journal import JournalLine
from herorun.core.markdown import quote_line
from herorun.core.redaction.scrub import scrub, scrub_tree
from herorun.operations.record.post import post_entry
from herorun.record import Pushed
from herorun.runs import Run
from herorun.schemas.runs import Note
from herorun.system.clock import now
from herorun.system.files import hold_lock, is_locked

AGAIN = timedelta(hours=1)
PATIENCE = 15.0  # seconds for which a failed push is retried: a person waits for it
FIRST_PAUSE, MAX_PAUSE = 0.5, 4.0  # seconds between two attempts


def add_note(run: Run, title: str, lines: dict[str, str], caveat: str, to_issue: bool) -> Note:
    """Append and push a note; `Blocked` before `init`, because there is no record to write into.

    `queued` means that the remote does not have it yet; `warning` says what will deliver it. The
    same text within an hour is the same note, so an interrupted command can be repeated.
    """
    if run.record.memory().initialised is None:
        raise Blocked(f"{run.slug} has no record yet: `herorun init {run.slug}`.")
    note = Noted(now(), run.launcher.user or run.launcher.owner, title, lines, caveat)
    line = _find_queued_note(run, note) or _find_line(run, note)
    warning = ""
    if to_issue:
        body = "\n".join(f"- {name}: {quote_line(value)}" for name, value in lines.items())
        try:
            with hold_lock(run.lock("act")):
                post_entry(run, write_key(Verb.NOTE, line.id), title, body, {})
        except (HerorunError, OSError) as error:
            warning = f"the issue was not updated yet: {describe_error(error)}"
    push_result = _push_record(run)
    is_queued = not push_result and run.record.remote is not None
    if not push_result:
        message = (
            _describe_queued(run, line.event.at, push_result)
            if is_queued
            else f"the record is not pushed: {push_result.why}"
        )
        warning = f"{warning + '; ' if warning else ''}{message}"
    return Note(
        slug=run.slug,
        commit=run.record.tip,
        pushed=bool(push_result),
        queued=is_queued,
        warning=warning,
    )


def _push_record(run: Run) -> Pushed:
    """Push until it succeeds or `PATIENCE` is over: perhaps nothing else pushes from this clone for
    days.
    """
    until, pause = time.monotonic() + PATIENCE, FIRST_PAUSE
    while True:
        try:
            push_result = run.record.push()
        except (HerorunError, OSError) as error:
            push_result = Pushed(scrub(describe_error(error)))
        if push_result or run.record.remote is None or time.monotonic() + pause > until:
            return push_result
        time.sleep(random.uniform(pause / 2, pause))
        pause = min(2 * pause, MAX_PAUSE)


def _describe_queued(run: Run, at: datetime, push_result: Pushed) -> str:
    if is_locked(run.lock("babysitter")):
        delivers = "The babysitter of this clone pushes it after its next tick"
    else:
        delivers = (
            "The next push of the record sends it. To push now, repeat this command; before "
            f"{at + AGAIN:%H:%M} UTC that adds no second note"
        )
    return (
        f"the note is in this clone, {run.repository.main}, but not on {run.record.remote} yet "
        f"({push_result.why}). {delivers}"
    )


def _find_queued_note(run: Run, note: Noted) -> JournalLine | None:
    for line in run.record.newest_first():
        if note.at - line.event.at >= AGAIN:
            return None
        if isinstance(line.event, Noted):
            return line if _scrub_note(line.event) == _scrub_note(note) else None
    return None


def _scrub_note(note: Noted) -> object:
    """The note as recorded, with secrets masked."""
    return scrub_tree([note.by, note.title, dict(note.lines), note.caveat])


def _find_line(run: Run, note: Noted) -> JournalLine:
    run.record.append(note)
    return next(line for line in run.record.newest_first() if line.event.at == note.at)
