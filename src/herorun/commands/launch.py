"""`herorun launch`."""

import click


@click.command(short_help="Preflight again, record, submit once, start the babysitter.")
@click.argument("run")
@click.option(
    "--plan",
    type=click.Path(),
    metavar="PLAN",
    help="Launch exactly this plan, or nothing.",
)
@click.option("--no-babysit", is_flag=True, help="Do not start the babysitter; print the line that does.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def command(start: str, run: str, plan: str | None, no_babysit: bool, as_json: bool) -> int:
    """Ask the launch gate again, record the intent, tell the issue, submit once, and start the babysitter.

    A launch that was interrupted is continued: the same instance, submitted at most once.

    \b
    Example:
      herorun launch grug --plan .herorun/plan.json
    """
    from pathlib import Path
    from shlex import join

    from herorun import screen
    from herorun.acts.launch import launch, watched_elsewhere
    from herorun.acts.plan_file import read_plan_file
    from herorun.workspace import open_run

    def say_request(request: str) -> None:
        click.echo(f"herorun: sending\n{request}", err=True)

    opened = open_run(run, Path(start))
    reviewed = read_plan_file(Path(plan), opened.slug) if plan else None
    done = launch(opened, reviewed, babysit=not no_babysit, say=say_request)
    for warning in done.warnings:
        click.echo(f"herorun: {warning}", err=True)
    if as_json:
        screen.show_json(done.as_json())
        return done.exit_code
    page = screen.console()
    open_ones = [f for f in done.preflight.report.as_json() if f["outcome"] in ("fail", "unknown")]
    if done.launched is None or done.preflight.policy:
        screen.show_by_mode(page, done.preflight, open_ones)
    if done.launched is None:
        screen.show_verdict(page, done.preflight.verdict.value, "nothing was submitted")
        return done.exit_code
    page.print(f"launched {done.launched.instance}: job {done.launched.job}", style="bold green")
    page.print(f"  plan       {done.launched.plan_digest}")
    page.print(f"  log        {done.log}")
    page.print(f"  record     {opened.record.branch} at {opened.record.tip}")
    page.print(f"  babysitter {done.babysitter}")
    if no_babysit and not opened.contract.babysit.declined and not watched_elsewhere(opened):
        there = [] if start == "." else ["-C", start]
        page.print("Watch it with:")
        page.print(f"  {join(['herorun', *there, 'babysit', run])}")
    return done.exit_code
