"""`herorun preflight`."""

import click


@click.command(short_help="Ask the launch gate: may it start?")
@click.argument("run")
@click.option(
    "--out", type=click.Path(dir_okay=False), metavar="PLAN", help="Write the plan, for `launch --plan`."
)
@click.option(
    "--probe", is_flag=True, help="Also write, list, rename and delete under _herorun/ of each output root."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def command(start: str, run: str, out: str | None, probe: bool, as_json: bool) -> int:
    """Print the plan, the exact submission and the findings. It only reads.

    Exit code 0: clear. 1: blocked. 3: something could not be read.

    \b
    Example:
      herorun preflight grug --out .herorun/plan.json
      herorun launch grug --plan .herorun/plan.json
    """
    from pathlib import Path

    from herorun import screen
    from herorun.acts.preflight import plan_json, preflight
    from herorun.acts.probe import probe_roots
    from herorun.core.errors import WrongUse
    from herorun.workspace import open_run

    opened = open_run(run, Path(start))
    if probe:
        probe_roots(opened)
    answer = preflight(opened)
    if out:
        if answer.plan is None:
            raise WrongUse(f"There is no plan to write to {out}: {answer.report.summary}")
        from herorun.core.canonical import canonical
        from herorun.system.files import write_whole

        document = {"schema": 1, "plan_digest": answer.plan.digest, "plan": plan_json(answer.plan)}
        write_whole(Path(out).absolute(), (canonical(document) + "\n").encode(), 0o644)
    if as_json:
        screen.show_json(answer.as_json())
    else:
        screen.show_preflight(screen.console(), opened.slug, answer)
    return {"clear": 0, "blocked": 1, "unknown": 3}[answer.verdict.value]
