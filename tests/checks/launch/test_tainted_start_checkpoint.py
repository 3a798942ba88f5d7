from dataclasses import replace

from builders import (
    MINUTE,
    NOON,
    PARENT,
    ROOT,
    a_checkpoint,
    a_contract,
    a_history,
    a_plan,
    an_instance,
    answer,
)
from herorun.checks.launch.tainted_start_checkpoint import tainted_start_checkpoint
from herorun.core.check import AtRelaunch
from herorun.core.evidence import Checkpoints, SourceRun, StartSiblings, Taint, Unavailable
from herorun.core.finding import Outcome

TAINT = Taint(check="not-finite", since=NOON, step=120, until=None, instance="tiny-1")


def ask_own(step=150, reason=None, **history):
    """A run with a past that would go on from one of its own checkpoints."""
    own = replace(a_checkpoint(step), modified=NOON + MINUTE)
    past = a_history(instances=(an_instance(intended=NOON - 60 * MINUTE),), **history)
    contract = a_contract(start={"from": own.path, "reason": reason})
    plan = replace(a_plan(contract), start=a_plan(own=[own], history=a_history()).start)
    return answer(tainted_start_checkpoint, contract, plan, past, Checkpoints((own,)))


def ask_parent(source, reason=None, modified_at=NOON + MINUTE):
    contract = a_contract(
        start={"from": f"{PARENT}/step-150", "source_run": "parent", "reason": reason},
    )
    beside = (replace(a_checkpoint(150, PARENT), modified=modified_at),)
    plan = a_plan(contract, (), beside)
    return answer(tainted_start_checkpoint, contract, plan, StartSiblings(beside), source)


def test_from_scratch_nothing_is_tainted():
    assert answer(tainted_start_checkpoint).outcome is Outcome.NOT_APPLICABLE


def test_one_of_a_healthy_run_passes():
    assert ask_own().outcome is Outcome.PASS


def test_one_that_was_written_after_an_unresolved_alert_fails():
    verdict = ask_own(taints=(TAINT,))

    assert verdict.outcome is Outcome.FAIL
    assert verdict.subject == f"{ROOT}/step-150" and "not-finite" in verdict.message


def test_so_does_one_that_no_instance_wrote():
    assert ask_own(foreign=frozenset({f"{ROOT}/step-150"})).outcome is Outcome.FAIL


def test_a_reason_passes_and_is_shown():
    reason = "the NaN was in the logger"
    verdict = ask_own(taints=(TAINT,), reason=reason)

    assert verdict.outcome is Outcome.PASS and reason in verdict.message


def test_a_source_runs_taints_count():
    assert ask_parent(SourceRun("parent", (PARENT,))).outcome is Outcome.PASS
    assert ask_parent(SourceRun("parent", (PARENT,), taints=(TAINT,))).outcome is Outcome.FAIL
    foreign = SourceRun("parent", (PARENT,), foreign=frozenset({f"{PARENT}/step-150"}))
    assert ask_parent(foreign).outcome is Outcome.FAIL


def test_a_store_that_tells_no_time_is_judged_by_the_step():
    tainted_verdict = SourceRun("parent", (PARENT,), taints=(TAINT,))

    assert ask_parent(tainted_verdict, modified_at=None).outcome is Outcome.FAIL


def test_a_source_run_out_of_reach_is_unknown():
    assert ask_parent({SourceRun: Unavailable("not in this clone")}).outcome is Outcome.UNKNOWN


def test_without_a_source_run_nobody_can_tell():
    contract = a_contract(start={"from": f"{PARENT}/step-150"})

    assert (
        answer(tainted_start_checkpoint, contract, a_plan(contract)).outcome
        is Outcome.NOT_APPLICABLE
    )


def test_it_is_asked_at_a_relaunch_too():
    assert tainted_start_checkpoint.at_relaunch is AtRelaunch.BLOCK
