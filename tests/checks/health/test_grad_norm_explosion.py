from dataclasses import replace

import pytest

from builders import a_row, an_excursion, answer, some_metrics
from herorun.checks.health.grad_norm_explosion import Limits, grad_norm_explosion
from herorun.core.detectors.names import Names
from herorun.core.detectors.pipeline import fold_rows, summarise
from herorun.core.detectors.state import MetricsState
from herorun.core.evidence import Metrics, Nothing, Unavailable
from herorun.core.finding import Outcome
from wording import mentions


def boom(rows, peak=20.0, **changes):
    return replace(an_excursion(rows, peak, metric="grad_norm"), kind="explosion", **changes)


def outcome_of(*excursions, limits=None):
    return answer(grad_norm_explosion, some_metrics(excursions=excursions), limits=limits).outcome


def test_a_calm_run_passes():
    assert mentions(answer(grad_norm_explosion).message, "explosion", "100")


@pytest.mark.parametrize(
    ("rows", "peak", "outcome"),
    [
        (3, 11.0, Outcome.FAIL),
        (2, 99.0, Outcome.PASS),
        (2, 100.0, Outcome.FAIL),
        (1, 1e6, Outcome.PASS),
    ],
)
def test_three_rows_or_two_of_a_hundred_times(rows, peak, outcome):
    assert outcome_of(boom(rows, peak)) is outcome


@pytest.mark.parametrize(("ago", "outcome"), [(0, Outcome.FAIL), (5, Outcome.PASS)])
@pytest.mark.parametrize("where", ["spikes", "non_finite"])
def test_one_row_counts_where_the_loss_is_not_calm(where, ago, outcome):
    row, shaken_loss = boom(1, 100.0), an_excursion(1)
    shaken_loss = replace(
        shaken_loss, first_step=row.first_step - ago, last_step=row.first_step - ago
    )
    metrics = some_metrics(excursions=(row,), **{where: (shaken_loss,)})

    assert answer(grad_norm_explosion, metrics).outcome is outcome


def test_back_from_next_to_nothing_to_the_usual_is_no_explosion():
    norms = (*[1.0] * 300, *[1e-7] * 60, *[0.5] * 20, *[1e-7] * 60, *[300.0] * 20)
    folded_state = fold_rows(
        MetricsState(), [a_row(i, 2.2, grad_norm=n) for i, n in enumerate(norms)], Names()
    )
    (explosion,) = summarise(folded_state, Names()).of("explosion")

    assert explosion.first_step == 441


@pytest.mark.parametrize(("noise", "outcome"), [(0.7, Outcome.FAIL), (0.76, Outcome.PASS)])
def test_it_must_stand_out_of_the_noise(noise, outcome):
    assert outcome_of(boom(3, typical=20.0, noise=noise)) is outcome


def test_each_limit_is_the_contracts():
    assert outcome_of(boom(2), limits=Limits(rows=2)) is Outcome.FAIL
    assert outcome_of(boom(2, 60.0), limits=Limits(single_row_ratio=60.0)) is Outcome.FAIL
    assert outcome_of(boom(3, typical=20.0, noise=0.76), limits=Limits(sigmas=6.5)) is Outcome.FAIL


def test_the_spike_of_the_176b_run_is_reported_before_the_loss_leaves():
    norms = (*[0.24] * 60, 0.242, 0.947, 2.390, 15.886, 145.119)
    rows = [a_row(31154 + i, 2.2, grad_norm=norm) for i, norm in enumerate(norms)]
    metrics = summarise(fold_rows(MetricsState(), rows, Names()), Names())

    assert metrics.spikes == () and outcome_of(*metrics.excursions) is Outcome.FAIL


def test_no_rows_are_not_applicable_and_unread_ones_unknown():
    assert answer(grad_norm_explosion, {Metrics: Nothing()}).outcome is Outcome.NOT_APPLICABLE
    assert answer(grad_norm_explosion, {Metrics: Unavailable("503")}).outcome is Outcome.UNKNOWN
