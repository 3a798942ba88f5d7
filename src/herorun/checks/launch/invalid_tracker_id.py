"""The tracker would not accept the run's id, or its project's name.

Why: W&B refuses such a name in the running job, after the accelerators were allocated.
Fix: in `[tracker] id` (by default the slug) use letters, digits, `_`, `.` and `-`, at most 64; a
project name has at most 128 characters, without slash, backslash, number sign, question mark,
percent sign or colon.
Source: what W&B's client 0.31 refuses in an id and in a project; its server is known to accept 64
characters. Another tracker's adapter declares its own rules.
"""

import re

from herorun.core.check import AtRelaunch, Gate, Response, check
from herorun.core.evidence import TrackerTraits
from herorun.core.finding import Verdict, failed, not_applicable, passed
from herorun.core.plan import Plan


@check(Gate.LAUNCH, Response.BLOCK, at_relaunch=AtRelaunch.WARN)
def invalid_tracker_id(plan: Plan, tracker: TrackerTraits) -> list[Verdict]:
    """One verdict for each part of the identity that is stated and for which the tracker has a
    rule.
    """
    run = plan.tracker.value
    parts = {"id": run.id, "project": run.project, "entity": run.entity}
    return [
        _judge_identifier(name, value, rule, run.kind)
        for name, rule in tracker.name_rules.items()
        if (value := parts.get(name)) is not None
    ] or [not_applicable(f"the tracker {run.kind} has no rules for names")]


def _judge_identifier(name: str, value: str, rule: str, kind: str) -> Verdict:
    if re.fullmatch(rule, value) and value == value.strip():
        return passed(f"{name} {value} is valid for {kind}", subject=value)
    return failed(
        f"[tracker] {name} is {value!r}, which is not a valid {name} for {kind}", subject=value
    )
