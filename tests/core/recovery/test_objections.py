"""What stands against a relaunch: its kind, the reason that it is put to a person for, and why."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from builders import NOON
from core.babysit.test_policy import CHECKS
from core.recovery.test_recovery import an_ending
from herorun.core.contract import Recovery
from herorun.core.notify.escalation import EscalationReason
from herorun.core.recovery.classify import Cause, Ending
from herorun.core.recovery.decision import RelaunchObjection, relaunch_objection, why_recoverable
from herorun.core.recovery.policy import (
    FailedAttempts,
    Ledger,
    RecoveryPolicy,
    RelaunchAnswer,
    Span,
)
from screens.notices import Notice

HOUR = timedelta(hours=1)
NODE_LOST = an_ending(seen="node-failure", advice="Replace the node.")
BUG = an_ending(Cause.CODE_BUG, seen="code-bug-small")
RECENT_CAUSES = tuple((NOON - HOUR, Cause.INFRA) for _ in range(6))
USED_SPANS = (Span("tiny-1", NOON - 10 * HOUR, NOON),)


def objection(
    ending: Ending = NODE_LOST, policy: RecoveryPolicy | None = None, **ledger: Any
) -> RelaunchObjection | None:
    history = Ledger(instance=ending.instance, **ledger)
    return relaunch_objection((), CHECKS, policy or RecoveryPolicy(), history, ending, NOON)


def test_nothing_stands_against_a_first_failure() -> None:
    assert objection() is None


@pytest.mark.parametrize(
    ("ending", "policy", "ledger", "kind", "reason"),
    [
        (NODE_LOST, {"resumable": False}, {}, "never", EscalationReason.LINEAGE),
        (NODE_LOST, {"recovery": Recovery.ASK}, {}, "recovery", EscalationReason.JUDGEMENT),
        (NODE_LOST, {"recovery": Recovery.OBSERVE}, {}, "recovery", EscalationReason.JUDGEMENT),
        (an_ending(Cause.NUMERIC), {}, {}, "numeric", EscalationReason.JUDGEMENT),
        (BUG, {}, {}, "code-bug", EscalationReason.JUDGEMENT),
        (replace(BUG, place="train.py:72"), {}, {}, "code-bug", EscalationReason.JUDGEMENT),
        (
            replace(BUG, seen="data", advice="Restore the file."),
            {},
            {},
            "code-bug",
            EscalationReason.JUDGEMENT,
        ),
        (
            replace(BUG, advice="Fix it."),
            {},
            {"endings": (an_ending(Cause.CODE_BUG, 1, "f2"),)},
            "fixed-once",
            EscalationReason.JUDGEMENT,
        ),
        (
            an_ending(Cause.LOST_OUTPUT, seen="output-root-gone", advice="Restore it."),
            {},
            {},
            "output-root-gone",
            EscalationReason.JUDGEMENT,
        ),
        (replace(NODE_LOST, needs_person=True), {}, {}, "person", EscalationReason.JUDGEMENT),
        (NODE_LOST, {}, {"relaunch_causes": RECENT_CAUSES}, "budget", EscalationReason.SPEND),
        (NODE_LOST, {"relaunches": 1}, {"relaunched": (NOON,)}, "budget", EscalationReason.SPEND),
        (
            NODE_LOST,
            {"accelerator_hours": 80.0, "accelerators": 8},
            {"spans": USED_SPANS},
            "hours",
            EscalationReason.SPEND,
        ),
        (NODE_LOST, {"accelerator_hours": 80.0}, {}, "hours", EscalationReason.SPEND),
        (
            NODE_LOST,
            {},
            {"failed": {"relaunch/tiny-2": FailedAttempts(3, NOON, "no answer")}},
            "tries",
            EscalationReason.CLUSTER,
        ),
    ],
)
def test_each_objection(
    ending: Ending,
    policy: dict[str, Any],
    ledger: dict[str, Any],
    kind: str,
    reason: EscalationReason,
    notice: Notice,
) -> None:
    against = objection(ending, RecoveryPolicy(**policy), **ledger)
    assert against is not None
    assert (against.kind, against.reason) == (kind, reason)
    assert against.why == notice


def test_a_first_bug_has_not_come_again_also_where_no_launch_is_allowed_after_a_fix() -> None:
    against = objection(BUG, RecoveryPolicy(code_bug=0))
    assert against is not None and against.kind == "code-bug"


def test_a_budget_that_is_spent_in_two_ways_is_asked_about_once() -> None:
    """A yes to the one budget must not leave the other one to ask."""
    policy = RecoveryPolicy(relaunches=1)
    budget = {"relaunch_causes": RECENT_CAUSES, "relaunched": (NOON,)}
    yes = RelaunchAnswer(yes=True, by="ada", at=NOON, reason="go")
    assert objection(policy=policy, **budget) is not None
    assert objection(policy=policy, **budget, answers={"tiny-2": yes}) is None


@pytest.mark.parametrize(
    ("ending", "budget"),
    [
        (NODE_LOST, RECENT_CAUSES[:2]),
        (an_ending(Cause.PREEMPTION), ()),
        (an_ending(Cause.UNKNOWN), ()),
    ],
)
def test_why_a_failure_is_recoverable(ending: Ending, budget: Any, notice: Notice) -> None:
    assert why_recoverable(ending, RecoveryPolicy(), Ledger(relaunch_causes=budget), NOON) == notice
