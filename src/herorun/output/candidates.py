"""Shows the checkpoints that a launch could start from, and what the choice discards."""

from collections.abc import Mapping
from typing import Any

from herorun.core.finding import count
from herorun.output import clean, hang
from herorun.system import progress


def show_candidates(out: Any, document: Mapping[str, Any]) -> None:
    """The checkpoints that were examined, newest first, and what the choice discards; nothing
    where none is.
    """
    if not document["candidates"]:
        return
    out.print("\nCheckpoints", style="bold")
    most = len(document["candidates"]) if progress.verbose else 4
    for candidate in document["candidates"][:most]:
        mark = "→" if candidate["is_start"] else " "
        is_usable = candidate["state"] == "complete"
        head = "; not used: " if is_usable else ": "
        why = f"{head}{clean(candidate['refused'])}" if candidate["refused"] else ""
        hang(
            out,
            f"{mark} ",
            f"{clean(candidate['path'])}, step {candidate['step']}, {candidate['state']}{why}",
        )
    if (left_out := len(document["candidates"]) - most) > 0:
        out.print(f"  and {left_out} more: -v shows them", style="dim")
    if number := document["unexamined"]:
        out.print(f"  and {number} more, not examined", style="dim")
    if document["discarded"]:
        hang(out, "  ", _describe_discarded(document["discarded"]))


def _describe_discarded(discarded_entry: Mapping[str, Any]) -> str:
    if discarded_entry["steps"] == 0:
        return "no step is discarded"
    steps = (
        "an unknown number of steps"
        if discarded_entry["steps"] is None
        else count(discarded_entry["steps"], "step")
    )
    hours = discarded_entry["accelerator_hours"]
    cost = (
        f"accelerator-hours unknown: {clean(discarded_entry['why'])}"
        if hours is None
        else f"{hours:,.1f} accelerator-hours"
    )
    return f"discarded: {steps}, {cost}"
