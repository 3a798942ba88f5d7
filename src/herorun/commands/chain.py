"""`herorun box chain`."""

from typing import TYPE_CHECKING

import click

from herorun.commands._options import RunArgument

if TYPE_CHECKING:
    from herorun.runs import Run

STARTS_AT_ONCE = (
    "[chain] has no `after` and no `after_pattern`: its stages begin as soon as it is started. Do "
    "not start it before the training is done; then "
)


@click.command(short_help="Print a script that runs the stages of the contract's [chain].")
@click.argument("run", cls=RunArgument)
@click.option("--out", metavar="FILE", help="Write it to this file; by default it is printed.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def command(start: str, run: str, out: str | None, as_json: bool) -> int:
    """Print the script of the contract's [chain]: it waits, runs the stages in order, and sends a
    message at the end.

    Each stage creates its marker `<folder>/<name>.DONE` only on success. A restarted chain skips
    stages whose marker exists; two never run at once. This command sends and starts nothing:
    standard error shows the commands that do, on Slurm also as a job that waits for the run's own.

    \b
    Example:
      herorun box chain grug --out chain.sh
    """
    from functools import partial
    from pathlib import Path

    from herorun import output
    from herorun.core.remote.job_chain import (
        behind_a_job,
        install_and_start,
        script_of,
        waits_for_the_job,
    )
    from herorun.runs import watched_run
    from herorun.schemas.machines import ChainDocument
    from herorun.system.files import write_atomic

    monitored_run, _ = watched_run(run, Path(start))
    text = script_of(monitored_run.contract)
    path = Path(start, out) if out is not None else None
    login = monitored_run.place.reach.login if monitored_run.place.reach else None
    top = str(monitored_run.repository.top)
    message = install_and_start(monitored_run.contract, top, login)
    depend = getattr(monitored_run.scheduler, "dependent_command", None)
    job = _job_before(monitored_run) if depend else ""
    behind = (
        behind_a_job(monitored_run.contract, top, login, partial(depend, job))
        if depend and job
        else ""
    )
    # all refusals come before this line, so the output below is complete
    if path is not None:
        write_atomic(path, text.encode(), 0o755)
    if as_json:
        output.show_json(
            ChainDocument(slug=monitored_run.slug, script=text, file=path, start=message)
        )
        return 0
    if path is None:
        click.echo(text, nl=False)
    where = login.host if login and login.host else "this machine"
    at_once = "" if waits_for_the_job(monitored_run.contract.chain) else STARTS_AT_ONCE
    output.show_note(f"{at_once}this installs the script on {where} and starts it:", f"  {message}")
    if behind:
        output.show_note(f"or this, as a job of its own behind job {job}:", f"  {behind}")
    return 0


def _job_before(run: "Run") -> str:
    """The newest instance, or the job that the contract names if herorun did not start it."""
    current = run.record.memory().current
    return current.job if current else run.contract.patrol.slurm_job or ""
