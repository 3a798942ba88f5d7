"""A glance: the worst run stands first, a spike stays in sight, and what nobody knows is
nothing.
"""

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from herorun.core.run_summary import (
    OpenAlert,
    Pace,
    RunSummary,
    pace_of,
    shrunk,
    sparkline,
    worst_first,
)
from herorun.core.run_summary_text import (
    format_last_tick,
    format_loss,
    format_pace,
    format_progress,
)
from herorun.schemas.status import RunSummaryEntry

CRITICAL = (OpenAlert("stalled", "critical", "firing", ""),)
PENDING = (OpenAlert("stalled", "critical", "pending", ""),)


def test_the_worst_stands_first() -> None:
    order = [
        RunSummary(slug="down", stage="launched", run="down"),
        RunSummary(slug="unreadable", stage="", error="damaged"),
        RunSummary(slug="firing", stage="launched", run="healthy", alerts=CRITICAL),
        RunSummary(slug="blind", stage="launched", run="healthy", monitor="stale"),
        RunSummary(slug="degraded", stage="launched", run="degraded"),
        RunSummary(slug="a-healthy-one", stage="launched", run="healthy", alerts=PENDING),
        RunSummary(slug="b-healthy-one", stage="launched", run="healthy"),
        RunSummary(slug="not-begun", stage="initialised"),
        RunSummary(slug="finished", stage="launched", run="finished"),
        RunSummary(slug="sealed", stage="sealed", run="finished"),
    ]
    assert worst_first(order[::-1]) == order


def test_a_fraction_of_a_second_is_not_shown() -> None:
    at = datetime(2026, 1, 1, 12, tzinfo=UTC)
    summary = RunSummary(
        slug="tiny",
        stage="launched",
        run="healthy",
        seen_at=at - timedelta(microseconds=9_800),
        step=1,
        final_step=2,
        pace=Pace("s/step", 0.0098, step_seconds=0.0098),
    )
    assert format_last_tick(summary, at, short=True) == "<1s"
    assert format_progress(summary).endswith("<1s left")


@pytest.mark.parametrize("at", [0, 1, 4999, 7777, 9999])
def test_a_spike_of_one_step_stays_in_sight(at: int) -> None:
    values = [2.0] * 10_000
    values[at] = 9.0
    assert sparkline(values).count("█") == 1 and len(sparkline(values)) == 24


def test_what_is_not_finite_is_marked() -> None:
    assert sparkline([1.0] * 500 + [math.nan] + [1.0] * 500).count("×") == 1
    assert sparkline([math.inf, math.nan]) == "××"
    assert sparkline([]) == ""


def test_the_pace_is_next_to_what_is_usual_and_slower_is_below_one() -> None:
    fast = pace_of("tokens_per_s", [100.0] * 200 + [50.0] * 20, [])
    slow = pace_of(
        "", [], [(step, float(step if step < 200 else 2 * step - 200)) for step in range(240)]
    )
    assert fast is not None and (fast.now, fast.usual, fast.ratio) == (50.0, 100.0, 0.5)
    assert slow is not None and (slow.name, slow.now, slow.ratio) == ("s/step", 2.0, 0.5)


@pytest.mark.parametrize(
    ("value", "text"), [(999.4, "999"), (999.6, "1k"), (1249.0, "1.25k"), (999_999.0, "1M")]
)
def test_a_speed_just_below_a_unit_is_written_in_that_unit(value: float, text: str) -> None:
    summary = RunSummary(slug="x", stage="launched", pace=Pace("tokens_per_s", value))
    assert format_pace(summary) == f"{text} tokens/s"


def test_rows_that_are_ten_steps_apart_tell_the_seconds_of_one() -> None:
    pace = pace_of("", [], [(10 * row, 5.0 * row) for row in range(100)])
    assert pace is not None and pace.step_seconds == 0.5


def test_no_rows_are_no_pace() -> None:
    assert pace_of("tokens_per_s", [], [(1, 0.0)]) is None


def test_the_time_left_is_told_of_a_run_that_continues() -> None:
    pace = Pace("s/step", 2.0, step_seconds=2.0)
    going = RunSummary(
        slug="x", stage="launched", run="healthy", step=40, final_step=100, pace=pace
    )
    assert going.time_left == timedelta(seconds=120) and going.done_share == 0.4
    assert (
        RunSummary(
            slug="x", stage="launched", run="down", step=40, final_step=100, pace=pace
        ).time_left
        is None
    )
    assert (
        RunSummary(slug="x", stage="launched", run="healthy", step=40, pace=pace).time_left is None
    )


def test_no_time_is_left_to_a_run_that_makes_no_steps() -> None:
    pace = Pace("s/step", 2.0, step_seconds=2.0)
    going = RunSummary(
        slug="x", stage="launched", run="degraded", step=40, final_step=100, pace=pace, quiet=500.0
    )
    assert going.time_left == timedelta(seconds=120)
    assert replace(going, quiet=700.0).time_left is None
    stalled_alert = OpenAlert("stalled-steps", "critical", "firing", "")
    assert replace(going, alerts=(stalled_alert,)).time_left is None
    assert replace(going, alerts=(replace(stalled_alert, state="pending"),)).time_left == timedelta(
        seconds=120
    )


def test_a_shrunk_curve_keeps_its_spike_and_what_is_not_finite() -> None:
    assert shrunk("▁" * 13 + "█" + "▁" * 9 + "×", 8) == "▁▁▁▁█▁▁×"
    assert shrunk("▁█", 8) == "▁█"


def test_the_document_holds_no_number_that_json_has_no_word_for() -> None:
    run = RunSummary(slug="x", stage="launched", loss=math.nan, pace=Pace("t", math.inf, 1.0))
    entry = RunSummaryEntry.of_summary(run).as_json()
    assert (entry["loss"], entry["pace"]["now"]) == ("nan", "inf")


def test_the_newest_loss_stands_behind_its_curve() -> None:
    assert format_loss(RunSummary(slug="tiny", stage="launched", run="healthy", loss=2.5)) == "2.5"
    assert format_loss(RunSummary(slug="tiny", stage="launched", run="healthy")) == ""
