"""Beginning a run's record and issue, each once, and linking them both ways."""

from dataclasses import dataclass, replace
from string import Template
from urllib.parse import urlsplit

from herorun.core.contract import Contract
from herorun.core.event import Initialised
from herorun.core.identity.links import file_link, tracker_links
from herorun.core.ports import Post
from herorun.core.render import one_line
from herorun.system.clock import now
from herorun.system.files import locked
from herorun.workspace import Run, Watched, template


@dataclass(frozen=True)
class Begun:
    """What `init` found or made. `warning` says why the record is not pushed."""

    created: tuple[str, ...]
    issue: str
    warning: str
    adopted: tuple[str, ...] = ()  # what was there before


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
        adopted = run.contract.issue.number is not None or run.issue.find(issue_key(run)) is not None
        issue = run.issue.open(_issue(run), run.contract.issue.labels)
        run.record.append(Initialised(now(), run.slug, _contract_lines(run, issue), issue))
        pushed = run.record.push()
    logbook = f"{run.record.logbook_path} on branch {run.record.branch}"
    page = f"issue {issue}"
    return Begun((logbook, *(() if adopted else (page,))), issue, pushed.why, (page,) if adopted else ())


def reopen(run: Watched) -> None:
    """Open the issue's page where the record is begun and the page is not here, as in another clone.

    What was said on the lost page stays said. Errors are the issue tracker's.
    """
    if not isinstance(run, Run) or run.record.memory().initialised is None or run.issue.find(issue_key(run)):
        return
    run.prepare()
    page = _issue(run)
    again = f"{page.body}\n\nThis page was opened again: what was said before stands in the logbook."
    run.issue.open(replace(page, body=again), run.contract.issue.labels)


def issue_key(run: Watched) -> str:
    return f"issue/{run.slug}"


def _issue(run: Run) -> Post:
    contract, record = run.contract, run.record
    known = record.memory().initialised
    page = known.issue if known else _web_issue(contract)
    remote = run.repository.remotes().get(record.remote or "", "")
    facts = {
        "slug": run.slug,
        "goal": one_line(contract.goal),
        "dri": one_line(run.dri),
        "flops": f"{contract.model_flops:.3g}" if contract.model_flops else "not stated",
        "tokens": f"{contract.tokens:.3g}" if contract.tokens else "not stated",
        "cluster": one_line(_cluster(contract)),
        "output_root": one_line(contract.output.root),
        "final_step": one_line(str(contract.final_step)),
        "tracker": one_line("; ".join((_tracker(run), *tracker_links(contract)))),
        "stop_when": one_line(contract.stop_when),
        "logbook": file_link(record.logbook_path, record.branch, remote, page),
    }
    body = Template(template("issue.md")).safe_substitute({name: _cell(told) for name, told in facts.items()})
    return Post(issue_key(run), f"Hero run: {run.slug}", body)


def _web_issue(contract: Contract) -> str:
    """An address on the GitHub that the issue will be on, before it has one of its own."""
    told = contract.issue
    if told.kind != "github" or not told.repo:
        return ""
    api = urlsplit(str(told.options.get("base_url") or "https://api.github.com"))
    return f"{api.scheme}://{(api.netloc).removeprefix('api.')}/{told.repo}/issues/{told.number or 0}"


def _cluster(contract: Contract) -> str:
    """`local, 8 x H100, 1x8, region`, as far as it is stated."""
    told = contract.hardware
    chips = " x ".join(str(part) for part in (told.count, told.accelerator) if part)
    where = (contract.scheduler.kind, chips, told.topology, told.region)
    return ", ".join(part for part in where if part)


def _cell(text: str) -> str:
    """Text that stays in its cell of a table."""
    return text.replace("|", "\\|")


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
