"""Suspends automatic actions for a while. Monitoring, notifications and questions continue."""

from datetime import datetime

from herorun.core.canonical_json import timestamp
from herorun.core.contract import Recovery
from herorun.core.event import Word
from herorun.core.health.run_health import RunHealth
from herorun.core.journal import Memory
from herorun.operations.orders.order import (
    OrderOutcome,
    babysitter_runs,
    memory_for_orders,
    order,
    push_warning,
    unwatched_warnings,
)
from herorun.runs import Run
from herorun.system.clock import now


def pause(run: Run, until: datetime, reason: str = "") -> OrderOutcome:
    """Suspend automatic relaunches and stops until then."""
    memory = memory_for_orders(run)
    is_same = memory.pause is not None and memory.pause.until == until
    message = (
        f"{'already ' if is_same else ''}paused until {timestamp(until.replace(microsecond=0))}: "
        f"herorun neither stops nor relaunches the job by itself; {_monitoring(run, memory)}"
        f"`herorun resume {run.slug}` ends the pause"
    )
    warnings = push_warning(run) if is_same else order(run, Word.PAUSE, [run.slug], reason, until)
    return OrderOutcome(run, message, warnings=(*warnings, *_warn_unmonitored(run, memory)))


def resume(run: Run, reason: str = "") -> OrderOutcome:
    """End a pause before its time."""
    memory = memory_for_orders(run)
    if not memory.ledger.is_paused(now()):
        message = "not paused, so nothing was done"
        if memory.last_decided is not None and memory.last_decided.run == RunHealth.DOWN:
            message += f"; `herorun status {run.slug}` shows how to continue a run that is down"
        return OrderOutcome(run, message, warnings=push_warning(run))
    recovery = run.contract.babysit.recovery
    message = f'the pause is over: [babysit] recovery = "{recovery}" applies from the next tick on'
    is_down = memory.last_decided is not None and memory.last_decided.run == RunHealth.DOWN
    if is_down and recovery is Recovery.RELAUNCH:
        message += "; the run was down, and that tick may relaunch it"
    warnings = order(run, Word.RESUME, [run.slug], reason)
    return OrderOutcome(run, message, warnings=(*warnings, *_warn_unmonitored(run, memory)))


def _monitoring(run: Run, memory: Memory) -> str:
    if not memory.current:
        return "the run is not launched yet; "
    if babysitter_runs(run):
        return "monitoring and notifications continue; "
    return ""  # a warning says more


def _warn_unmonitored(run: Run, memory: Memory) -> tuple[str, ...]:
    return unwatched_warnings(run) if memory.current else ()
