"""The plan that a launch was admitted with."""

from herorun.core.event import Launching
from herorun.core.plan import Plan
from herorun.runs import Run
from herorun.runs.launch_trust import must_be_whole
from herorun.runs.recorded_plan import plan_again


def admitted_plan(run: Run, launching: Launching) -> Plan:
    """The plan of a launch, made again from its commit and its approved edits.

    The record only says which these are; the digest must agree. A job may be started by it, so what
    only the record tells, as a shell's `PYTHONPATH`, is `Blocked` until a person here believes it.
    """
    must_be_whole(run.record, run.contract, launching)
    return plan_again(run.repository, run.slug, launching, run.contract.code.remote)
