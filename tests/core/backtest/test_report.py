"""The figures of a backtest."""

import pytest

from herorun.core.backtest.curve import FiredAlert
from herorun.core.backtest.report import lines, score_table, spread, totals_of
from herorun.core.backtest.score import Label, Score
from herorun.core.check import Topic

STEPS = list(range(0, 1000, 10))


def an_alert(row, severity="critical"):
    return FiredAlert(
        check="loss-spike",
        severity=severity,
        topic=Topic.METRIC,
        subject="loss",
        row=row,
        step=STEPS[row],
        until_row=None,
        message="",
    )


def test_alerts_are_counted_by_their_severity():
    files = [
        ("a.csv", 100, [an_alert(5), an_alert(6, "warn"), an_alert(7, "warn")]),
        ("b.csv", 40, [an_alert(8, "info")]),
    ]

    assert totals_of(files, {}) == {
        "files": 2,
        "rows": 140,
        "alerts": {"critical": 1, "warn": 2, "info": 1},
    }


def a_score():
    """One quiet curve with a false alarm, one curve with a found event and a missed one."""
    score = Score()
    score.add("calm.csv", Label("clean"), STEPS, [an_alert(5), an_alert(6, "warn")])
    events = ((20, 30, "up"), (80, 90, "up"))
    score.add("spiky.csv", Label("spike-sustained", events), STEPS, [an_alert(23)])
    return score


def test_the_figures_of_a_score():
    totals = totals_of([], {"herorun": a_score(), "other": Score()})

    assert {key: totals[key] for key in totals if key not in ("files", "rows", "alerts")} == {
        "clean_rows": 100,
        "clean_steps": 990,
        "false_alarms": 1,
        "false_alarms_per_1000_steps": round(1000 / 990, 6),
        "false_alarms_per_1000_rows": 10.0,
        "false_alarms_per_1000_run_hours": 1200.0,
        "warnings_on_clean_curves": 1,
        "events": 2,
        "found": 1,
        "missed": 1,
        "sustained_events": 2,
        "sustained_found": 1,
        "curves_with_events": 1,
        "curves_found": 1,
        "throughput_events": 0,
        "throughput_found": 0,
        "warnings_per_clean_curve": 1.0,
        "median_delay_steps": 30,
        "p90_delay_steps": 30,
        "median_delay_rows": 3,
        "p90_delay_rows": 3,
        "missed_events": [["spiky.csv", 80, 90, "up"]],
        "against": {"other": totals["against"]["other"]},
    }
    assert totals["against"]["other"]["false_alarms_per_1000_rows"] is None
    assert totals["against"]["other"]["median_delay_steps"] is None


def test_two_events_of_one_curve_are_two_hits():
    score = Score()
    events = ((20, 30, "up"), (80, 90, "up"))
    score.add("a.csv", Label("spike-sustained", events), STEPS, [an_alert(23), an_alert(81)])

    assert (score.events, score.hits, score.curves_found) == (2, 2, 1)
    assert (score.delays, score.row_delays) == ([30, 10], [3, 1])


def test_the_table_leaves_out_a_rate_of_nothing():
    header, _, calm, empty = score_table({"herorun": a_score(), "empty": Score()})
    names = [name.strip() for name in header.strip("| ").split("|")]
    rows = [[cell.strip() for cell in row.strip("| ").split("|")] for row in (calm, empty)]

    assert [len(row) for row in rows] == [len(names)] * 2
    assert rows[0] == [
        "herorun",
        "1",
        "10.000",
        "1200.0",
        "1.00",
        "1 of 2",
        "1 of 2",
        "1 of 1",
        "-",
        "3, 3",
        "30, 30",
    ]  # one row of a table
    assert rows[1] == ["empty", "0", "-", "-", "-", "0 of 0", "0 of 0", "0 of 0", "-", "-", "-"]


@pytest.mark.parametrize(
    ("delays", "text"),
    [([], "-"), ([4], "4, 4"), ([1, 2, 30], "2, 30"), (range(10), "4.5, 8"), (range(11), "5, 9")],
)
def test_a_spread_is_the_median_and_the_ninth_decile(delays, text):
    assert spread(delays) == text


def test_a_curve_that_was_not_checked_shows_no_number_of_alerts() -> None:
    files = [("a.csv", 1, []), ("b.csv", 1, []), ("c.csv", 1, [])]
    printed_lines = list(lines(files, {}, silent={"a.csv"}, partly={"b.csv"}))
    assert ["alert" in line for line in printed_lines] == [False, True, True]
    assert [line.endswith("checked") for line in printed_lines] == [True, True, False]
