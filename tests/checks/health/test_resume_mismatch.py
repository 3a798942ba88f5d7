import math
from dataclasses import replace

import pytest

from builders import (
    MINUTE,
    NOON,
    a_contract,
    a_history,
    an_excursion,
    an_instance,
    answer,
    some_metrics,
)
from herorun.checks.health.learning_rate_jump import learning_rate_jump
from herorun.checks.health.resume_mismatch import Limits, resume_mismatch
from herorun.core.evidence import Metrics, Nothing, Resume, Unavailable
from herorun.core.finding import Outcome
from wording import mentions


def outcome_of(limits=None, **result):
    return ask_check(limits, **result).outcome


ORDERED_CONTRACT = a_contract(data={"order": "deterministic"})


def ask_check(limits=None, contract=ORDERED_CONTRACT, **result):
    return answer(
        resume_mismatch,
        contract,
        some_metrics(resume=Resume(step=50, high_water=60, **result)),
        limits=limits,
    )


def test_the_step_of_the_resume_is_named_as_logged_and_as_in_the_subject():
    resume = Resume(step=50, high_water=60, compared=9, worst_step=55, worst=0.2, median=0.1)
    verdict = answer(resume_mismatch, ORDERED_CONTRACT, some_metrics(resume=resume, first_logged=0))

    assert "50" in verdict.subject and "49 (update 50)" in verdict.message


def test_one_attempt_is_not_applicable():
    assert answer(resume_mismatch).outcome is Outcome.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("early", "median", "worst", "outcome"),
    [
        ((0.0, 0.0, 0.0, 0.0, 0.0), 0.0, 0.0, Outcome.PASS),
        ((0.0019,) * 5, 0.0019, 0.0019, Outcome.PASS),
        ((0.0021, 0.0021, 0.0021, 0.0, 0.0), 0.001, 0.0021, Outcome.FAIL),
        ((0.0021, 0.0021, 0.0, 0.0, 0.0), 0.001, 0.0021, Outcome.PASS),
        ((0.0,) * 5, 0.0021, 0.0021, Outcome.FAIL),
        ((-0.0021,) * 5, 0.0021, -0.0021, Outcome.FAIL),  # a lower loss is no better
        ((0.0,) * 5, 0.0, 0.019, Outcome.PASS),
        ((0.0,) * 5, 0.0, -0.021, Outcome.FAIL),
    ],
)
def test_equal_steps_have_equal_losses(early, median, worst, outcome):
    assert outcome_of(compared=9, early=early, median=median, worst=worst) is outcome


@pytest.mark.parametrize(
    ("layout", "difference", "outcome"),
    [
        ("TP4 PP12", 0.00007, Outcome.PASS),
        ("TP2 PP24", 0.0019, Outcome.PASS),
        ("TP4 PP24", 0.0103, Outcome.FAIL),
        ("TP4 PP36", 0.0194, Outcome.FAIL),
        ("TP1 PP72", 0.099, Outcome.FAIL),
    ],
)
def test_the_reshardings_of_the_176b_run(layout, difference, outcome):
    fields = {"compared": 5, "early": (difference,) * 5, "median": difference, "worst": difference}

    assert outcome_of(**fields) is outcome


@pytest.mark.parametrize(
    ("offset", "after", "fall", "outcome"),
    [
        (0.009, 50, 0.0, Outcome.PASS),
        (0.011, 50, 0.0, Outcome.FAIL),
        (0.011, 49, 0.0, Outcome.PASS),
        (-0.011, 50, 0.0, Outcome.FAIL),
        (-0.011, 50, 0.01, Outcome.PASS),  # it was falling anyway
        (-0.026, 50, 0.01, Outcome.FAIL),
    ],
)
def test_the_level_behind_the_warm_up(offset, after, fall, outcome):
    assert outcome_of(compared=9, offset=offset, after=after, fall=fall, noise=0.001) is outcome


def test_where_it_is_unknown_how_the_loss_fell_a_lower_level_says_nothing():
    young = {"offset": -0.1, "after": 50, "fall": None, "noise": 0.001}

    assert outcome_of(compared=9, **young) is Outcome.PASS  # by its equal steps
    assert ask_check(**young).outcome is Outcome.UNKNOWN
    assert mentions(ask_check(**young).message, "-9.52%", "trend")
    assert outcome_of(compared=9, **young | {"offset": 0.011}) is Outcome.FAIL


def test_a_level_within_the_noise_is_no_mismatch():
    edge = 8 * 0.02 / math.sqrt(50)

    assert outcome_of(compared=9, offset=edge * 0.99, after=50, noise=0.02) is Outcome.PASS
    assert outcome_of(compared=9, offset=edge * 1.01, after=50, noise=0.02) is Outcome.FAIL


def test_what_cannot_be_compared_is_reported_aloud():
    gap = ask_check()
    assert gap.outcome is Outcome.UNKNOWN and mentions(gap.message, "comparable", "60")

    early = ask_check(after=49, noise=0.001)
    assert early.outcome is Outcome.UNKNOWN

    reset = ask_check(compared=9, median=1.0, counter_reset=True)
    assert reset.outcome is Outcome.UNKNOWN and "step count" in reset.message


def test_a_resume_without_a_common_step_is_judged_by_the_level_behind_the_warm_up():
    """A trainer that saves when it is preempted logs no step twice, and its run must be sealed
    anyway.
    """
    sound = ask_check(offset=0.004, after=50, noise=0.001)
    assert sound.outcome is Outcome.PASS
    assert mentions(sound.message, "+0.40%", "trend", "50 rows", "warm-up")
    assert ask_check(offset=0.011, after=50, noise=0.001).outcome is Outcome.FAIL


def test_it_says_where_and_which_way():
    text = ask_check(
        compared=9, early=(-0.01,) * 5, median=0.01, worst=-0.01, worst_step=52, first_bad_step=51
    )

    assert mentions(text.subject, "resume", "50")
    both = ask_check(compared=9, median=0.01, worst=-0.01, worst_step=52, worst_new=1.5)
    assert mentions(both.message, "52", "1.51", "1.5", "lower")
    assert mentions(text.message, "9 steps", "0.0100", "0.0100", "52", "lower", "51")


def test_each_limit_is_the_contracts():
    five = {"compared": 9, "early": (0.01,) * 5, "median": 0.01, "worst": 0.01}

    assert outcome_of(Limits(median_difference=0.012), **five) is Outcome.PASS
    assert outcome_of(Limits(early_rows=10), **five) is Outcome.PASS
    assert outcome_of(Limits(max_difference=0.009), compared=9, worst=0.01) is Outcome.FAIL
    assert (
        outcome_of(Limits(level_difference=0.02), compared=9, offset=0.015, after=50)
        is Outcome.PASS
    )
    assert (
        outcome_of(Limits(least_level_rows=40), compared=9, offset=0.015, after=40) is Outcome.FAIL
    )
    assert (
        outcome_of(Limits(sigmas=4.0), compared=9, offset=0.015, after=50, noise=0.02)
        is Outcome.FAIL
    )


@pytest.mark.parametrize("kind", ["mixed", "doubled"])
@pytest.mark.parametrize(("still", "outcome"), [(True, Outcome.UNKNOWN), (False, Outcome.FAIL)])
def test_while_two_write_no_resume_can_be_compared(kind, still, outcome):
    off = Resume(
        step=90,
        high_water=100,
        compared=3,
        early=(0.5, 0.5, 0.5),
        median=0.5,
        worst=0.5,
        rate_before=1.0,
        rate_after=2.0,
    )
    rows = some_metrics(resume=off, excursions=(replace(an_excursion(3), kind=kind, open=still),))

    assert answer(resume_mismatch, ORDERED_CONTRACT, rows).outcome is outcome
    assert answer(learning_rate_jump, rows).outcome is outcome


def test_what_an_earlier_instance_reported_is_not_this_ones():
    relaunched_history = a_history(
        instances=(an_instance(), an_instance(2, intended=NOON, started=NOON))
    )
    old = some_metrics(
        resume=Resume(step=50, high_water=60, compared=9, worst=1.0), advanced_at=NOON - MINUTE
    )

    assert answer(resume_mismatch, relaunched_history, old).outcome is Outcome.NOT_APPLICABLE


def test_no_rows_are_not_applicable_and_unread_ones_unknown():
    assert answer(resume_mismatch, {Metrics: Nothing()}).outcome is Outcome.NOT_APPLICABLE
    assert answer(resume_mismatch, {Metrics: Unavailable("503")}).outcome is Outcome.UNKNOWN


NOISY = {"contract": a_contract(), "noise": 0.005, "level": 2.0}


def test_without_a_fixed_order_of_the_data_equal_steps_differ_as_rows_do():
    """Two attempts see other batches at one step: four of the noise between two rows, 0.057 here,
    are nothing.
    """
    many = {"compared": 10, "early": (0.05,) * 5, "median": 0.05, "worst": 0.05}
    assert outcome_of(**many) is Outcome.FAIL
    assert outcome_of(**many, **NOISY) is Outcome.PASS

    far = {"compared": 9, "early": (0.06,) * 5, "median": 0.06, "worst": 0.06}
    assert outcome_of(**far, **NOISY) is Outcome.FAIL
    assert outcome_of(compared=9, worst=0.12, **NOISY) is Outcome.FAIL
    assert outcome_of(compared=10, worst=0.11, **NOISY) is Outcome.PASS


@pytest.mark.parametrize(
    ("compared_steps", "after", "offset", "outcome"),
    [
        (1, 0, 0.0, Outcome.UNKNOWN),
        (9, 0, 0.0, Outcome.UNKNOWN),
        (9, 49, 0.5, Outcome.UNKNOWN),
        (9, 50, 0.004, Outcome.PASS),
        (1, 50, 0.004, Outcome.PASS),
        (1, 50, 0.011, Outcome.FAIL),
        (10, 0, 0.0, Outcome.PASS),  # so many say that they are equal on average
    ],
)
def test_a_few_steps_that_differ_as_rows_do_are_verified_by_the_level_after_the_warm_up(
    compared_steps, after, offset, outcome
):
    """One batch that was shuffled differently is no page, and proves no sound resume."""
    shuffled_contract = {"early": (0.05,) * min(compared_steps, 5), "median": 0.05, "worst": 0.05}
    verdict = ask_check(
        compared=compared_steps, after=after, offset=offset, **shuffled_contract, **NOISY
    )

    assert verdict.outcome is outcome
    if outcome is Outcome.UNKNOWN:
        assert mentions(verdict.message, "not verified", "0.05", "[data] order")
    if after == 50 and outcome is Outcome.PASS:
        assert mentions(verdict.message, "training data", "+0.40%", "trend")


def test_a_few_steps_that_are_the_same_verify_the_resume():
    assert outcome_of(compared=1, worst=0.0001, early=(0.0001,), **NOISY) is Outcome.PASS


@pytest.mark.parametrize(
    ("shift", "compared_steps", "outcome"),
    [
        (0.015, 50, Outcome.FAIL),
        (-0.015, 50, Outcome.FAIL),
        (0.009, 50, Outcome.PASS),  # below one per cent
        (0.015, 12, Outcome.PASS),  # within the noise of so few rows
        (0.5, 9, Outcome.PASS),
    ],
)
def test_without_a_fixed_order_the_mean_of_equal_steps_tells(shift, compared_steps, outcome):
    assert outcome_of(compared=compared_steps, shift=shift, **NOISY) is outcome


def test_a_mean_that_is_off_is_reported_in_per_cent():
    assert mentions(
        ask_check(compared=50, shift=math.log(1.015), **NOISY).message,
        "50 steps",
        "+1.50%",
        "average",
    )


def test_equal_steps_that_are_off_on_average_name_the_old_and_the_new_loss_of_the_worst():
    verdict = ask_check(
        compared=50, shift=math.log(1.015), worst=0.01, worst_step=57, worst_new=2.4, **NOISY
    )
    assert mentions(verdict.message, "step 57", "2.39 before", "2.4 now")


def test_rows_that_are_missing_behind_the_resume_leave_it_unknown():
    cut = ask_check(broken=True)
    assert cut.outcome is Outcome.UNKNOWN and mentions(cut.message, "rows", "missing")


def test_the_resume_of_an_older_instance_is_not_the_present_ones():
    twice = a_history(instances=(an_instance(), an_instance(2), an_instance(3)))
    off = Resume(
        step=50,
        high_water=60,
        compared=9,
        worst=1.0,
        instance="tiny-2",
        rate_before=1.0,
        rate_after=2.0,
    )

    def now(instance, check=resume_mismatch):
        return answer(
            check, ORDERED_CONTRACT, twice, some_metrics(resume=off, instance=instance)
        ).outcome

    assert now("tiny-3") is now("tiny-3", learning_rate_jump) is Outcome.NOT_APPLICABLE
    assert now("") is Outcome.FAIL  # the rows do not tell whose they are
    assert now("tiny-2") is Outcome.FAIL


def test_without_a_fixed_order_too_few_equal_steps_verify_nothing():
    one = {"compared": 1, "early": (0.2122,), "median": 0.2122, "worst": 0.2122}
    assert outcome_of(**one) is Outcome.FAIL

    verdict = ask_check(**one, **NOISY)
    assert verdict.outcome is Outcome.UNKNOWN and "[data] order" in verdict.message
    three = one | {"compared": 3, "early": (0.2122,) * 3}
    assert outcome_of(**three, **NOISY) is Outcome.FAIL
    assert outcome_of(**three, contract=a_contract()) is Outcome.UNKNOWN  # no level to compare with
