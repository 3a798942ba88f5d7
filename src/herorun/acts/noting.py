"""What people write into the record."""

from datetime import timedelta
from typing import Any

from herorun.acts.posting import say
from herorun.core.errors import Blocked, HerorunError, in_words
from herorun.core.event import Noted
from herorun.core.journal import Line
from herorun.core.scrub import scrub_tree
from herorun.system.clock import now
from herorun.system.files import locked
from herorun.workspace import Run

AGAIN = timedelta(hours=1)


def add_note(run: Run, title: str, lines: dict[str, str], caveat: str, to_issue: bool) -> dict[str, Any]:
    """Append and push a note; `Blocked` before `init`, because there is no record to write into.

    The same words again within an hour are the same note: a command that was interrupted is just repeated.
    """
    if run.record.memory().initialised is None:
        raise Blocked(f"{run.slug} has no record yet: `herorun init {run.slug}`.")
    noted = Noted(now(), run.launcher.user or run.launcher.owner, title, lines, caveat)
    line = _said_before(run, noted) or _written(run, noted)
    warning = ""
    if to_issue:
        body = "\n".join(f"- {name}: {value}" for name, value in lines.items())
        try:
            with locked(run.lock("act")):
                say(run, f"note/{line.id}", title, body, {})
        except (HerorunError, OSError) as error:
            warning = f"the issue was not told yet: {in_words(error)}"
    pushed = run.record.push()
    if not pushed:
        warning = f"{warning + '; ' if warning else ''}the record is not pushed: {pushed.why}"
    return {"slug": run.slug, "commit": run.record.tip, "pushed": bool(pushed), "warning": warning}


def _said_before(run: Run, noted: Noted) -> Line | None:
    recent = run.record.recent(noted.at - AGAIN)
    newest = next((line for line in reversed(recent) if isinstance(line.event, Noted)), None)
    if newest is None or not isinstance(newest.event, Noted):
        return None
    again = _words(newest.event) == _words(noted) and noted.at - newest.event.at < AGAIN
    return newest if again else None


def _words(noted: Noted) -> object:
    """As they stand in the record, secrets masked."""
    return scrub_tree([noted.by, noted.title, dict(noted.lines), noted.caveat])


def _written(run: Run, noted: Noted) -> Line:
    run.record.append(noted)
    return next(line for line in reversed(run.record.recent(noted.at)) if line.event.at == noted.at)
