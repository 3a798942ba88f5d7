"""`herorun seal`."""

import click


@click.command(short_help="Ask the seal gate; then state, tag, push and tell.")
@click.argument("run")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def command(start: str, run: str, as_json: bool) -> int:
    """Prove that the run is done, and tag it. Sealing twice is one seal.

    Exit code 0: sealed. 1: blocked. 3: something could not be read.

    \b
    Example:
      herorun seal grug
    """
    from pathlib import Path

    from herorun import screen
    from herorun.acts.sealing import seal
    from herorun.workspace import watched_run

    opened, _ = watched_run(run, Path(start))
    done = seal(opened)
    if as_json:
        screen.show_json(done.as_json())
    else:
        page = screen.console()
        if done.report:
            screen.show_findings(page, done.report.as_json())
        if done.tag:
            again = "" if done.report else " (it was sealed before)"
            page.print(f"sealed: tag {done.tag} at commit {done.commit}{again}", style="bold green")
        else:
            screen.show_verdict(page, done.verdict.value, "nothing was tagged")
    for warning in done.warnings:
        click.echo(f"herorun: {warning}", err=True)
    return {"clear": 0, "blocked": 1, "unknown": 3}[done.verdict.value]
