"""`herorun box`."""

import click

from herorun.commands import SuggestingGroup
from herorun.commands._families import BOX, load


class Box(SuggestingGroup):
    """One subcommand a module, imported when it is named."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(BOX)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        return load(name) if name in BOX else None


@click.command(cls=Box, short_help="Monitor a remote machine: patrol, wait, runbook, timer.")
def command() -> None:
    """Monitor a job on a remote machine: inspect both, wait for the job, run stages after it, write
    a runbook.

    \b
    Example:
      herorun box patrol grug
      herorun box wait grug --step 5000
    """
