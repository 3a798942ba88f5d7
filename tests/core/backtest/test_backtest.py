"""Bare curves through the checks of the health gate: which alert, and at which row."""

import math
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings, strategies as st

from builders import a_contract
from curves import CALM, NAN, curve, leaping, values
from herorun.core.backtest import curve as backtest
from herorun.core.backtest.curve import BASE_EVIDENCE, CurveBacktest, judging
from herorun.core.backtest.report import lines
from herorun.core.check import Gate, Topic
from herorun.core.contract import Contract
from herorun.core.detectors.names import Names
from herorun.core.evidence import Job, Metrics
from herorun.discover import checks
from herorun.operations.report.curve_file import columns_of, names_of, rows_of
from wording import mentions

CHECKS = judging(checks(Gate.HEALTH))
REAL = sorted((Path(__file__).parent / "curves").glob("*.csv"))


def fired_alerts(rows, **options):
    return [
        (a.check, a.row, a.until_row) for a in CurveBacktest(checks=CHECKS, **options).run(rows)
    ]


def test_a_calm_curve_fires_nothing():
    assert fired_alerts(curve(*CALM, *[2.0] * 3000)) == []


def test_only_checks_that_a_curve_can_answer_are_asked():
    names = {check.name for check in CHECKS}

    assert {"loss-spike", "not-finite", "throughput-collapse", "resume-mismatch"} <= names
    assert "stalled-steps" not in names and "crashed" not in names
    assert all(
        set(check.needs) <= {*BASE_EVIDENCE, Metrics} and Job not in check.needs for check in CHECKS
    )


def test_a_spike_fires_at_its_tenth_step_and_ends_with_it():
    rows = curve(*CALM, *[3.2] * 14, *[2.0] * 700)

    assert fired_alerts(rows)[0] == ("loss-spike", 69, 75)


@pytest.mark.parametrize("place", [500, 505, 511, 512, 520, 1000])
def test_where_a_chunk_ends_does_not_matter(place):
    rows_by_check = {
        check: row
        for check, row, _ in fired_alerts(curve(*[2.0] * place, *[3.2] * 14, *[2.0] * 90))
    }

    assert rows_by_check["loss-spike"] == place + 9


def test_a_threefold_loss_fires_at_its_third_row():
    assert fired_alerts(curve(*CALM, *[7.0] * 3))[0] == ("loss-spike", 62, None)


def test_a_loss_that_is_not_a_number_fires_at_once_and_silences_the_shape():
    alerts = fired_alerts([*curve(*CALM, NAN), *curve(*[9.0] * 20, first=61)])

    assert alerts[0] == ("not-finite", 60, 61)
    assert [check for check, _, _ in fired_alerts(curve(*CALM, *[NAN] * 50))] == ["not-finite"]


def test_a_second_time_is_a_second_alert():
    rows = curve(*CALM, NAN, *[2.0] * 30, NAN, *[2.0] * 30)

    assert fired_alerts(rows) == [("not-finite", 60, 61), ("not-finite", 91, 92)]


def test_a_gradient_norm_must_fail_ten_times_in_a_row():
    norms = [1.0] * 60 + [NAN] * 9 + [1.0] + [NAN] * 12

    assert fired_alerts(values("grad_norm", *norms), names=Names(loss=())) == [
        ("not-finite", 79, None)
    ]


def test_an_alert_has_its_step_and_its_words():
    (alert, *_) = CurveBacktest(checks=CHECKS).run(curve(*CALM, *[3.2] * 12, first=1000, gap=5))

    assert (alert.severity, alert.topic, alert.step) == (
        "critical",
        Topic.METRIC,
        1000 + 5 * alert.row,
    )
    assert mentions(alert.message, "1.6", "expected", "2")


def test_rows_that_were_logged_twice_keep_their_numbers():
    rows = [row for row in curve(*CALM, *[3.2] * 12) for _ in "ab"]

    assert fired_alerts(rows)[0][:2] == ("loss-spike", 138)


@pytest.mark.thorough
@settings(max_examples=12, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(
    st.integers(1, 700),
    st.lists(
        st.tuples(st.integers(1, 30), st.sampled_from([2.0, 2.6, 3.4, 9.0, NAN, 0.0])), max_size=8
    ),
)
def test_chunks_change_nothing(size, parts):
    rows = curve(*CALM, *(value for count, value in parts for _ in range(count)))
    whole, before = fired_alerts(rows), backtest.CHUNK
    try:
        backtest.CHUNK = size
        assert fired_alerts(rows) == whole
    finally:
        backtest.CHUNK = before


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in range(2, 8))]
)
def test_a_loud_curve_has_the_same_alerts_in_chunks_of_any_size(seed, monkeypatch):
    rows = leaping(seed)
    whole = fired_alerts(rows)

    assert sum(check == "loss-spike" for check, _, _ in whole) >= 1
    for size in (1, 7, 64, 512):
        monkeypatch.setattr(backtest, "CHUNK", size)
        assert fired_alerts(rows) == whole


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.stem)
def test_so_has_a_real_curve(path, monkeypatch):
    names, rows = names_of(columns_of(path)), list(rows_of(path))
    whole = fired_alerts(rows, names=names)

    assert whole
    for size in (1, 7, 64, 512):
        monkeypatch.setattr(backtest, "CHUNK", size)
        assert fired_alerts(rows, names=names) == whole


@pytest.mark.parametrize("size", [1, 7, 50, 190, 512])
def test_one_that_begins_again_right_after_it_ended_is_found_in_chunks_of_any_size(
    size, monkeypatch
):
    monkeypatch.setattr(backtest, "CHUNK", size)
    rows = curve(*CALM, *[NAN] * 6, *[2.0] * 11, *[NAN] * 6, *[2.0] * 30)

    assert fired_alerts(rows) == [("not-finite", 60, 66), ("not-finite", 77, 83)]


def test_a_value_that_is_not_finite_hides_no_later_spike():
    rows = curve(*CALM, 2.0, NAN, *[2.0] * 15, *[3.4] * 19, *[2.0] * 30)

    assert fired_alerts(rows) == [("not-finite", 61, 62), ("loss-spike", 86, 97)]


def test_a_resume_is_compared():
    falling = [3.0 * (1 + i) ** -0.05 for i in range(300)]
    rows = [*curve(*falling), *curve(*(x + 0.01 for x in falling[200:]), first=200)]

    ordered_evidence = {**BASE_EVIDENCE, Contract: a_contract(data={"order": "deterministic"})}
    assert ("resume-mismatch", 302, None) in fired_alerts(rows, evidence=ordered_evidence)
    assert math.isfinite(sum(falling))


def test_an_alert_that_ended_says_so():
    (spike, *_) = CurveBacktest(checks=CHECKS).run(curve(*CALM, *[3.2] * 14, *[2.0] * 700))

    assert spike.until_row == 75 and mentions(spike.message, "60", "ended", "73")


DO = "what to do about "


def test_each_check_that_fired_names_the_next_action_once() -> None:
    rows = curve(*[2.0] * 60, *[4.0] * 14, *[2.0] * 60, *[4.0] * 14)
    alerts = CurveBacktest(checks=judging(checks(Gate.HEALTH))).run(rows)
    next_steps = [
        line.removeprefix(DO).replace(" in a live run: ", ": ", 1)
        for line in lines([("a.csv", 148, alerts)], {})
        if line.startswith(DO)
    ]

    assert next_steps == [
        f"{name}: {fix}" for name, fix in sorted({(a.check, a.fix) for a in alerts})
    ]
    assert mentions(next_steps, "loss-spike", "DRI", "roll")


@pytest.mark.parametrize("size", [1, 7, 512])
def test_one_that_began_again_at_the_same_step_says_that_it_ended(size, monkeypatch):
    """A row too high at step 1 of an attempt was over at once; in the next attempt it stays."""
    monkeypatch.setattr(backtest, "CHUNK", size)
    low, high = [0.0013] * 10, [2.1, 1.7, 1.65, 1.6, 1.57, 1.53, 1.52, 1.49, 1.49, 1.48]
    attempts = (low, [0.0025, *low[1:]], high, high)
    rows = [row for losses in attempts for row in curve(*losses, first=1)]
    (spike,) = (a for a in CurveBacktest(checks=CHECKS).run(rows) if a.check == "loss-spike")

    assert (spike.row, spike.until_row) == (22, 30)
    assert mentions(spike.message, "ended", "10")
