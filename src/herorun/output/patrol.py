"""Prints one tick of a patrol."""

import sys
from collections.abc import Sequence
from typing import Any

from herorun.output import clean, console, hang, show_line


def show_patrol(line: str, advice: Sequence[Any]) -> None:
    """One tick of a patrol: its line, then what applies; a result word for word, line by line."""
    out = console()
    show_line(clean(line))
    for each in advice:
        for part in each.message.splitlines():
            if each.row == "result":
                out.print(f"  {clean(part)}", soft_wrap=True)
            else:
                hang(out, "  ", clean(part))
        if each.command:
            out.print(f"    {clean(each.command)}", soft_wrap=True)  # to be copied whole
    sys.stdout.flush()
