"""What people write into the record."""

from typing import Any

from herorun.acts.posting import say
from herorun.core.errors import Blocked, HerorunError
from herorun.core.event import Noted
from herorun.core.journal import event_id
from herorun.system.clock import now
from herorun.workspace import Run


def add_note(run: Run, title: str, lines: dict[str, str], caveat: str, to_issue: bool) -> dict[str, Any]:
    """Append and push a note; `Blocked` before `init`, because there is no record to write into."""
    if run.record.memory().initialised is None:
        raise Blocked(f"{run.slug} has no record yet: `herorun init {run.slug}`.")
    noted = Noted(now(), run.launcher.user or run.launcher.owner, title, lines, caveat)
    run.record.append(noted)
    warning = ""
    if to_issue:
        body = "\n".join(f"- {name}: {value}" for name, value in lines.items())
        try:
            say(run, f"note/{event_id(noted)}", title, body, {})
        except (HerorunError, OSError) as error:
            warning = f"the issue was not told, and will be at the next tick: {error}"
    pushed = run.record.push()
    if not pushed:
        warning = f"{warning + '; ' if warning else ''}the record is not pushed: {pushed.why}"
    return {"slug": run.slug, "commit": run.record.tip, "pushed": bool(pushed), "warning": warning}
