"""The present health of a run: gathers its evidence and evaluates the health checks, without
acting.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from herorun import discover
from herorun.core.babysit.tick import Tick, tick
from herorun.core.check import Check, Gate
from herorun.core.errors import WrongUse
from herorun.core.evidence import (
    Checkpoints,
    Disks,
    Evidence,
    FinalStep,
    JobWarnings,
    Metrics,
    Now,
    OtherJobs,
    Receipt,
    RootAtEnd,
    Triage,
    Unfinished,
)
from herorun.core.journal import Memory
from herorun.core.ports import Scheduler
from herorun.gather import gather
from herorun.operations.health.rules import rules_of
from herorun.operations.health.shared_polls import SharedPolls
from herorun.runs import MonitoredRun
from herorun.source_index import read_order
from herorun.system.clock import now, uptime
from herorun.system.files import is_locked

READ_DEADLINE = 60.0  # seconds for all reads of a tick
# Evidence that is shown or recorded, whether a check asks for it or not.
SHOWN_EVIDENCE = (
    Metrics,
    Receipt,
    FinalStep,
    Checkpoints,
    Triage,
    OtherJobs,
    RootAtEnd,
    Disks,
    JobWarnings,
)


def must_be_launched(run: MonitoredRun, memory: Memory, order: str = "") -> None:
    """Raise unless there is an instance. `order` is what has no object without one, such as "stop":
    a person who types it does not want a launch.
    """
    if not memory.instances and not memory.unsettled:
        way_on = (
            f"there is nothing to {order}. `herorun list` shows the runs."
            if order
            else f"`herorun launch {run.slug}`."
        )
        raise WrongUse(f"{run.slug} has not been launched: {way_on}")


def memory_and_acting(run: MonitoredRun) -> tuple[Memory, bool]:
    """The record's state, and whether a process of this machine is performing its unfinished
    actions now. An action that a tick has found unfinished counts as that until a tick settles it.
    """
    memory = run.record.memory()
    if not memory.unfinished_actions.actions:
        return memory, False
    if is_locked(run.lock("act")):
        return memory, all(a.check != "unfinished-action" for a in memory.alerts.values())
    return run.record.memory(), False  # the process may have ended in between


def evaluate(
    run: MonitoredRun,
    is_certain: bool = False,
    memory: Memory | None = None,
    polls: SharedPolls | None = None,
    is_acting: bool = False,
) -> tuple[Tick, Evidence]:
    """Gather the evidence and evaluate it, without acting: the result that `status` shows and
    `babysit` acts on.

    With `is_certain`, an interrupted relaunch was certainly never submitted. Then it does not count
    as unfinished: it is decided again, and continues under its own name. With `is_acting`, another
    process is performing the unfinished actions now, so they are no problem yet.
    """
    memory = memory or run.record.memory()
    rules = rules_of(run)
    inputs = run.base_evidence(memory)
    inputs[Scheduler] = (polls or SharedPolls()).of(run, memory)
    at, clock = now(), uptime()
    inputs[Now] = Now(at, *clock) if clock else Now(at)
    if is_certain and memory.unsettled is not None and memory.unsettled.relaunch_of:
        inputs[Unfinished] = replace(memory, unsettled=None).unfinished_actions
    if is_acting:
        inputs[Unfinished] = Unfinished()
    evidence = gather(_evidence_kinds(rules.checks), discover.sources(), inputs, READ_DEADLINE)
    return tick(memory.alerts, memory.ledger, evidence, rules, at), evidence


def _evidence_kinds(checks: Iterable[Check]) -> list[Any]:
    return [*(need for check in checks for need in check.needs), *SHOWN_EVIDENCE]


def import_all() -> None:
    """Import what `evaluate` does when it first needs it: the files of checks and sources."""
    checks = discover.checks(Gate.HEALTH)
    for check in checks:
        check.limits, check.ask  # noqa: B018  # imported on first use
    read_order(_evidence_kinds(checks), discover.sources(), ())
