from dataclasses import replace
from datetime import timedelta

import pytest

from builders import an_excursion, answer, some_metrics
from herorun.checks.health.throughput_collapse import Limits, throughput_collapse
from herorun.core.check import Topic
from herorun.core.evidence import Cadence, Metrics, Nothing, Unavailable
from herorun.core.finding import Outcome
from wording import mentions


def slow(rows, kind="slow", **changes):
    return replace(an_excursion(rows, 1.4, metric="step_time_s"), kind=kind, **changes)


def outcome_of(*excursions, limits=None):
    return answer(throughput_collapse, some_metrics(excursions=excursions), limits=limits).outcome


def test_a_calm_run_passes():
    assert mentions(answer(throughput_collapse).message, "collapse", "100")


@pytest.mark.parametrize(
    ("excursion", "outcome"),
    [
        (slow(5), Outcome.FAIL),
        (slow(4), Outcome.PASS),
        (slow(3, "wall"), Outcome.FAIL),
        (slow(2, "wall"), Outcome.PASS),
        (slow(100, "leak", peak=2.0), Outcome.FAIL),
        (slow(100, "leak", peak=1.9), Outcome.PASS),
        (slow(99, "leak", peak=2.0), Outcome.PASS),
    ],
)
def test_a_dip_is_no_collapse(excursion, outcome):
    assert outcome_of(excursion) is outcome


@pytest.mark.parametrize(
    ("seconds", "outcome"),
    [(0.64, Outcome.PASS), (59.0, Outcome.PASS), (60.0, Outcome.FAIL), (None, Outcome.FAIL)],
)
def test_a_collapse_lasts_a_minute_where_a_clock_tells_it(seconds, outcome):
    assert outcome_of(slow(8, seconds=seconds)) is outcome


@pytest.mark.parametrize(("seconds", "outcome"), [(0.9, Outcome.PASS), (1.0, Outcome.FAIL)])
def test_a_run_that_is_watched_each_second_hears_of_seconds(seconds, outcome):
    evidence = some_metrics(excursions=(slow(8, seconds=seconds),))
    verdict = answer(throughput_collapse, evidence, Cadence(timedelta(seconds=1)))
    assert verdict.outcome is outcome


@pytest.mark.parametrize(("noise", "outcome"), [(0.107, Outcome.FAIL), (0.108, Outcome.PASS)])
def test_batches_of_all_lengths_are_no_collapse(noise, outcome):
    assert outcome_of(slow(5, typical=1.4, noise=noise)) is outcome


def test_each_limit_is_the_contracts():
    assert outcome_of(slow(4), limits=Limits(rows=4)) is Outcome.FAIL
    assert outcome_of(slow(5, typical=1.4, noise=0.12), limits=Limits(sigmas=6.0)) is Outcome.FAIL
    assert outcome_of(slow(2, "wall"), limits=Limits(half_hours=2)) is Outcome.FAIL
    assert outcome_of(slow(5, seconds=30.0), limits=Limits(seconds=30.0)) is Outcome.FAIL
    assert outcome_of(slow(100, "leak", peak=1.8), limits=Limits(halved_ratio=1.8)) is Outcome.FAIL
    assert outcome_of(slow(80, "leak", peak=2.0), limits=Limits(halved_rows=80)) is Outcome.FAIL


def test_it_must_be_found_at_several_looks_and_is_about_progress():
    assert throughput_collapse.hold.ticks == 3 and throughput_collapse.topic is Topic.PROGRESS


def test_no_rows_are_not_applicable_and_unread_ones_unknown():
    assert answer(throughput_collapse, {Metrics: Nothing()}).outcome is Outcome.NOT_APPLICABLE
    assert answer(throughput_collapse, {Metrics: Unavailable("503")}).outcome is Outcome.UNKNOWN


@pytest.mark.parametrize(
    ("excursion", "facts"),
    [
        (
            slow(
                9,
                metric="tokens_per_s",
                expected=1 / 518,
                peak=4.0,
                typical=518 / 150,
                inverse=True,
            ),
            ("tokens_per_s", "150", "518", "-71 %", "9 steps", "90", "progress", "-25 %"),
        ),
        (
            slow(9, metric="step_time_s", expected=2.0, typical=1.5, open=False),
            ("step_time_s", "3", "2", "+50 %", "9 steps", "90", "98", "+33 %"),
        ),
        (
            slow(
                3,
                "wall",
                metric="wall-clock steps",
                expected=2.0,
                typical=2.0,
                inverse=True,
                last_step=2000,
            ),
            ("steps/s", "1", "2", "-50 %", "1911 steps", "90", "progress", "-30 %"),
        ),
    ],
)
def test_it_speaks_in_the_metrics_own_unit_and_direction(excursion, facts):
    verdict = answer(throughput_collapse, some_metrics(excursions=(excursion,)))
    assert verdict.steps == (90, excursion.last_step)
    assert mentions(verdict.message, *facts)
