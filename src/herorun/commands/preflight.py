"""`herorun preflight`."""

import click

from herorun.commands._options import RunArgument
from herorun.commands._output import propose_command, repeat_typed_command, typed_path


@click.command(short_help="Check whether the run may start; changes nothing.")
@click.argument("run", cls=RunArgument)
@click.option(
    "--out",
    type=click.Path(dir_okay=False),
    metavar="PLAN",
    help="Write the plan, for `launch --plan`.",
)
@click.option(
    "--probe",
    is_flag=True,
    help="Also write, list, rename and delete under _herorun/ of each output root.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def command(start: str, run: str, out: str | None, probe: bool, as_json: bool) -> int:
    """Print what will run and the findings of the launch checks. It only reads.

    Exit code 0: clear. 1: blocked. 3: something could not be read.

    \b
    Example:
      herorun preflight grug --out .herorun/plan.json
      herorun launch grug --plan .herorun/plan.json
    """
    from pathlib import Path

    from herorun import output
    from herorun.operations.launch.plan_file import since_last_instance
    from herorun.operations.launch.preflight import preflight
    from herorun.output.preflight import show_preflight
    from herorun.runs import open_run

    loaded_run = open_run(run, Path(start))
    if probe:
        from herorun.operations.launch.write_probe import probe_roots

        probe_roots(loaded_run)
    answer = preflight(loaded_run)
    move_to = ""
    if out and answer.plan is None:
        output.show_note(output.clean(f"no plan was written to {out}: {answer.why_no_plan}"))
    elif out:
        from herorun.operations.launch.plan_file import write_plan_file

        if hidden_place := write_plan_file(loaded_run, Path(start, out), answer):
            move_to = typed_path(start, hidden_place)
            warning = f"git sees {out} as an uncommitted change, which blocks the launch: move it"
            output.show_note(output.clean(f"{warning} to {move_to}"))
    if as_json:
        output.show_json(answer.document())
    else:
        changes = since_last_instance(loaded_run.record.memory(), answer)
        launch = _launch_command(start, loaded_run.slug, out or "", move_to)
        again = repeat_typed_command()
        show_preflight(output.console(), loaded_run.slug, answer, launch, changes, again)
    return {"clear": 0, "blocked": 1, "unknown": 3}[answer.verdict.value]


def _launch_command(start: str, slug: str, out: str, move_to: str) -> str:
    """What launches the plan, moved first where it must be, typed where the person stands."""
    from pathlib import Path
    from shlex import join

    plan_options = ["--plan", move_to or out] if out else []
    launch = propose_command(start, "launch", slug, *plan_options)
    if not move_to:
        return launch
    return f"{join(['mv', typed_path(start, Path(start, out)), move_to])} && {launch}"
