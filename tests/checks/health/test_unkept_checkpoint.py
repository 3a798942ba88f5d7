from builders import a_checkpoint, a_contract, a_history, answer
from herorun.checks.health.unkept_checkpoint import unkept_checkpoint
from herorun.core.evidence import Checkpoints, Unavailable
from herorun.core.finding import Outcome
from wording import mentions


def ask(*steps, began=0, **changes):
    checkpoints = Checkpoints(tuple(a_checkpoint(step, **changes) for step in steps))
    return answer(unkept_checkpoint, checkpoints, a_history(began=began))


def test_all_that_are_due_pass():
    assert mentions(ask(100, 200, 300).message, "3 permanent", "step", "300 are")


def test_one_that_is_gone_is_named():
    verdict = ask(100, 300)
    assert verdict.outcome is Outcome.FAIL
    assert mentions(verdict.message, "1 of", "3 permanent", "step", "200")


def test_nothing_is_due_up_to_where_the_run_began():
    assert ask(300, 400, began=200).outcome is Outcome.PASS


def test_temporary_ones_stand_for_nothing():
    assert ask(150, temporary=True).outcome is Outcome.NOT_APPLICABLE


def test_a_run_whose_beginning_nobody_knows_is_not_asked():
    assert ask(300, began=None).outcome is Outcome.NOT_APPLICABLE


def test_a_root_out_of_reach_is_unknown():
    assert answer(unkept_checkpoint, {Checkpoints: Unavailable("403")}).outcome is Outcome.UNKNOWN


def test_older_ones_than_the_oldest_that_is_there_are_no_finding_but_a_milestone_is():
    assert ask(300, 400).outcome is Outcome.PASS
    checkpoints = Checkpoints((a_checkpoint(300), a_checkpoint(400)))
    stated_contract = a_contract(checkpoints={"milestones": [150]})
    assert (
        "step 150"
        in answer(unkept_checkpoint, checkpoints, a_history(began=0), stated_contract).message
    )


def test_a_step_that_a_rollback_ruled_out_is_not_due():
    left_steps, ruled_out = (100, 400), (200, 300)
    checkpoints = Checkpoints(
        tuple(a_checkpoint(step) for step in left_steps),
        given_up=tuple(a_checkpoint(step) for step in ruled_out),
    )
    verdict = answer(unkept_checkpoint, checkpoints, a_history(began=0))

    assert verdict.outcome is Outcome.PASS
    assert mentions(verdict.message, "2 permanent", "200, 300")


def test_a_temporary_one_that_a_rollback_ruled_out_excuses_nothing():
    checkpoints = Checkpoints(
        (a_checkpoint(100), a_checkpoint(300)), given_up=(a_checkpoint(200, temporary=True),)
    )
    assert answer(unkept_checkpoint, checkpoints, a_history(began=0)).outcome is Outcome.FAIL
