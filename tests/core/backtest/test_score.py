import pytest

from herorun.core.backtest.curve import FiredAlert
from herorun.core.backtest.report import score_table
from herorun.core.backtest.score import Label, Score
from herorun.core.check import Topic

STEPS = list(range(0, 1000, 10))


def an_alert(row, severity="critical", topic=Topic.METRIC):
    return FiredAlert(
        check="loss-spike",
        severity=severity,
        topic=topic,
        subject="loss",
        row=row,
        step=STEPS[row],
        until_row=None,
        message="",
    )


def score_of(label, *alerts):
    score = Score()
    score.add("a.csv", label, STEPS, alerts)
    return score


@pytest.mark.parametrize("label", ["clean", "noisy", "rl-critic-noisy"])
def test_a_critical_alert_on_a_quiet_curve_is_false(label):
    score = score_of(Label(label), an_alert(5), an_alert(6, "warn"))

    assert (score.false_alarms, score.warnings, score.clean_rows, score.clean_steps) == (
        1,
        1,
        100,
        990,
    )


def test_false_alarms_are_also_counted_by_the_hours_of_a_live_run():
    """A hundred rows of one every 30 s are 50 minutes."""
    score = score_of(Label("clean"), an_alert(5))
    header, _, row = score_table({"herorun": score})

    assert score.hours == pytest.approx(100 * 30 / 3600)
    assert row.split(" | ")[header.split(" | ").index("per 1,000 run-hours")] == "1200.0"


def test_ambiguous_curves_count_for_nothing():
    assert score_of(Label("ambiguous"), an_alert(5)) == Score()


@pytest.mark.parametrize(("row", "result"), [(16, 0), (17, 1), (20, 1), (33, 1), (34, 0)])
def test_an_event_is_found_within_its_window_and_a_little_around_it(row, result):
    score = score_of(Label("spike-sustained", ((20, 30, "up"),)), an_alert(row))

    assert (score.events, score.hits, score.curves_found, score.sustained_found) == (
        1,
        result,
        result,
        result,
    )
    assert len(score.missed) == 1 - result
    assert score.delays == ([max(row - 20, 0) * 10] if result else [])


def test_a_warning_finds_no_event_of_the_loss_but_one_of_throughput():
    label = Label("diverged", ((20, 30, ""),), "throughput-drift", ((20, 30, ""),))

    assert score_of(label, an_alert(25, "warn")).hits == 0
    assert score_of(label, an_alert(25, "warn", Topic.PROGRESS)).time_found == 1


def test_throughput_is_judged_by_its_own_label():
    slow = an_alert(25, topic=Topic.PROGRESS)

    assert (
        score_of(Label("clean", (), "throughput-collapse", ((20, 30, ""),)), slow).false_alarms == 0
    )
    assert score_of(Label("diverged", ((20, 30, ""),), "time-clean"), slow).false_alarms == 1
    assert score_of(Label("diverged", ((20, 30, ""),), "time-clean"), slow).hits == 0


def test_a_curve_that_begins_late_counts_the_steps_that_it_has():
    score = Score()
    score.add("late.csv", Label("clean"), range(100, 200), ())

    assert (score.clean_rows, score.clean_steps) == (100, 99)


def test_only_an_event_of_five_rows_is_sustained():
    sustained_scores = [
        score_of(Label("spike", ((20, last, "up"),)), an_alert(20)).sustained for last in (23, 24)
    ]

    assert sustained_scores == [0, 1]


def test_an_event_in_the_first_row_has_a_delay_too():
    assert score_of(Label("spike", ((0, 9, "up"),)), an_alert(3)).row_delays == [3]
