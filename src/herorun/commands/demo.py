"""`herorun demo`."""

import click


class SchedulerOption(click.Option):
    """`--scheduler`; its help lists the kinds when it is printed."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        from herorun.system.templates import template_names

        self.help = f"Where the job runs: {', '.join(template_names('demo/schedulers'))}."
        return super().get_help_record(ctx)


@click.command(short_help="Run the full lifecycle on a small real training job.")
@click.option(
    "--dir",
    "folder",
    type=click.Path(file_okay=False),
    metavar="DIR",
    help="An empty or new folder; a temporary one by default.",
)
@click.option(
    "--scheduler",
    default="local",
    show_default=True,
    metavar="KIND",
    cls=SchedulerOption,
)
@click.option(
    "--address", default="", metavar="URL", help="Dashboard of a Ray head on this machine."
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document at the end, and nothing else."
)
def command(folder: str | None, scheduler: str, address: str, as_json: bool) -> int:
    """From contract to seal in about a minute, in a scratch folder: a blocked preflight, a launch,
    a killed trainer, one relaunch, a loss spike, the seal and the record. Needs the extra `demo`.

    \b
    Example:
      uv tool install '.[demo]' && herorun demo
      herorun demo --scheduler ray --address http://127.0.0.1:8265
      herorun demo --scheduler slurm
    """
    import os
    import sys
    import tempfile
    from pathlib import Path

    from herorun import output
    from herorun.core.errors import WrongUse
    from herorun.demo import run_walkthrough

    scratch = Path(folder).absolute() if folder else Path(tempfile.mkdtemp(prefix="herorun-demo-"))
    scratch.mkdir(parents=True, exist_ok=True)
    if any(scratch.iterdir()):
        raise WrongUse(f"{scratch} is not empty: name a new folder for the demo.")
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    demo_outcome = run_walkthrough(scratch, as_json, colour, scheduler, address)
    if as_json:
        output.show_json(demo_outcome)
    return 0
