"""Suspends automatic actions for a while. Monitoring, notifications and questions continue."""

from datetime import datetime

from herorun.core.canonical_json import timestamp
from herorun.core.event import Word
from herorun.operations.orders.order import OrderOutcome, memory_for_orders, order, push_warning
from herorun.runs import Run
from herorun.system.clock import now


def pause(run: Run, until: datetime, reason: str = "") -> OrderOutcome:
    """Suspend automatic relaunches and stops until then."""
    memory = memory_for_orders(run)
    message = (
        f"paused until {timestamp(until)}: monitoring continues, but herorun neither stops nor "
        f"relaunches the job by itself; `herorun resume {run.slug}` ends the pause"
    )
    if memory.pause and memory.pause.until == until:
        return OrderOutcome(run, f"{message}, as it was", warnings=push_warning(run))
    return OrderOutcome(run, message, warnings=order(run, Word.PAUSE, [run.slug], reason, until))


def resume(run: Run, reason: str = "") -> OrderOutcome:
    """End a pause before its time."""
    memory = memory_for_orders(run)
    if not memory.ledger.paused(now()):
        return OrderOutcome(run, "it is not paused", warnings=push_warning(run))
    return OrderOutcome(
        run,
        f'the pause is over: [babysit] recovery = "{run.contract.babysit.recovery}" applies again',
        warnings=order(run, Word.RESUME, [run.slug], reason),
    )
