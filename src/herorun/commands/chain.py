"""`herorun box chain`."""

from typing import TYPE_CHECKING

import click

from herorun.commands._options import RunArgument

if TYPE_CHECKING:
    from herorun.runs import Run

WAITS_FOR_NOTHING = (
    "[chain] has no `after` and no `after_pattern`, so the script waits for nothing. Once the "
    "training is done, and not before, this starts it:"
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
        install,
        install_and_start,
        script_of,
        start_there,
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
    contract = monitored_run.contract
    start_command = install_and_start(contract, top, login)
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
            ChainDocument(
                slug=monitored_run.slug,
                script=text,
                file=path,
                start=start_command,
                waits=waits_for_the_job(contract.chain),
            )
        )
        return 0
    if path is None:
        click.echo(text, nl=False)
    else:
        output.show_note(
            f"wrote {output.clean(str(path))}, for review; the commands below do not use this "
            "file: they generate the script again"
        )
    where = login.host if login and login.host else "this machine"
    as_a_job = f"as a job of its own, which starts once job {job} succeeds"
    if waits_for_the_job(contract.chain):
        pattern = "`[chain] after_pattern` in the log" if contract.chain.after_pattern else ""
        signs = " and ".join(filter(None, [contract.chain.after, pattern]))
        message = (
            f"this installs the script on {where} and starts it; the script then waits for {signs}:"
        )
        output.show_note(message, f"  {start_command}")
        if behind:
            output.show_note(f"or this, {as_a_job}:", f"  {behind}")
            output.show_note(_describe_dependency(job))
        return 0
    how = f", {as_a_job}" if behind else ""
    install_command = behind or install(contract, top, login)
    output.show_note(f"this installs the script on {where}{how}:", f"  {install_command}")
    if behind:  # the job waits, and starts it
        output.show_note(_describe_dependency(job))
    else:
        output.show_note(WAITS_FOR_NOTHING, f"  {start_there(contract, login)}")
    return 0


def _describe_dependency(job: str) -> str:
    """What the scheduler does, which knows one job and not the run."""
    return (
        f"if job {job} fails, Slurm cancels the chain's job, and a relaunch of the run does not "
        f"bring it back: install it again then. If job {job} ends with exit code 0 before the "
        "run's final step, the chain starts too early"
    )


def _job_before(run: "Run") -> str:
    """The newest instance, or the job of its scheduler that the contract names if herorun did not
    start it.
    """
    current, keys = run.record.memory().current, run.contract.patrol
    if current:
        return current.job
    kind = run.contract.scheduler.kind
    return keys.job if keys.job and keys.job_scheduler in (None, kind) else ""
