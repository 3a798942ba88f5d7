"""How an order's outcome is shown."""

from typing import Any

import click


def show(told: Any, as_json: bool) -> int:
    """What was done, for people or as one JSON document; warnings go to standard error."""
    from herorun import screen

    if as_json:
        screen.show_json(told.as_json())
    else:
        click.echo(f"{told.run.slug}: {screen.clean(told.words)}")
    if not as_json:
        for warning in told.warnings:
            click.echo(f"herorun: {screen.clean(warning)}", err=True)
    return int(told.code)
