"""Whether a run has left all its expected results, whatever its scheduler says. Pure."""

from herorun.core.evidence import Checkpoints, FinalStep, Nothing, Unavailable


def final_checkpoint(
    final: FinalStep | Nothing | Unavailable, checkpoints: Checkpoints | Nothing | Unavailable
) -> str:
    """The path of the complete permanent checkpoint of the final step; empty where none is seen."""
    if (
        not isinstance(final, FinalStep)
        or final.value is None
        or not isinstance(checkpoints, Checkpoints)
    ):
        return ""
    complete = (
        c
        for c in checkpoints.candidates
        if c.step == final.value and c.complete and not c.temporary
    )
    return next((c.path for c in complete), "")
