import pytest

from builders import (
    FINAL,
    MINUTE,
    NOON,
    ROOT,
    a_checkpoint,
    a_history,
    an_instance,
    answer,
    some_metrics,
)
from herorun.checks.seal.short_of_final_step import short_of_final_step
from herorun.core.evidence import Checkpoints, FinalStep, Metrics, Nothing, Unavailable
from herorun.core.finding import Outcome
from wording import mentions

NONE = Checkpoints()


@pytest.mark.parametrize(
    ("step", "outcome"),
    [(FINAL, Outcome.PASS), (FINAL - 1, Outcome.FAIL), (FINAL + 1, Outcome.PASS)],
)
def test_without_a_checkpoint_the_last_step_must_be_the_final_one(step, outcome):
    assert answer(short_of_final_step, some_metrics(step), NONE).outcome is outcome


def test_a_complete_final_checkpoint_proves_the_step_to_whoever_logs_seldom():
    verdict = answer(short_of_final_step, some_metrics(191))

    assert verdict.outcome is Outcome.PASS
    assert mentions(verdict.message, f"{ROOT}/step-200", "complete", "200", "200")


@pytest.mark.parametrize(
    "result",
    [a_checkpoint(FINAL, problem="no metadata.json"), a_checkpoint(FINAL - 1)],
    ids=lambda c: c.path,
)
def test_an_incomplete_or_earlier_one_proves_nothing(result):
    assert (
        answer(short_of_final_step, some_metrics(191), Checkpoints((result,))).outcome
        is Outcome.FAIL
    )


def test_it_says_how_many_are_missing():
    assert mentions(
        answer(short_of_final_step, some_metrics(150), NONE).message,
        "reported",
        "150 of",
        "200",
        "50",
    )


def test_an_earlier_attempts_high_water_does_not_count():
    verdict = answer(short_of_final_step, some_metrics(150, high_water=FINAL), NONE)

    assert verdict.outcome is Outcome.FAIL


def test_an_unknown_end_or_no_step_at_all_fails():
    unknown = answer(short_of_final_step, FinalStep(None, "the contract states no final_step"))

    assert unknown.outcome is Outcome.FAIL and mentions(unknown.message, "states", "final_step")
    assert answer(short_of_final_step, {Metrics: Nothing()}, NONE).outcome is Outcome.FAIL


@pytest.mark.parametrize("kind", [Metrics, Checkpoints])
def test_what_was_not_read_might_prove_it(kind):
    gap = {Metrics: some_metrics(150), Checkpoints: NONE, kind: Unavailable("503")}

    assert answer(short_of_final_step, gap).outcome is Outcome.UNKNOWN


@pytest.mark.parametrize("kind", [Metrics, Checkpoints])
def test_one_proof_is_enough(kind):
    assert answer(short_of_final_step, {kind: Unavailable("503")}).outcome is Outcome.PASS


def test_what_an_earlier_instance_reached_beyond_the_start_does_not_count():
    again = a_history(instances=(an_instance(1), an_instance(2, start=20, intended=NOON)))
    rows = some_metrics(FINAL, instance="tiny-1", advanced_at=NOON - MINUTE)

    assert answer(short_of_final_step, rows, NONE, again).outcome is Outcome.FAIL
    own = some_metrics(FINAL, instance="tiny-2", advanced_at=NOON - MINUTE)
    assert answer(short_of_final_step, own, NONE, again).outcome is Outcome.PASS
