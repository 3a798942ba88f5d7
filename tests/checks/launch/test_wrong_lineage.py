from builders import PARENT, ROOT, a_checkpoint, a_contract, a_history, a_plan, answer
from herorun.checks.launch.wrong_lineage import wrong_lineage
from herorun.core.check import AtRelaunch
from herorun.core.evidence import SourceRun, Unavailable
from herorun.core.finding import Outcome

SOURCE = SourceRun("parent", (PARENT, f"{PARENT}-temporary"))


def ask(path=f"{PARENT}/step-100", source=SOURCE, **start):
    contract = a_contract(start={"from": path, "source_run": "parent", **start})
    return answer(wrong_lineage, contract, a_plan(contract), source)


def test_from_scratch_there_is_no_lineage():
    assert answer(wrong_lineage).outcome is Outcome.NOT_APPLICABLE


def test_a_recorded_root_of_the_source_run_passes():
    assert ask().outcome is Outcome.PASS
    assert ask(f"{PARENT}-temporary/step-100").outcome is Outcome.PASS


def test_any_other_place_fails_and_names_the_roots():
    verdict = ask("/data/parent-2/step-100")

    assert verdict.outcome is Outcome.FAIL
    assert verdict.subject == "/data/parent-2/step-100" and verdict.details == SOURCE.roots


def test_a_source_run_that_was_never_launched_fails():
    assert "never launched" in ask(source=SourceRun("parent", ())).message


def test_a_lineage_that_the_contract_rejects_fails():
    assert ask(rejected=[PARENT]).outcome is Outcome.FAIL


def test_a_lineage_that_the_source_run_rejects_fails():
    source = SourceRun("parent", (PARENT,), rejected=(f"{PARENT}/step-100",))

    assert "[start] rejected" in ask(source=source).message
    assert ask(f"{PARENT}/step-90", source).outcome is Outcome.PASS


def test_without_a_source_run_it_is_the_other_checks():
    contract = a_contract(start={"from": f"{PARENT}/step-100"})

    assert answer(wrong_lineage, contract, a_plan(contract)).outcome is Outcome.NOT_APPLICABLE


def test_a_record_that_is_not_here_is_unknown():
    verdict = ask(
        source={SourceRun: Unavailable("the record of parent is not in this clone: `git fetch`")}
    )

    assert verdict.outcome is Outcome.UNKNOWN and "git fetch" in verdict.message


def test_its_own_checkpoint_needs_no_source_run():
    contract = a_contract(start={"from": f"{PARENT}/step-100", "source_run": "parent"})
    plan = a_plan(contract, [a_checkpoint(150)], (), a_history())

    verdict = answer(
        wrong_lineage, contract, plan, a_history(), {SourceRun: Unavailable("not here")}
    )
    assert verdict.outcome is Outcome.PASS and verdict.subject == f"{ROOT}/step-150"


def test_it_is_asked_at_a_relaunch_too():
    assert wrong_lineage.at_relaunch is AtRelaunch.BLOCK
