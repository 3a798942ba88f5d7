from dataclasses import replace
from datetime import timedelta

import pytest

from builders import MINUTE, NOON, PARENT, ROOT, a_checkpoint, a_receipt, answer, some_metrics
from herorun.checks.health.wrong_resume import wrong_resume
from herorun.core.check import Response
from herorun.core.evidence import Checkpoints, Metrics, Nothing, PriorLaunch, Receipt, Unavailable
from herorun.core.finding import Outcome

FROM = f"{ROOT}/step-3541"


def plan(step=3541, path=FROM, kind="full-state", instance="tiny-1"):
    return PriorLaunch(instance, {"start": {"path": path, "step": step, "kind": kind}})


SCRATCH = PriorLaunch("tiny-1", {"start": None})


def rows(step, first):
    return some_metrics(step, first_step=first, high_water=3600)


def test_the_step_after_the_checkpoints_is_right():
    assert answer(wrong_resume, plan(), rows(3550, 3542)).outcome is Outcome.PASS
    assert answer(wrong_resume, SCRATCH, some_metrics(20, first_step=1)).outcome is Outcome.PASS


@pytest.mark.parametrize("first", [1, 2651, 3540])
def test_rows_below_the_start_are_wrong(first):
    verdict = answer(wrong_resume, plan(), rows(max(first, 40), first))

    assert verdict.outcome is Outcome.FAIL
    assert f"should have begun after step 3541 of {FROM}" in verdict.message


def test_a_first_row_from_a_newer_checkpoint_is_wrong():
    other = replace(a_checkpoint(3580), modified=NOON - timedelta(days=1))
    own = replace(a_checkpoint(3580), modified=NOON - MINUTE)

    verdict = answer(wrong_resume, plan(), rows(3600, 3581), Checkpoints((other,)))
    assert verdict.outcome is Outcome.FAIL and "as from /data/tiny/step-3580" in verdict.message
    assert answer(wrong_resume, plan(), rows(3600, 3581), Checkpoints((own,))).outcome is Outcome.PASS
    assert (
        answer(wrong_resume, plan(), rows(3600, 3551), Checkpoints()).outcome is Outcome.PASS
    )  # it logs rarely


def test_a_first_row_from_a_given_up_checkpoint_is_wrong():
    """The record rules it out; a trainer that looks for itself does not know that."""
    given_up = replace(a_checkpoint(3580), modified=NOON - timedelta(days=1))

    verdict = answer(wrong_resume, plan(), rows(3600, 3581), Checkpoints(given_up=(given_up,)))
    assert verdict.outcome is Outcome.FAIL and "as from /data/tiny/step-3580" in verdict.message


def test_a_row_of_the_starts_own_step_is_right():
    assert answer(wrong_resume, plan(), rows(3541, 3541)).outcome is Outcome.PASS


def test_rows_that_go_on_without_a_break_do_not_tell():
    assert answer(wrong_resume, plan(), rows(3550, 1)).outcome is Outcome.NOT_APPLICABLE


def test_weights_alone_begin_to_count_anew():
    weights = plan(100, f"{PARENT}/step-100", "weights-only")

    assert answer(wrong_resume, weights, some_metrics(20, first_step=1)).outcome is Outcome.PASS


def test_what_was_loaded_is_compared():
    other = a_receipt(loaded=f"{ROOT}/step-2651")

    verdict = answer(wrong_resume, plan(), other, {Metrics: Nothing()})
    assert verdict.outcome is Outcome.FAIL
    assert verdict.message == f"tiny-1 loaded {ROOT}/step-2651, and the plan says {FROM} (step 3541)"
    assert answer(wrong_resume, SCRATCH, other).message.endswith("the plan says scratch")
    assert (
        answer(wrong_resume, plan(), a_receipt(loaded=f"{FROM}/"), rows(3550, 3542)).outcome is Outcome.PASS
    )


def test_a_later_attempt_goes_on_from_the_instances_own():
    saved = Checkpoints((a_checkpoint(3580),))

    def loaded(attempt):
        told = a_receipt(loaded=f"{ROOT}/step-3580", attempt=attempt)
        return answer(wrong_resume, plan(), told, saved, rows(3600, 3581)).outcome

    assert loaded(1) is Outcome.FAIL
    assert loaded(2) is Outcome.PASS


def test_too_early_or_out_of_sight():
    assert answer(wrong_resume, plan(), {Metrics: Nothing()}).outcome is Outcome.NOT_APPLICABLE
    assert answer(wrong_resume, plan(), {Metrics: Unavailable("503")}).outcome is Outcome.UNKNOWN
    assert answer(wrong_resume, plan(), {Receipt: Unavailable("403")}).outcome is Outcome.UNKNOWN
    assert answer(wrong_resume, plan(instance="tiny-9")).outcome is Outcome.NOT_APPLICABLE


def test_it_asks_a_person_and_holds_a_relaunch_back():
    assert wrong_resume.response is Response.ESCALATE
    assert wrong_resume.vetoes_relaunch


def test_an_adopted_job_was_told_no_start() -> None:
    adopted = PriorLaunch("tiny-1", {"start": None}, adopted=True)
    verdict = answer(wrong_resume, adopted, some_metrics(400, first_step=300))
    assert verdict.outcome == "n/a" and "was adopted" in verdict.message
