"""An action was begun, and nobody knows how it ended.

Why: doing it again blindly could submit or say something twice; not doing it could leave the run down.
Fix: look whether it happened (the scheduler, the issue), and say so with `herorun note RUN --status "..." --evidence "..." --decision "..."`; the next tick asks again.
"""

from herorun.core.check import Gate, Hold, Response, Topic, check
from herorun.core.evidence import Unfinished
from herorun.core.finding import Verdict, failed, passed


@check(
    Gate.HEALTH, Response.ESCALATE, hold=Hold(ticks=2), topic=Topic.MONITOR, vetoes_relaunch=True
)
def unfinished_action(unfinished: Unfinished) -> list[Verdict]:
    """One answer for each action, by its key."""
    if not unfinished.actions:
        return [passed("every action has an outcome")]
    return [
        failed(f"no outcome of {action}", subject=action.partition(": ")[0])
        for action in unfinished.actions
    ]
