"""The command `verify-seal`, the earlier name of `herorun verify TAG`."""

import click

from herorun.commands.verify import verify_tag


@click.command(hidden=True, short_help="The same as `herorun verify TAG`.")
@click.argument("tag")
@click.option("--offline", is_flag=True, help="Ask neither the remote nor the checkpoint's store.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def command(start: str, tag: str, offline: bool, as_json: bool) -> int:
    """The same as `herorun verify TAG`.

    \b
    Example:
      herorun verify herorun/grug/seal-1
    """
    return verify_tag(start, tag, offline, as_json)
