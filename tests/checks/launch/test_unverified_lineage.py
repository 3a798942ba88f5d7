from builders import PARENT, a_checkpoint, a_contract, a_history, a_plan, answer
from herorun.checks.launch.unverified_lineage import unverified_lineage
from herorun.core.check import Response
from herorun.core.finding import Outcome


def ask(**start):
    contract = a_contract(start=start)
    return answer(unverified_lineage, contract, a_plan(contract))


def test_from_scratch_there_is_no_lineage():
    assert ask().outcome is Outcome.NOT_APPLICABLE


def test_a_start_without_a_source_run_is_warned_of():
    verdict = ask(**{"from": f"{PARENT}/step-100"})

    assert verdict.outcome is Outcome.FAIL and verdict.subject == f"{PARENT}/step-100"
    assert unverified_lineage.response is Response.WARN


def test_a_source_run_is_judged_by_another_check():
    verdict = ask(**{"from": f"{PARENT}/step-100", "source_run": "parent"})

    assert verdict.outcome is Outcome.NOT_APPLICABLE


def test_a_run_with_a_past_continues_from_its_own():
    contract = a_contract(start={"from": f"{PARENT}/step-100"})
    plan = a_plan(contract, [a_checkpoint(150)], (), a_history())

    assert answer(unverified_lineage, contract, plan, a_history()).outcome is Outcome.NOT_APPLICABLE
