"""Parts of the babysitter on a run in memory: what a tick passes on, shows and keeps."""

import threading
import time
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from builders import NOON, a_contract
from herorun.core.babysit.stop_condition import StopCondition
from herorun.core.babysit.tick import MonitorHealth, Tick
from herorun.core.errors import HandedOver, NewerRecord
from herorun.core.event import Decided, HandedOff
from herorun.core.evidence import Gaps, LaunchProof
from herorun.core.health.run_health import RunHealth
from herorun.core.notify.page_policy import Urgency
from herorun.core.triage.incremental import OwnLog
from herorun.operations.babysit import loop, ownership, supervise, tick, watchdog
from herorun.operations.babysit.outcome import TickOutcome
from herorun.operations.babysit.supervise import Fleet, _Task
from herorun.operations.babysit.tick_json import unread_evidence
from herorun.runs import Run
from operations.in_memory import OWNER, ToldRun

DAY = timedelta(days=1)
TICK = Tick(
    at=NOON,
    run=RunHealth.HEALTHY,
    monitor=MonitorHealth.FRESH,
    findings=[],
    alerts={},
    actions=[],
)


@pytest.fixture
def run() -> Any:
    return ToldRun([])


def test_the_news_of_a_job_without_a_contract_know_its_cause(run: Any) -> None:
    causes = []
    run.own_news = lambda evidence, cause: causes.append(cause) or []
    assert tick._own_news(run, {}, "a cause") == ([], [])
    assert causes == ["a cause"]


def test_a_poll_knows_the_furthest_step_and_does_nothing(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tick, "evaluate", lambda run: (TICK, {}))
    run.cause, run.furthest_before = (lambda evidence: None), (lambda row: 700)
    run.own_doubts = lambda evidence: ["the end is not recorded"]
    outcome = tick.poll(run)
    assert (outcome.furthest, outcome.performed) == (700, ())
    assert outcome.doubts == ("the end is not recorded",)


def test_where_the_log_was_read_to_is_kept(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    logs: list[Any] = []
    own = object()
    monkeypatch.setattr(tick, "evidence_file", lambda run, at: Path("evidence"))
    monkeypatch.setattr(tick, "append_line", lambda path, line: None)
    monkeypatch.setattr(tick, "keep_own_log", lambda place, log: logs.append(log))
    monkeypatch.setattr(tick, "keep_metrics", lambda place, metrics: "")
    run.place = None
    assert tick._store_evidence(run, TICK, {}, {OwnLog: own}) == []
    assert logs == [own]


def test_a_record_of_a_newer_herorun_is_only_observed(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(*_: Any) -> TickOutcome:
        raise NewerRecord("line 7 is newer")

    whole = TickOutcome(run=run, tick=TICK, evidence={})
    monkeypatch.setattr(tick, "_acting_tick", refuses)
    monkeypatch.setattr(tick, "observe_run", lambda *_: whole)
    outcome = tick.run_tick(run)
    assert outcome.tick is not None and outcome.tick.monitor is MonitorHealth.PARTIAL


def test_evidence_that_could_not_be_read_is_in_the_document_of_a_tick() -> None:
    assert unread_evidence({Gaps: Gaps(("Job: squeue is down",), 9)}) == ["Job: squeue is down"]
    assert unread_evidence({}) == []


def test_a_run_with_nothing_left_to_monitor_is_finished_in_its_entry(run: Any) -> None:
    run.name_to_type, run.status_command = "tiny", "herorun status tiny"
    entry = TickOutcome(run=run, tick=None, evidence={}).entry()
    assert (entry.run, entry.monitor, entry.alerts) == ("finished", "fresh", [])


@pytest.mark.parametrize(
    ("pause", "remaining", "seconds"), [(60, None, 60.0), (60, 20, 20.0), (60, -5, 0.0)]
)
def test_the_next_tick_is_not_after_the_end_of_the_watch(
    pause: int, remaining: int | None, seconds: float, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "now", lambda: NOON)
    until = StopCondition(time=None if remaining is None else NOON + timedelta(seconds=remaining))
    outcome = TickOutcome(run=run, tick=TICK, evidence={}, pause=timedelta(seconds=pause))
    assert loop._seconds_to_next_tick(outcome, until) == seconds


def test_a_fleet_reports_each_tick_and_an_alarm_once(run: Any) -> None:
    ticks: list[Any] = []
    alarms: list[Any] = []
    fleet = Fleet(
        Path("."),
        lambda run, outcome: ticks.append((run, outcome)),
        lambda slug, message: alarms.append((slug, message)),
        StopCondition(),
        [],
        None,
    )
    outcome, task = TickOutcome(run=run, tick=TICK, evidence={}), _Task(name="runs/tiny.toml")
    fleet._report(run, outcome)
    for message in ("no tick", "no tick", "disk full", "no tick"):
        fleet._report_once(task, message)
    assert ticks == [(run, outcome)]
    assert alarms == [("tiny", "no tick"), ("tiny", "disk full"), ("tiny", "no tick")]


def test_no_run_of_a_fleet_ticks_before_all_are_opened(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first poll is to cover all of them."""
    late, opened_slugs, ticks = threading.Event(), list[str](), list[set[str]]()

    def open_late(name: str, start: Path) -> tuple[Any, str]:
        assert name == "early" or late.wait(10)
        opened_slugs.append(name)
        return run, ""

    def tick_once(name: str, start: Path, *_: Any, **keywords: Any) -> int:
        keywords["open_monitored"](name, start)
        keywords["tick"](*keywords["open_monitored"](name, start))
        return 0

    def act(*_: Any) -> TickOutcome:
        ticks.append(set(opened_slugs))
        return TickOutcome(run=run, tick=TICK, evidence={})

    run.state = Path(".")
    monkeypatch.setattr(supervise, "watched_run", open_late)
    monkeypatch.setattr(supervise, "watch", tick_once)
    monkeypatch.setattr(supervise, "run_tick", act)
    names = ["early", "late"]
    fleet = Fleet(Path("."), lambda *_: None, print, StopCondition(), names, None)
    for name in names:
        fleet.start(name)
    threading.Timer(0.2, late.set).start()
    while fleet.lives(0.1):
        pass
    assert ticks == [set(names)] * 2


def test_a_run_that_cannot_be_opened_delays_a_fleet_once(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervise, "OPENING_TIMEOUT", 0.05)
    fleet = Fleet(Path("."), lambda *_: None, print, StopCondition(), ["hung"], None)
    fleet._wait_until_opened()
    monkeypatch.setattr(supervise, "OPENING_TIMEOUT", 60.0)
    began = time.monotonic()
    fleet._wait_until_opened()
    assert time.monotonic() - began < 30


def test_after_the_end_was_requested_no_run_that_waited_ticks(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks, late = list[str](), threading.Event()

    def open_late(name: str, start: Path) -> tuple[Any, str]:
        assert name != "late" or late.wait(30)
        return run, ""

    def tick_once(name: str, start: Path, *_: Any, **keywords: Any) -> int:
        keywords["open_monitored"](name, start)
        if name == "early":
            keywords["open_monitored"](name, start)  # waits for the late one
        keywords["tick"](run, "")
        return 0

    run.state = Path(".")
    monkeypatch.setattr(supervise, "watched_run", open_late)
    monkeypatch.setattr(supervise, "watch", tick_once)
    monkeypatch.setattr(supervise, "run_tick", lambda run, *_: ticks.append(run.slug))
    names = ["early", "late"]
    fleet = Fleet(Path("."), lambda *_: None, print, StopCondition(), names, None)
    for name in names:
        fleet.start(name)
    threading.Timer(0.2, late.set).start()
    fleet.end()
    assert (ticks, fleet.codes) == ([], [130, 130])


def _silent(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last tick was at noon, and a day has passed."""
    run.record.append(Decided(at=NOON, run="healthy", monitor="fresh", progress="100 steps"))
    monkeypatch.setattr(watchdog, "watched_run", lambda name, start: (run, ""))
    monkeypatch.setattr(watchdog, "now", lambda: NOON + DAY)


def test_a_silence_is_stale_and_posted_once_with_whom_it_asks(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    _silent(run, monkeypatch)
    posts: dict[str, Any] = {}
    run.record.remote, run.record.remote_memory = "origin", run.record.memory
    run.issue = SimpleNamespace(
        find=lambda key: "its link" if key in posts else None,
        post=lambda post: posts.setdefault(post.key, post) and "its link",
    )
    for _ in range(2):
        watch = watchdog.watch_run("tiny", Path("."), comment=True)
        assert (watch.slug, watch.monitor, watch.issue_comment) == (
            "tiny",
            "stale",
            "its link",
        )
    (post,) = posts.values()
    assert "@dri" in post.body and "tiny" in post.title


def test_an_alarm_is_journalled_as_a_page_before_it_is_delivered(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    _silent(run, monkeypatch)
    deliveries: list[Any] = []
    run.record.push, run.record.reader = (lambda: None), None
    monkeypatch.setattr(watchdog, "deliver", lambda run, intent: deliveries.append(intent))
    monkeypatch.setattr(watchdog, "send_pages", lambda run: deliveries.append("pages"))
    monkeypatch.setattr("herorun.operations.record.post.record_link", lambda run: "a link")
    assert "tiny" in watchdog.raise_alarm("tiny", Path("."))
    intent = run.record.new[-1]
    assert deliveries == [intent, "pages"]
    assert intent.page == Urgency.MUST and "@dri" in intent.body


@pytest.mark.parametrize("holds", [True, False])
def test_while_we_hold_the_lease_a_recorded_handoff_is_a_doubt_and_no_end(
    holds: bool, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    run.record.append(HandedOff(NOON, "bob@box", {}))
    ours = object.__new__(Run)
    ours.__dict__.update(
        contract=a_contract(), launcher=SimpleNamespace(owner=OWNER), record=run.record
    )
    monkeypatch.setattr(ownership, "root_names_us", lambda run: holds and run is ours)
    if not holds:
        with pytest.raises(HandedOver, match="bob@box"):
            ownership.must_be_ours(ours, run.record.memory())
        return
    ownership.must_be_ours(ours, run.record.memory())
    assert isinstance(ours.unproven, LaunchProof)
    (doubt,) = ours.unproven.doubts
    assert "bob@box" in doubt
