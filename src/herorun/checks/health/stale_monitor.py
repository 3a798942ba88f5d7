"""Another babysitter of the run no longer renews its heartbeat or its lease.

Why: a babysitter process that writes nothing new monitors nothing, even if it still exists; the run
may be healthy or failing.
Fix: read on that machine the babysitter's log (`.herorun/RUN/babysit.log`); end it, and start it
again there (``herorun babysit RUN``), or take the run over (`herorun handoff RUN --take` prints
how).
Source: marin-community/marin, manage-hero-run: a stale monitor is reported apart from an unhealthy
run. Two cadences by this machine's clock without a new heartbeat or a renewed lease; below two
minutes nothing is stale.
"""

from datetime import timedelta
from typing import ClassVar

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.durations import format_span
from herorun.core.evidence import Cadence, Heartbeat, LeaseSeen, Nothing, Now
from herorun.core.finding import Verdict, failed, not_applicable, passed
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import PositiveFloat


@dataclass(frozen=True)
class Limits:
    RENAMED: ClassVar = {"least": "min_idle"}

    cadences: PositiveFloat = 2.0
    min_idle: timedelta = timedelta(minutes=2)


@check(Gate.HEALTH, Response.ESCALATE, topic=Topic.MONITOR)
def stale_monitor(
    lease: LeaseSeen | Nothing, heart: Heartbeat, cadence: Cadence, now: Now, limits: Limits
) -> list[Verdict]:
    """One verdict for another machine that holds the lease, and one for another process on this
    machine.
    """
    most = max(limits.min_idle, limits.cadences * cadence.every)
    limit = format_span(most)
    verdicts = []
    if isinstance(lease, LeaseSeen) and not lease.mine:
        idle = now.at - lease.unchanged_since
        message = (
            f"{lease.owner} renewed its lease {format_span(idle)} ago, "
            f"{'more than' if idle > most else 'within'} the limit of {limit}{lease.caveat}"
        )
        verdicts.append(
            failed(message, subject=lease.owner)
            if idle > most
            else passed(message, subject=lease.owner)
        )
    if heart.held and not heart.own and heart.at:
        idle = now.at - heart.at
        message = (
            f"the last heartbeat of the babysitter on this machine was {format_span(idle)} ago, "
            f"{'more than' if idle > most else 'within'} the limit of {limit}"
        )
        verdicts.append(
            failed(message, subject="this machine")
            if idle > most
            else passed(message, subject="this machine")
        )
    return verdicts or [not_applicable("no other babysitter monitors the run")]
