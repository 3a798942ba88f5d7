from builders import (
    ROOT,
    TEMPORARY,
    a_checkpoint,
    a_contract,
    a_history,
    a_plan,
    an_instance,
    answer,
    answers,
)
from herorun.checks.launch.moved_root import moved_root
from herorun.core.check import AtRelaunch
from herorun.core.evidence import LeftCheckpoints, Unavailable
from herorun.core.finding import Outcome
from wording import mentions

OLD = "/data/first"
PAST = a_history(instances=(an_instance(output_root=OLD),))


def ask(*checkpoints, history=PAST):
    return answer(moved_root, a_plan(history=history), history, LeftCheckpoints(checkpoints))


def test_a_first_launch_has_moved_nowhere():
    assert answer(moved_root).outcome is Outcome.NOT_APPLICABLE


def test_the_recorded_root_passes():
    assert ask(history=a_history()).outcome is Outcome.PASS


def test_a_moved_root_fails_and_names_both_and_what_is_left_behind():
    verdict = ask(
        a_checkpoint(100, root=OLD), a_checkpoint(110, root=OLD, problem="no metadata.json")
    )

    assert (verdict.outcome, verdict.subject) == (Outcome.FAIL, ROOT)
    assert mentions(verdict.message, f"{OLD}", "write", f"{ROOT}", "scratch")
    assert mentions(verdict.message, "complete", "100 lies", f"{OLD}")
    assert verdict.details == (f"{OLD}/step-110", f"{OLD}/step-100")


def test_it_fails_where_nothing_is_left_too():
    assert mentions(ask().message, "complete", "found")


def test_an_incomplete_one_is_not_called_complete():
    verdict = ask(a_checkpoint(110, root=OLD, problem="no metadata.json"))

    assert mentions(verdict.message, "found", f"{OLD}", f"{OLD}", "/step-110")


def test_what_could_not_be_read_is_reported_and_still_fails():
    verdict = answer(moved_root, a_plan(history=PAST), PAST, {LeftCheckpoints: Unavailable("403")})

    assert verdict.outcome is Outcome.FAIL and mentions(verdict.message, "read", "403")


def test_a_temporary_root_that_moved_or_is_given_up_fails_too():
    past = a_history(instances=(an_instance(temporary_root="/data/other"),))
    contract = a_contract(output={"temporary_root": None})

    moved_answer = answer(moved_root, a_plan(history=past), past)
    without_root = answer(moved_root, a_plan(contract, history=a_history()), a_history())

    assert (moved_answer.outcome, moved_answer.subject) == (Outcome.FAIL, TEMPORARY)
    assert without_root.outcome is Outcome.FAIL and "temporary root" in without_root.message


def test_each_root_is_judged_apart():
    past = a_history(instances=(an_instance(output_root=OLD, temporary_root="/data/other"),))

    assert len(answers(moved_root, a_plan(history=past), past)) == 2


def test_it_is_asked_at_a_relaunch_too():
    assert moved_root.at_relaunch is AtRelaunch.BLOCK
