from dataclasses import replace

import pytest

from builders import an_excursion, answer, some_metrics
from curves import curve, excursions_of, fold_curve as after, summarise
from herorun.checks.health.zero_learning_rate import Limits, zero_learning_rate
from herorun.core.detectors.names import Names
from herorun.core.evidence import Metrics, Nothing, Unavailable
from herorun.core.finding import Outcome
from wording import mentions

NAMES = Names(rate=("lr", "optim/learning_rate"))


def idle(rows, steps, **changes):
    excursion = an_excursion(rows)
    return replace(
        excursion,
        metric="lr",
        kind="idle",
        first_step=10,
        last_step=9 + steps,
        **changes,
    )


def outcome_of(*excursions, limits=None):
    return answer(zero_learning_rate, some_metrics(excursions=excursions), limits=limits).outcome


def test_a_calm_run_passes():
    assert mentions(answer(zero_learning_rate).message, "not zero", "100")


@pytest.mark.parametrize(
    ("rows", "steps", "outcome"),
    [(10, 200, Outcome.FAIL), (9, 200, Outcome.PASS), (10, 199, Outcome.PASS)],
)
def test_it_must_last_longer_than_a_search_for_the_loss_scale(rows, steps, outcome):
    assert outcome_of(idle(rows, steps)) is outcome
    assert outcome_of(idle(10, 200), limits=Limits(rows=rows, steps=steps)) is Outcome.FAIL


def test_it_says_that_nothing_is_learned():
    verdict = answer(zero_learning_rate, some_metrics(excursions=(idle(20, 400),)))
    assert mentions(verdict.message, "lr", "zero", "400 steps", "learns nothing")


def test_no_rows_are_not_applicable_and_unread_ones_unknown():
    assert answer(zero_learning_rate, {Metrics: Nothing()}).outcome is Outcome.NOT_APPLICABLE
    assert answer(zero_learning_rate, {Metrics: Unavailable("503")}).outcome is Outcome.UNKNOWN


def test_a_rate_that_was_never_above_zero_is_idle_from_its_first_row():
    (idle,) = excursions_of(curve(*[5.0] * 60, gap=10, lr=0.0), "idle", names=NAMES)
    assert (idle.metric, idle.open, idle.rows, idle.first_step) == ("lr", True, 60, 1)


def test_a_warm_up_from_zero_ends_it_and_a_decay_to_zero_is_another_matter():
    rows = [*curve(*[5.0] * 20, lr=0.0), *curve(*[5.0] * 40, first=20, lr=1e-4)]
    state = after(rows, names=NAMES)
    assert not summarise(state, NAMES).of("idle", "spent")

    summary = summarise(after(curve(*[5.0] * 40, first=60, lr=0.0), state, NAMES), NAMES)
    assert not summary.of("idle") and [each.rows for each in summary.of("spent")] == [40]


def test_a_group_of_weights_that_is_frozen_is_no_matter():
    rows = curve(*[5.0] * 60, **{"lr": 0.0, "optim/learning_rate": 1e-3})
    assert not excursions_of(rows, "idle", names=NAMES)
