import math
from dataclasses import replace

import pytest

from builders import a_history, an_excursion, an_instance, answer, answers, some_metrics
from herorun.checks.health.flat_start import Limits, flat_start
from herorun.checks.health.frozen_loss import frozen_loss
from herorun.core.evidence import Metrics, Nothing, PriorLaunch, Unavailable
from herorun.core.finding import Outcome
from wording import mentions


def flat(rows=70, steps=1500, **changes):
    return replace(
        an_excursion(rows),
        kind="flat",
        expected=6.908,
        first_step=600,
        last_step=599 + steps,
        **changes,
    )


def outcome_of(excursion, limits=None):
    return answer(flat_start, some_metrics(excursions=(excursion,)), limits=limits).outcome


@pytest.mark.parametrize(
    ("rows", "steps", "outcome"),
    [(70, 1500, Outcome.FAIL), (69, 1500, Outcome.PASS), (70, 1499, Outcome.PASS)],
)
def test_it_must_last_longer_than_a_slow_warm_up(rows, steps, outcome):
    assert outcome_of(flat(rows, steps)) is outcome
    assert outcome_of(flat(), Limits(rows=rows, steps=steps)) is Outcome.FAIL


def test_it_is_warned_of_at_once():
    verdict = answer(frozen_loss, some_metrics(excursions=(flat(1, 20),)))

    assert verdict.outcome is Outcome.FAIL and mentions(verdict.message, "learned", "6.908")


@pytest.mark.parametrize(("vocabulary", "outcome"), [(1000, Outcome.FAIL), (50_304, Outcome.PASS)])
def test_a_loss_far_below_that_of_untrained_weights_was_learned(vocabulary, outcome):
    prior = PriorLaunch("tiny-1", {"start": None, "config": {"vocab_size": vocabulary}})

    assert answer(flat_start, prior, some_metrics(excursions=(flat(),))).outcome is outcome


def test_a_run_from_trained_weights_may_stay_constant():
    prior = PriorLaunch("tiny-1", {"start": {"path": "/ckpt/step-9", "kind": "weights-only"}})
    history = a_history(instances=(an_instance(),))
    verdict = answer(flat_start, prior, history, some_metrics(excursions=(flat(),)))

    assert verdict.outcome is Outcome.NOT_APPLICABLE


def test_no_rows_are_not_applicable_and_unread_ones_unknown():
    assert answer(flat_start, {Metrics: Nothing()}).outcome is Outcome.NOT_APPLICABLE
    assert answer(flat_start, {Metrics: Unavailable("503")}).outcome is Outcome.UNKNOWN


def at_chance(rows=1, **changes):
    return replace(flat(rows, 20, **changes), kind="chance", expected=math.log(1000))


def test_a_loss_that_never_went_below_chance_is_reported_at_once():
    verdict = answer(flat_start, some_metrics(excursions=(at_chance(),)))

    assert verdict.outcome is Outcome.FAIL and mentions(
        verdict.message, "learned", "6.908", "1000 classes"
    )


def test_the_vocabulary_that_the_config_names_decides():
    prior = PriorLaunch("tiny-1", {"start": None, "config": {"vocab_size": 50_304}})
    other = replace(flat(10, 200), expected=math.log(50_304))

    assert answer(flat_start, prior, some_metrics(excursions=(at_chance(),))).outcome is (
        Outcome.PASS
    )
    assert answer(flat_start, prior, some_metrics(excursions=(other,))).outcome is Outcome.FAIL
    assert outcome_of(other) is Outcome.PASS


def test_it_is_reported_once():
    both = some_metrics(excursions=(flat(), at_chance(open=True)))

    assert len(answers(flat_start, both)) == 1
