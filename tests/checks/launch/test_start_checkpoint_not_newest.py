from dataclasses import replace

from builders import MINUTE, NOON, PARENT, ROOT, a_checkpoint, a_contract, a_history, a_plan, answer
from herorun.checks.launch.start_checkpoint_not_newest import start_checkpoint_not_newest
from herorun.core.check import AtRelaunch
from herorun.core.evidence import Checkpoints, Sourced, StartSiblings, Taint, Unavailable
from herorun.core.finding import Outcome
from wording import mentions


def parents(*steps, **changes):
    return tuple(a_checkpoint(step, PARENT, **changes) for step in steps)


def ask(step, beside, **start):
    """A first launch from the parent's checkpoint of a step."""
    contract = a_contract(start={"from": f"{PARENT}/step-{step}", **start})
    plan = a_plan(contract, (), beside)
    return answer(start_checkpoint_not_newest, contract, plan, StartSiblings(beside))


def ask_again(own, start=None, **start_table):
    """A run with a past; `start` replaces what the plan chose."""
    contract, history = a_contract(start=start_table), a_history()
    plan = a_plan(contract, own, (), history)
    plan = plan if start is None else replace(plan, start=start)
    return answer(start_checkpoint_not_newest, contract, plan, history, Checkpoints(tuple(own)))


def test_from_scratch_without_a_past_is_not_applicable():
    assert answer(start_checkpoint_not_newest).outcome is Outcome.NOT_APPLICABLE


def test_a_first_launch_does_not_ask_about_what_happens_to_lie_in_its_root():
    """That is output-root-in-use."""
    verdict = answer(start_checkpoint_not_newest, Checkpoints((a_checkpoint(100),)))

    assert verdict.outcome is Outcome.NOT_APPLICABLE


def test_the_newest_passes():
    assert ask(200, parents(100, 200)).outcome is Outcome.PASS


def test_an_older_one_fails_and_says_what_it_costs():
    verdict = ask(54000, parents(54000, 58014))

    assert verdict.outcome is Outcome.FAIL
    assert verdict.subject == f"{PARENT}/step-54000"
    assert mentions(verdict.message, f"{PARENT}", "/step-58014", "58014", "4014 steps", "lost")
    assert "sorted" not in verdict.message


def test_the_order_of_names_is_hinted_at():
    assert mentions(ask(9000, parents(9000, 10000)).message, "sorted", "text")


def test_an_incomplete_newer_one_does_not_count():
    beside = (*parents(100), *parents(200, problem="no metadata.json"))

    assert ask(100, beside).outcome is Outcome.PASS


def test_a_rejected_lineage_does_not_count():
    assert ask(100, parents(100, 200), rejected=[f"{PARENT}/step-200"]).outcome is Outcome.PASS
    assert ask(100, parents(100, 200), rejected=[f"{PARENT}/step-20"]).outcome is Outcome.FAIL


def test_a_reason_passes_and_is_shown():
    reason = "before the bad data"
    verdict = ask(100, parents(100, 200), reason=reason)

    assert verdict.outcome is Outcome.PASS
    assert reason in verdict.message and "step-200" in verdict.message


def test_a_reason_is_for_the_checkpoint_that_the_contract_names():
    contract = a_contract(start={"from": f"{PARENT}/step-100", "reason": "before the bad data"})
    plan = a_plan(contract, (), parents(100, 150, 200)).started_from(
        parents(150)[0], "somebody's choice"
    )

    verdict = answer(
        start_checkpoint_not_newest, contract, plan, StartSiblings(parents(100, 150, 200))
    )
    assert verdict.outcome is Outcome.FAIL


def test_one_that_is_not_there_is_left_to_the_other_check():
    assert ask(150, parents(100, 200)).outcome is Outcome.NOT_APPLICABLE


def test_an_unread_folder_is_unknown():
    plan = a_plan(a_contract(start={"from": "/p/step-1"}))

    assert (
        answer(start_checkpoint_not_newest, plan, {StartSiblings: Unavailable("403")}).outcome
        is Outcome.UNKNOWN
    )


def test_a_run_with_a_past_continues_from_its_newest():
    assert ask_again([a_checkpoint(100), a_checkpoint(150)]).subject == f"{ROOT}/step-150"


def test_a_run_with_a_past_and_an_old_start_fails():
    own = [a_checkpoint(100), a_checkpoint(150)]
    old = a_plan(history=a_history(), own=own[:1]).start

    verdict = ask_again(own, old)
    assert verdict.outcome is Outcome.FAIL
    assert mentions(verdict.message, "50 steps", "lost")


def test_a_run_with_a_past_may_not_begin_from_scratch():
    verdict = ask_again([a_checkpoint(41449)], Sourced(None, "from scratch"))

    assert verdict.outcome is Outcome.FAIL
    assert "from scratch" in verdict.message and "step-41449" in verdict.message


def test_a_run_with_a_past_may_not_begin_at_its_parent_again():
    contract = a_contract(start={"from": f"{PARENT}/step-900", "reason": "the start of the run"})
    plan = a_plan(contract, (), parents(900), a_history())
    checkpoints = (Checkpoints((a_checkpoint(50),)), StartSiblings(parents(900)))

    assert (
        answer(start_checkpoint_not_newest, contract, plan, a_history(), *checkpoints).outcome
        is Outcome.FAIL
    )


def test_a_run_whose_own_are_all_rejected_may_begin_elsewhere():
    verdict = ask_again([a_checkpoint(50)], Sourced(None, "from scratch"), rejected=[ROOT])

    assert verdict.outcome is Outcome.NOT_APPLICABLE


def test_a_parent_out_of_reach_does_not_hold_a_relaunch_back():
    own = [a_checkpoint(150)]
    contract = a_contract(start={"from": f"{PARENT}/step-100"})
    plan = a_plan(contract, own, (), a_history())
    dark = {StartSiblings: Unavailable("permission denied")}

    verdict = answer(
        start_checkpoint_not_newest, contract, plan, a_history(), Checkpoints(tuple(own)), dark
    )
    assert verdict.outcome is Outcome.PASS


def test_it_is_asked_at_a_relaunch_too():
    assert start_checkpoint_not_newest.at_relaunch is AtRelaunch.BLOCK


# --- by step and by time --------------------------------------------------------------------------


def stamped_checkpoint(step, stamp, root=ROOT):
    return replace(a_checkpoint(step, root), timestamp=stamp)


def test_the_newest_by_step_and_by_time_must_be_one():
    verdict = ask_again(
        [
            stamped_checkpoint(600, "2026-01-02T00:00:00"),
            stamped_checkpoint(1000, "2026-01-01T00:00:00"),
        ]
    )

    assert verdict.outcome is Outcome.FAIL
    assert verdict.subject == f"{ROOT}/step-1000"
    assert "step-600" in verdict.message and "step-1000" in verdict.message


def test_so_must_those_next_to_the_start():
    beside = (
        stamped_checkpoint(600, "2026-01-02T00:00:00", PARENT),
        stamped_checkpoint(1000, "2026-01-01T00:00:00", PARENT),
    )

    refusal, accepted_answer = ask(1000, beside), ask(1000, beside, reason="the rollback failed")
    assert (refusal.outcome, accepted_answer.outcome) == (Outcome.FAIL, Outcome.PASS)
    assert all("step-600" in verdict.message for verdict in (refusal, accepted_answer))
    # what is accepted orders nothing
    assert ["[start]" in verdict.message for verdict in (refusal, accepted_answer)] == [True, False]


def test_a_rejected_lineage_leaves_no_doubt():
    own = [
        stamped_checkpoint(600, "2026-01-02T00:00:00"),
        stamped_checkpoint(1000, "2026-01-01T00:00:00"),
    ]

    assert ask_again(own, rejected=[f"{ROOT}/step-1000"]).outcome is Outcome.PASS


def test_a_time_with_a_zone_is_not_compared_with_one_without():
    own = [
        stamped_checkpoint(600, "2026-01-02T00:00:00Z"),
        stamped_checkpoint(1000, "2026-01-01T00:00:00"),
    ]

    assert ask_again(own).outcome is Outcome.PASS


def test_without_the_trainers_time_the_stores_counts():
    own = [
        replace(a_checkpoint(600), timestamp="", modified=NOON),
        replace(a_checkpoint(1000), timestamp="", modified=NOON - MINUTE),
    ]

    assert ask_again(own).outcome is Outcome.FAIL


def test_one_that_cannot_be_read_and_may_be_newer_is_unknown():
    unread_checkpoint = replace(
        a_checkpoint(200, PARENT), problem="it could not be read: EIO", examined=False
    )

    assert ask(100, (*parents(100), unread_checkpoint)).outcome is Outcome.UNKNOWN
    assert (
        ask(100, (*parents(100), unread_checkpoint), reason="it is broken").outcome is Outcome.PASS
    )
    assert ask(300, (*parents(300), unread_checkpoint)).outcome is Outcome.PASS


def test_a_tainted_one_does_not_count():
    own = [a_checkpoint(100), a_checkpoint(150)]
    history = a_history(taints=(Taint(check="not-finite", since=NOON, step=120),))
    plan = a_plan(own=own, history=history)

    verdict = answer(start_checkpoint_not_newest, plan, history, Checkpoints(tuple(own)))
    assert verdict.outcome is Outcome.PASS and verdict.subject == f"{ROOT}/step-100"
