"""What the tracker will show after a rollback to an earlier step under the same id."""

from herorun.core.evidence import TrackerTraits


def after_rollback(tracker: TrackerTraits, id: str, step: int, last: int | None) -> str:
    """`step` is the one that the run returns to, `last` the largest step of a row; None if it is
    unknown.

    >>> after_rollback(TrackerTraits(), "tiny", 100, 300)
    'tiny has more than one row for each of steps 101 to 300: the newest counts'
    """
    if last is None:
        return f"how far {id} has logged is not known; what it has logged beyond step {step} stays"
    if last <= step:
        return f"{id} has logged nothing beyond step {step}"
    if tracker.drops_past_steps:
        return (
            f"{id} keeps the rows of steps {step + 1} to {last} as they were, and drops those of "
            "the new ones until the "
            f"run passes step {last}"
        )
    return f"{id} has more than one row for each of steps {step + 1} to {last}: the newest counts"
