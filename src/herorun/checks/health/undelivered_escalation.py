"""A message that needs a person was not delivered.

Why: a question that no channel delivers gets no answer, while the hardware waits or is wasted.
Fix: tell the DRI yourself; fix the channel that the message names (its variable, its service, the
network). herorun retries until a channel accepts the message, or until you acknowledge it (`herorun
ack RUN`).
"""

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.evidence import Undelivered
from herorun.core.finding import Verdict, failed, passed


@check(Gate.HEALTH, Response.ESCALATE, topic=Topic.MONITOR)
def undelivered_escalation(undelivered_posts: Undelivered) -> Verdict:
    """One verdict for all messages: they wait for the same channels."""
    if not undelivered_posts.posts:
        return passed("every required message was delivered")
    details = [
        f"{title!r}, since {at:%Y-%m-%d %H:%M} UTC ({why})"
        for title, at, why in undelivered_posts.posts
    ]
    more = f"; and {len(details) - 1} more" if len(details) > 1 else ""
    return failed(f"not delivered yet: {details[0]}{more}", *details)
