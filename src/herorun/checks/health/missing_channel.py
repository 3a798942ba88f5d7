"""A channel that the contract names cannot be used where the babysitter runs.

Why: a babysitter that was started elsewhere, by cron or after a login, lacks the variable, and its
messages are not delivered.
Fix: start the babysitter where the variable is set (`herorun babysit RUN`); or remove its name from
`[notify]`.
"""

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.evidence import ChannelState
from herorun.core.finding import Verdict


@check(Gate.HEALTH, Response.WARN, topic=Topic.MONITOR)
def missing_channel(state: ChannelState) -> list[Verdict]:
    """One verdict for each name. The check sends nothing."""
    from herorun.core.notify.channels import judge_channels

    return judge_channels(state)
