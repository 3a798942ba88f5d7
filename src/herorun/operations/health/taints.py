"""Taints by the rows that exist now: an order may come before a tick has read a numeric failure."""

from dataclasses import replace

from herorun import discover
from herorun.core.babysit.tick import tick
from herorun.core.evidence import FinalStep, Metrics, Now
from herorun.core.journal import Memory
from herorun.core.journal.decision import build_decision
from herorun.core.taint import TAINTING, apply_decision as tainted_by
from herorun.gather import gather
from herorun.operations.health.evaluate import READ_DEADLINE
from herorun.operations.health.rules import rules_of
from herorun.runs import Run
from herorun.system.clock import now


def with_taints_now(run: Run, memory: Memory) -> Memory:
    """The memory with the taints of the present rows, by the checks and limits of a tick. Rows that
    cannot be read add none, and remove none.
    """
    if memory.current is None or memory.sealed:
        return memory
    rules, at = rules_of(run), now()
    rules = replace(rules, checks=[check for check in rules.checks if check.name in TAINTING])
    needs = [need for check in rules.checks for need in check.needs]
    inputs = {**run.base_evidence(memory), Now: Now(at)}
    evidence = gather([*needs, Metrics, FinalStep], discover.sources(), inputs, READ_DEADLINE)
    result = tick(memory.alerts, memory.ledger, evidence, rules, at)
    return replace(
        memory, health=tainted_by(memory.health, build_decision(result, evidence, memory, ()))
    )
