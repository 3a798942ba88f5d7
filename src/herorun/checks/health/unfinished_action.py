"""An action was started, and its outcome is unknown.

Why: repeating it blindly could submit or post something twice; not repeating it could leave the run
down.
Fix: make the scheduler and the issue readable again (`herorun doctor RUN` names what is not). The
next tick then finds out whether it happened, and records that. Submit and post nothing without
herorun: its own `launch` and `relaunch` find out first, and complete what was interrupted.
"""

from herorun.core.babysit.action_key import parse_key
from herorun.core.check import Gate, Hold, Response, Topic, check
from herorun.core.evidence import Unfinished
from herorun.core.finding import Verdict, failed, passed

OWN = "unfinished-action"  # where nothing can be posted, its own alerts stay unfinished too


@check(
    Gate.HEALTH, Response.ESCALATE, hold=Hold(ticks=2), topic=Topic.MONITOR, vetoes_relaunch=True
)
def unfinished_action(unfinished_actions: Unfinished) -> list[Verdict]:
    """One verdict for each action, by its key."""
    verdicts = [
        failed(f"no outcome is recorded for {action}", subject=action.partition(": ")[0])
        for action in unfinished_actions.actions
        if parse_key(action).check != OWN
    ]
    return verdicts or [passed("every action has an outcome")]
