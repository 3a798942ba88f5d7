"""The recovery page of a run, from its contract and its record."""

import shlex
from pathlib import Path

from herorun.core.redaction.scrub import scrub
from herorun.core.remote.job_chain import ssh_argv
from herorun.core.remote.runbook import RunbookFacts, render_runbook
from herorun.operations.remote.patrol import ways_of
from herorun.runs import Run
from herorun.system.clock import now
from herorun.system.files import write_atomic
from herorun.system.remote_python import remote_to

PAGE = "runbook.md"


def page_of(run: Run) -> str:
    """The page from local data: the machine is not queried, so that the page can be written while
    it does not answer.
    """
    memory, reach = run.record.memory(), run.place.reach
    facts = RunbookFacts(
        top=shlex.quote(str(run.repository.top)),
        where=remote_to(reach).transport.where if reach else "this machine",
        login=shlex.join(ssh_argv(reach.login)) if reach else "",
        owner=run.launcher.owner,
        instances=[
            (each.name, each.job, f"{each.started:%Y-%m-%d %H:%M} UTC") for each in memory.instances
        ],
        sealed=memory.sealed.tag if memory.sealed else "",
        branch=run.contract.record_branch,
        remote=run.record.remote or "",
        written_at=f"{now():%Y-%m-%d %H:%M} UTC",
    )
    return scrub(render_runbook(run.contract, ways_of(run), facts))


def write_page(run: Run, page: str, path: Path | None) -> Path:
    """Write the page to `path`, or to the run's private folder, which outlives every session."""
    if path is None:
        run.prepare()
    target = path or run.state / PAGE
    write_atomic(target, page.encode())
    return target
