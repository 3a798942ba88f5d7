"""`--yes`, where an order acts at once."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


def yes(command: Command) -> Command:
    """Take the answer beforehand, as a script gives it, though nothing is asked: what is risky is refused instead.

    `checkpoints prune` has none: there a digest is typed.
    """
    told = "Nothing is asked, so it changes nothing: for scripts that say it everywhere."
    return click.option("--yes", is_flag=True, expose_value=False, help=told)(command)
