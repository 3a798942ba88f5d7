"""Beginning a run's record and issue, each once, and linking them both ways."""

from dataclasses import dataclass, replace
from string import Template

from herorun.core.event import Initialised
from herorun.core.ports import Post
from herorun.core.render import one_line
from herorun.system.clock import now
from herorun.system.files import locked
from herorun.workspace import Run, template


@dataclass(frozen=True)
class Begun:
    """What `init` found or made. `warning` says why the record is not pushed."""

    created: tuple[str, ...]
    issue: str
    warning: str


def begin(run: Run) -> Begun:
    """Begin the record and the issue; a run that has them keeps them."""
    run.prepare()
    with locked(run.lock("act")):
        run.record.fetch()
        run.record.must_understand()
        known = run.record.memory().initialised
        if known:
            reopen(run)
            return Begun((), known.issue, run.record.push().why)
        issue = run.issue.open(_issue(run), run.contract.issue.labels)
        run.record.append(Initialised(now(), run.slug, _contract_lines(run, issue), issue))
        pushed = run.record.push()
    logbook = f"{run.record.logbook_path} on branch {run.record.branch}"
    return Begun((logbook, f"issue {issue}"), issue, pushed.why)


def reopen(run: Run) -> None:
    """Open the issue's page where the record is begun and the page is not here, as in another clone.

    What was said on the lost page stays said. Errors are the issue tracker's.
    """
    if run.record.memory().initialised is None or run.issue.find(_key(run)):
        return
    run.prepare()
    page = _issue(run)
    again = f"{page.body}\n\nThis page was opened again: what was said before stands in the logbook."
    run.issue.open(replace(page, body=again), run.contract.issue.labels)


def _key(run: Run) -> str:
    return f"issue/{run.slug}"


def _issue(run: Run) -> Post:
    contract = run.contract
    facts = {
        "slug": run.slug,
        "goal": one_line(contract.goal),
        "dri": one_line(run.dri),
        "output_root": one_line(contract.output.root),
        "final_step": one_line(str(contract.final_step)),
        "tracker": one_line(_tracker(run)),
        "stop_when": one_line(contract.stop_when),
        "logbook": f"`{run.record.logbook_path}` on branch `{run.record.branch}`",
    }
    body = Template(template("issue.md")).safe_substitute(facts)
    return Post(_key(run), f"Hero run: {run.slug}", body)


def _contract_lines(run: Run, issue: str) -> dict[str, str]:
    """The logbook's Run Contract section, in the seed's order."""
    contract = run.contract
    lines = {
        "DRI": run.dri,
        "Goal": contract.goal,
        "Stop/escalation criteria": contract.stop_when,
        "Issue": issue,
        "W&B": _tracker(run),
        "Output root": contract.output.root,
        "Final step": str(contract.final_step),
        "Contract": run.file.path,
    }
    return {name: one_line(value) for name, value in lines.items()}


def _tracker(run: Run) -> str:
    told = run.contract.tracker
    where = "/".join(part for part in (told.entity, told.project) if part)
    return f"{told.kind} {where + '/' if where else ''}{told.id or run.slug} (resume {told.resume})"
