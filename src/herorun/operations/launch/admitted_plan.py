"""The plan that a launch was admitted with."""

from herorun.core.event import Launching
from herorun.core.plan import Plan
from herorun.runs import Run
from herorun.runs.launch_trust import must_be_stated
from herorun.runs.recorded_plan import plan_again


def admitted_plan(run: Run, launching: Launching) -> Plan:
    """The plan of a launch, made again from its commit and its approved edits.

    The record only names these; the digest must match. A job may be started by the plan, so values
    that only the record has, such as a shell's `PYTHONPATH`, raise `Blocked` until a person here
    trusts them.
    """
    must_be_stated(run.record, run.contract, launching)
    return plan_again(run.repository, run.slug, launching, run.contract.code.remote)
