from dataclasses import replace

import pytest

from builders import (
    MINUTE,
    NOON,
    a_history,
    an_excursion,
    an_instance,
    answer,
    answers,
    some_metrics,
)
from herorun.checks.health.loss_spike import Limits, loss_spike
from herorun.core.check import Topic
from herorun.core.evidence import Metrics, Nothing, Unavailable
from herorun.core.finding import Outcome
from wording import mentions


def outcome_of(*spikes, limits=None):
    return answer(loss_spike, some_metrics(spikes=spikes), limits=limits).outcome


def test_a_quiet_curve_passes():
    assert mentions(answer(loss_spike).message, "lasting", "100")


@pytest.mark.parametrize(
    ("rows", "steps", "peak", "outcome"),
    [
        (10, 10, 1.6, Outcome.FAIL),
        (9, 9, 1.6, Outcome.PASS),
        (8, 9, 1.6, Outcome.PASS),
        (8, 10, 1.6, Outcome.FAIL),  # logged steps may be missing
        (3, 21, 1.6, Outcome.FAIL),  # logged every 10 steps
        (2, 11, 1.6, Outcome.PASS),
        (3, 3, 3.0, Outcome.FAIL),  # the fast tier
        (3, 3, 2.9, Outcome.PASS),
        (2, 2, 100.0, Outcome.PASS),
        (2, 20, 100.0, Outcome.PASS),
    ],
)
def test_it_must_last_in_steps_or_be_very_high(rows, steps, peak, outcome):
    assert outcome_of(an_excursion(rows, peak, steps=steps)) is outcome


@pytest.mark.parametrize(
    ("rows", "noise", "outcome"),
    [
        (4, 0.134, Outcome.FAIL),  # four rows of 1.6: 7 sigmas at a noise of 0.1343
        (4, 0.135, Outcome.PASS),
        (3, 0.09, Outcome.FAIL),  # three rows: 9 sigmas at a noise of 0.0904
        (3, 0.092, Outcome.PASS),
        (60, 0.187, Outcome.FAIL),
        # however long: its mean is within two and a half times the noise
        (60, 0.189, Outcome.PASS),
    ],
)
def test_it_must_stand_out_of_the_noise(rows, noise, outcome):
    noisy = replace(an_excursion(rows, steps=max(rows, 10)), typical=1.6, noise=noise)

    assert outcome_of(noisy) is outcome


@pytest.mark.parametrize(
    ("peak", "expectation", "noise", "outcome"),
    [
        (300.0, 2.0, 0.0, Outcome.FAIL),
        (299.0, 2.0, 0.0, Outcome.PASS),
        (601.0, 0.05, 0.0, Outcome.FAIL),  # 30, which is 300 times 0.1
        (599.0, 0.05, 0.0, Outcome.PASS),
        (300.0, 2.0, 0.63, Outcome.FAIL),  # 9 times the noise
        (300.0, 2.0, 0.64, Outcome.PASS),
    ],
)
def test_one_row_is_enough_if_it_is_enormous(peak, expectation, noise, outcome):
    assert outcome_of(replace(an_excursion(1, peak), expected=expectation, noise=noise)) is outcome


def test_the_fast_tier_asks_for_what_it_holds_and_not_for_what_it_once_reached():
    assert outcome_of(replace(an_excursion(3, 9.0), typical=2.9)) is Outcome.PASS
    assert outcome_of(replace(an_excursion(3, 9.0), typical=3.1)) is Outcome.FAIL


def test_each_limit_is_the_contracts():
    noisy = replace(an_excursion(4, steps=10), typical=1.6, noise=0.135)
    assert outcome_of(noisy, limits=Limits(sigmas=6.0)) is Outcome.FAIL
    wide = replace(an_excursion(60), typical=1.6, noise=0.2)
    assert outcome_of(wide, limits=Limits(noise_ratio=2.0)) is Outcome.FAIL
    four = replace(an_excursion(4, steps=10), typical=1.6, noise=0.13)
    assert outcome_of(four) is Outcome.FAIL  # no longer one of few rows
    few = replace(an_excursion(3, steps=10), typical=1.6, noise=0.1)
    assert outcome_of(few, limits=Limits(few_sigmas=8.0)) is Outcome.FAIL
    assert outcome_of(few, limits=Limits(few_rows=2)) is Outcome.FAIL
    assert outcome_of(an_excursion(8), limits=Limits(steps=8)) is Outcome.FAIL
    assert outcome_of(an_excursion(10), limits=Limits(steps=12)) is Outcome.PASS
    assert outcome_of(an_excursion(2, steps=11), limits=Limits(least_rows=2)) is Outcome.FAIL
    assert outcome_of(an_excursion(3, 2.5), limits=Limits(fast_ratio=2.4)) is Outcome.FAIL
    assert outcome_of(an_excursion(2, 4.0), limits=Limits(fast_rows=2)) is Outcome.FAIL


def test_each_spike_is_its_own_subject_with_its_values():
    verdicts = answers(
        loss_spike,
        some_metrics(
            spikes=(
                an_excursion(12, 1.75, first=40, is_open=False),
                an_excursion(11, 2.5, first=412),
            )
        ),
    )

    assert [v.subject for v in verdicts] == ["loss from step 40", "loss from step 412"]
    assert mentions(verdicts[0].message, "1.75", "expected 2", "12 steps", "40", "51")
    assert mentions(verdicts[1].message, "progress")


def test_what_an_earlier_instance_reported_is_not_this_ones():
    relaunched_history = a_history(
        instances=(an_instance(), an_instance(2, intended=NOON, started=NOON))
    )
    old = some_metrics(spikes=(an_excursion(20),), advanced_at=NOON - MINUTE)

    assert answer(loss_spike, relaunched_history, old).outcome is Outcome.NOT_APPLICABLE


def test_no_rows_are_not_applicable_and_unread_ones_unknown():
    assert answer(loss_spike, {Metrics: Nothing()}).outcome is Outcome.NOT_APPLICABLE
    assert answer(loss_spike, {Metrics: Unavailable("503")}).outcome is Outcome.UNKNOWN


def test_it_holds_a_relaunch_back():
    assert loss_spike.vetoes_relaunch and loss_spike.topic is Topic.METRIC


def test_a_new_level_of_a_loss_below_zero_has_its_numbers_in_the_message():
    step = replace(an_excursion(5, 8.0), kind="stepped", expected=-20.0, noise=0.5)

    verdict = answer(loss_spike, some_metrics(excursions=(step,)))
    assert verdict.outcome is Outcome.FAIL
    assert mentions(verdict.message, "-20", "-16", "8 times", "5")

    declared_rise = replace(step, declared=True)
    assert answer(loss_spike, some_metrics(excursions=(declared_rise,))).outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("kind", "rows", "peak", "outcome"),
    [
        ("spike", 10, 2.9, Outcome.PASS),
        ("spike", 10, 3.0, Outcome.FAIL),
        ("shifted", 30, 2.9, Outcome.PASS),
        ("stepped", 30, 8.0, Outcome.PASS),
    ],
)
def test_a_rivals_loss_spikes_at_three_times(kind, rows, peak, outcome):
    rise = replace(an_excursion(rows, peak), kind=kind)
    parts = {"spikes": (rise,)} if kind == "spike" else {"excursions": (rise,)}

    assert answer(loss_spike, some_metrics(**parts)).outcome is Outcome.FAIL
    assert answer(loss_spike, some_metrics(**parts, rival="loss_dis")).outcome is outcome
