"""`herorun checkpoints`."""

import click

from herorun.commands import SuggestingGroup
from herorun.commands._options import RunArgument
from herorun.commands._output import propose_command, typed_path


@click.group(cls=SuggestingGroup, short_help="List checkpoints; plan and carry out a clean-up.")
def command() -> None:
    """List what the run saved, plan what may be deleted, and delete exactly that.

    \b
    Example:
      herorun checkpoints list grug
      herorun checkpoints plan grug --out .herorun/prune.json
      herorun checkpoints prune grug --plan .herorun/prune.json
    """


@command.command("list", short_help="List every checkpoint of the run's roots.")
@click.argument("run", cls=RunArgument)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def list_(start: str, run: str, as_json: bool) -> int:
    """Every checkpoint of the run's roots, by step: complete or not, size and age.

    A temporary one lies in the temporary root, where the trainer replaces it.

    One from which no relaunch starts is shown with the reason: it is tainted (written after the
    numbers went wrong), a rollback gave it up, or [start] rejects it.

    Exit code 0: listed. 3: a root or a checkpoint could not be read, or a root that a job used does
    not exist here.

    \b
    Example:
      herorun checkpoints list grug
    """
    from datetime import timedelta
    from pathlib import Path

    from herorun import output
    from herorun.core.retention import format_age, format_size
    from herorun.operations.checkpoints.list import list_with_refusals, searched_roots
    from herorun.runs import watched_run

    monitored_run = watched_run(run, Path(start))[0]
    roots = searched_roots(monitored_run)
    listing = list_with_refusals(monitored_run).document(roots)
    unread_entries = [
        each for each in listing.checkpoints if each.state == "unknown" and each.problem
    ]
    code = 3 if roots.unreadable or unread_entries else 0
    if as_json:
        output.show_json(listing)
        return code
    out = output.console()
    for entry in listing.checkpoints:
        age = None if entry.age_seconds is None else timedelta(seconds=entry.age_seconds)
        kind = "temporary, " if entry.temporary else ""
        reasons = dict.fromkeys((entry.problem, entry.refused, entry.tainted))
        why = "".join(f": {output.clean(reason)}" for reason in reasons if reason)
        message = f"{kind}{format_size(entry.bytes)}, {format_age(age)}"
        head = f"step {entry.step:<9} {entry.state:<10}  "
        output.hang(out, head, f"{message}  {output.clean(entry.path)}{why}")
    if not listing.checkpoints:
        output.show_line(f"{monitored_run.slug}: {roots.describe()}")
    elif roots.missing:
        output.show_note(
            "not on this machine, so checkpoints in it are not listed and may be newer: "
            f"{', '.join(roots.missing)}"
        )
    return code


@command.command("plan", short_help="Plan what may be deleted; deletes nothing.")
@click.argument("run", cls=RunArgument)
@click.option(
    "--keep",
    type=click.IntRange(1),
    help="How many of the newest to keep; by default [checkpoints] keep.",
)
@click.option("--out", type=click.Path(dir_okay=False), help="Write the plan here, for `prune`.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def plan(start: str, run: str, keep: int | None, out: str | None, as_json: bool) -> int:
    """What may be deleted, with sizes, and why each of the others is kept. It deletes nothing.

    Kept are the latest N, the final one, launch checkpoints, the recovery source, milestones,
    permanent ones by the contract, and everything that a record, a seal or a contract of any run
    names.

    Exit code 0: planned. 3: something that may name a checkpoint could not be read.

    \b
    Example:
      herorun checkpoints plan grug --out .herorun/prune.json
    """
    from pathlib import Path

    from herorun import output
    from herorun.core.finding import count
    from herorun.core.retention import format_size
    from herorun.operations.checkpoints.list import make_plan, write_plan
    from herorun.output.findings import show_next
    from herorun.runs import watched_run
    from herorun.schemas.evaluations import CheckpointsPlan

    monitored_run = watched_run(run, Path(start))[0]
    prune_plan = make_plan(monitored_run, keep)
    if out:
        write_plan(monitored_run, prune_plan, Path(start, out))
    if as_json:
        output.show_json(CheckpointsPlan.of(prune_plan))
        return 0
    plan_file, out = out, output.console()
    for checkpoint in prune_plan.remaining:
        why = output.clean("; ".join(checkpoint.why))
        output.hang(
            out,
            "keep    ",
            f"{output.clean(checkpoint.path)}, {format_size(checkpoint.bytes)}: {why}",
        )
    for victim in prune_plan.victims:
        message = f"{output.clean(victim.path)}, {format_size(victim.bytes)}"
        files = f"{count(victim.files, 'file')}: {output.clean(victim.why)}"
        output.hang(out, "delete  ", f"{message} in {files}")
    output.show_line(
        f"{len(prune_plan.victims)} to delete, {format_size(prune_plan.bytes)}; "
        f"{len(prune_plan.remaining)} kept"
    )
    output.show_line(f"digest {prune_plan.digest}")
    if prune_plan.victims:
        place = monitored_run.repository.top / ".herorun" / f"prune-{prune_plan.digest[7:19]}.json"
        is_written = bool(plan_file) or place.exists()  # an earlier plan has the same digest
        typed_file = plan_file or typed_path(start, place)
        show_next(out, output.clean(_next_command(start, run, keep, typed_file, is_written)))
    return 0


def _next_command(start: str, run: str, keep: int | None, plan_file: str, is_written: bool) -> str:
    """The command to type next: it deletes what the plan names if the plan was written to a file,
    and otherwise writes it, where git does not see it.
    """
    if is_written:
        return propose_command(start, "checkpoints", "prune", run, f"--plan={plan_file}")
    keeping = [f"--keep={keep}"] if keep else []
    return propose_command(start, "checkpoints", "plan", run, *keeping, f"--out={plan_file}")


@command.command("prune", short_help="Delete exactly what a printed plan names.")
@click.argument("run", cls=RunArgument)
@click.option(
    "--plan",
    "file",
    required=True,
    type=click.Path(dir_okay=False),
    help="As `plan --out` wrote it.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def prune(start: str, run: str, file: str, as_json: bool) -> int:
    """Delete exactly what a printed plan names, after you type its digest; a script passes it on
    standard input.

    Each checkpoint is checked again before it is deleted. There is no --yes.

    Exit code 0: all deleted. 1: something was left, or nothing was deleted. 3: something could not
    be read.

    \b
    Example:
      herorun checkpoints prune grug --plan .herorun/prune.json
    """
    import sys
    from pathlib import Path

    from herorun import output
    from herorun.core.retention import format_size
    from herorun.operations.checkpoints.list import read_plan
    from herorun.operations.checkpoints.prune import prune as delete
    from herorun.runs import watched_run

    prune_plan = read_plan(Path(start, file))
    for victim in prune_plan.victims:
        click.echo(f"delete  {output.clean(victim.path)}, {format_size(victim.bytes)}", err=True)
    if prune_plan.victims:
        click.echo(
            "This cannot be undone. Type the first 12 characters of the digest: "
            f"{prune_plan.digest.removeprefix('sha256:')[:12]}",
            err=True,
        )
    else:
        click.echo("The plan names nothing to delete.", err=True)
    typed_digest = sys.stdin.readline() if prune_plan.victims else prune_plan.digest
    outcome = delete(watched_run(run, Path(start))[0], prune_plan, typed_digest)
    if as_json:
        output.show_json(outcome.document())
    else:
        for path in outcome.deleted:
            output.show_line(f"deleted  {output.clean(path)}")
        page = output.console()
        for path, why in outcome.remaining:
            reason = output.clean(why.removeprefix(f"{path} ").removeprefix("must be kept: "))
            output.hang(page, "kept     ", f"{output.clean(path)}: {reason}")
        output.show_line(
            f"{len(outcome.deleted)} of {len(prune_plan.victims)} deleted, "
            f"{format_size(outcome.bytes)} freed"
        )
        if outcome.remaining:
            again = output.clean(propose_command(start, "checkpoints", "plan", run))
            output.show_next_step(f"make a new plan, which leaves out what must be kept: `{again}`")
    for warning in outcome.warnings:
        output.show_note(output.clean(warning))
    return outcome.code
