"""The summary of a run: its alerts, the worst first, and rows that were not read now."""

from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from builders import NOON, an_instance, some_metrics
from herorun.commands._run_table import summary_rows
from herorun.core.babysit.alert import Alert, AlertState
from herorun.core.evidence import Metrics, Unavailable
from herorun.core.journal import Memory
from herorun.operations.report import overview
from herorun.operations.report.overview import _alerts

STALLED_ALERT = Alert(
    check="stalled-steps",
    subject="",
    since=NOON,
    seen=NOON,
    state=AlertState.FIRING,
    message="no step",
)


def test_the_worst_alert_stands_first() -> None:
    pending = replace(STALLED_ALERT, check="loss-spike", state=AlertState.PENDING)
    firing = replace(STALLED_ALERT, check="zero-loss")
    warning = replace(STALLED_ALERT, check="clock-skew")
    names = [alert.check for alert in _alerts([warning, pending, firing, STALLED_ALERT])]
    assert names == ["stalled-steps", "zero-loss", "loss-spike", "clock-skew"]


@pytest.mark.parametrize("is_read", [True, False])
def test_rows_that_were_not_read_now_are_last_ones_with_their_time(
    monkeypatch: pytest.MonkeyPatch, is_read: bool
) -> None:
    memory = Memory(instances=(an_instance(1),))
    run: Any = SimpleNamespace(slug="tiny", record=SimpleNamespace(memory=lambda: memory))
    run.contract = SimpleNamespace(tracker=None)
    read_at = NOON - timedelta(minutes=12)
    monkeypatch.setattr(overview, "_curve", lambda _: (2.5, "▇▁", None, read_at))
    monkeypatch.setattr(overview, "ticks_in_this_clone", lambda _: False)
    monkeypatch.setattr(overview, "names_of", lambda _: SimpleNamespace(loss=("loss",)))
    metrics = some_metrics() if is_read else Unavailable("the disk does not answer")
    summary = overview.summarise(run, memory, {Metrics: metrics}, ("unknown", "partial"), NOON, ())
    assert (summary.rows_read_at is None) is is_read
    rows = dict(summary_rows(summary, NOON))
    assert ("12m" in rows.get("last loss", "")) is not is_read
    assert ("loss" in rows) is is_read
