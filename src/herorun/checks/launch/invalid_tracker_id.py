"""The tracker would not accept the run's id, or its project's name.

Why: W&B refuses such a name in the running job, after the accelerators were allocated.
Fix: in `[tracker] id` (by default the slug) use letters, digits, `_`, `.` and `-`, at most 64; a
project name has at most 128 characters, without slash, backslash, number sign, question mark,
percent sign or colon.
Source: what W&B's client 0.31 refuses in an id and in a project; its server is known to accept 64
characters.
"""

import re

from herorun.core.check import AtRelaunch, Gate, Response, check
from herorun.core.finding import Verdict, failed, not_applicable, passed
from herorun.core.identity.intent import is_wandb
from herorun.core.lazy_regex import lazy_regex
from herorun.core.plan import Plan

_ID = lazy_regex(r"[A-Za-z0-9_.-]{1,64}", re.ASCII)
_PROJECT = lazy_regex(r"[^/\\#?%:\x00-\x1f]{1,128}")
_ENTITY = lazy_regex(r"[^/\s]+")


@check(Gate.LAUNCH, Response.BLOCK, at_relaunch=AtRelaunch.WARN)
def invalid_tracker_id(plan: Plan) -> list[Verdict]:
    """One answer for each part of the identity that is stated."""
    run = plan.tracker.value
    if not is_wandb(run.kind):
        return [not_applicable(f"the tracker {run.kind} has no rules for names")]
    parts = (
        ("id", run.id, _ID),
        ("project", run.project, _PROJECT),
        ("entity", run.entity, _ENTITY),
    )
    return [
        _judge_identifier(name, value, rule) for name, value, rule in parts if value is not None
    ]


def _judge_identifier(name: str, value: str, rule: re.Pattern[str]) -> Verdict:
    if rule.fullmatch(value) and value == value.strip():
        return passed(f"{name} {value} is valid for W&B", subject=value)
    return failed(f"[tracker] {name} is {value!r}, which is not a valid W&B {name}", subject=value)
