"""It is unknown whether an action of herorun, such as a relaunch, was carried out.

Why: to repeat it blindly could submit or post something twice; not to repeat it could leave the run
down.
Fix: make the scheduler and the issue readable again; `herorun doctor RUN` names what cannot be
read. The next tick then reads whether the action was carried out, and records it. Until then submit
no job and post no comment by hand. `herorun launch` and `herorun relaunch` are safe: they check
first, and complete what was interrupted.
"""

from herorun.core.babysit.action_key import describe_action, parse_key
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
        failed(
            f"unknown whether this was carried out: {describe_action(action)}",
            subject=action.partition(": ")[0],
        )
        for action in unfinished_actions.actions
        if parse_key(action).check != OWN
    ]
    return verdicts or [passed("every action has an outcome")]
