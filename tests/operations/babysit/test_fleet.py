"""Several runs in one process: each in its own time, and none ends or delays another."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from herorun.core.babysit import cadence
from herorun.core.babysit.stop_condition import StopCondition
from herorun.operations.babysit import fleet, supervise
from herorun.operations.babysit.bells import WakeSignals
from herorun.operations.babysit.outcome import TickOutcome
from herorun.operations.babysit.tick import run_tick
from herorun.operations.health.shared_polls import SharedPolls
from herorun.operations.record import push
from herorun.record import Pushed, Record
from herorun.runs import Run, open_run
from herorun.system.files import is_locked
from stories import SLUG, WAIT, Story, eventually
from wording import mentions

CAPTURE = pytest.CaptureFixture[str]
OTHER = "other"


@pytest.fixture
def two(story: Story) -> Story:
    """Two runs of one repository that have ended well."""
    text = (story.work / "runs" / "tiny.toml").read_text()
    for old, new in (
        ('slug = "tiny"', f'slug = "{OTHER}"'),
        (str(story.data), f"{story.data}-{OTHER}"),
    ):
        assert old in text
        text = text.replace(old, new)
    Path(f"{story.data}-{OTHER}").mkdir()
    (story.work / "runs" / f"{OTHER}.toml").write_text(text)
    story.publish()
    for slug in (SLUG, OTHER):
        assert story.herorun("init", slug) == 0
        assert story.herorun("launch", slug, "--no-babysit") == 0
    for slug in (SLUG, OTHER):
        eventually(
            lambda slug=slug: not is_locked(story.state.parent / slug / "jobs" / f"{slug}-1.lock")
        )
    return story


def test_both_are_watched_to_their_end_and_their_lines_do_not_mix(
    two: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    capsys.readouterr()
    codes: list[int] = []
    runner = threading.Thread(
        target=lambda: codes.append(two.herorun("babysit", "--all", "--json"))
    )
    monkeypatch.setattr(fleet.signal, "signal", lambda *_: None)
    monkeypatch.setattr(WakeSignals, "wait", lambda *_: None)
    monkeypatch.setattr(cadence, "PUSH_GAP", timedelta())
    runner.start()
    runner.join(60)
    documents = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    out = [each["slug"] for each in documents if each["run"] == "finished"]
    assert codes == [0] and sorted(set(out)) == [OTHER, SLUG]


def test_a_record_of_a_tick_that_notified_is_pushed_before_the_next_tick(
    two: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches: list[int] = []

    def spy(records: list[Record]) -> list[Pushed]:
        batches.append(len(records))
        return push.push_together(records)

    monkeypatch.setattr(fleet, "push_together", spy)
    monkeypatch.setattr(fleet, "PUSH_EVERY", float("inf"))
    monkeypatch.setattr(fleet, "URGENT_GAP", timedelta())
    fleet.tick_each((SLUG, OTHER), two.work)  # both have ended, which is news
    assert batches[:2] == [1, 1]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_interruption_that_something_drops_is_noted(number: signal.Signals) -> None:
    handler = signal.getsignal(number)
    with fleet._handle_end_request() as end_requests:
        assert not end_requests()
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
        assert end_requests()
    assert signal.getsignal(number) is handler


@pytest.mark.thorough
def test_two_processes_share_them(two: Story, capsys: CAPTURE) -> None:
    """`tiny` is in the second half of all runs, and `other` in the first."""
    for shard, slug in (("1/2", OTHER), ("2/2", SLUG)):
        capsys.readouterr()
        assert two.herorun("babysit", "--all", "--shard", shard, "--once", "--json") in (0, 3)
        assert [each["slug"] for each in json.loads(capsys.readouterr().out)["runs"]] == [slug]
        assert two.herorun("babysit", "--all", "--shard", shard, "--until", "time=1s") in (0, 3)
        assert is_watched_only(two, slug, capsys.readouterr().out)
    assert two.herorun("babysit", "--all", "--shard", "2/3", "--once") in (0, 3)  # both
    assert two.herorun("babysit", "--all", "--shard", "1/3", "--once") == 2  # none
    assert two.herorun("babysit", SLUG, "--shard", "1/2", "--once") == 2


def is_watched_only(two: Story, slug: str, out: str) -> bool:
    other = OTHER if slug == SLUG else SLUG
    return f"{slug}: " in out and f"{other}: " not in out


@pytest.mark.thorough
def test_one_tick_of_both_is_one_push(two: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    push_counts: list[int] = []
    real = push.push_many

    def count_push(*args: Any) -> dict[str, str]:
        push_counts.append(len(args[2]))
        return real(*args)

    monkeypatch.setattr(push, "push_many", count_push)
    away = two.home / "away"
    two.origin.rename(away)
    assert two.herorun("babysit", SLUG, OTHER, "--once") == 0
    away.rename(two.origin)
    assert two.herorun("babysit", SLUG, OTHER, "--once") == 0
    assert push_counts == [2, 2]
    for slug in (SLUG, OTHER):
        record = open_run(slug, two.work).record
        assert record.pushed_tip == record.tip


@pytest.mark.thorough
def test_a_slow_one_delays_no_other(two: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(WakeSignals, "wait", lambda *_: None)
    lines: list[str] = []
    completion = threading.Event()

    def slow(
        run: Run, drift: str, looks: SharedPolls, push: Callable[[bool], Pushed]
    ) -> TickOutcome:
        if run.slug == OTHER and not completion.is_set():
            assert completion.wait(60)
        return run_tick(run, drift, looks, push)

    def report(run: Run, turn: TickOutcome) -> None:
        lines.append(run.slug)
        if run.slug == SLUG and turn.is_complete:
            completion.set()

    monkeypatch.setattr(supervise, "run_tick", slow)
    codes = fleet.watch_all(
        [OTHER, SLUG], two.work, report, on_alarm=lambda *_: None, until=StopCondition()
    )
    assert codes == [0, 0]
    assert lines.index(OTHER) > max(i for i, slug in enumerate(lines) if slug == SLUG)


@pytest.mark.thorough
def test_one_that_waits_for_its_push_delays_no_other(
    two: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is place for one tick."""
    monkeypatch.setattr(WakeSignals, "wait", lambda *_: None)
    monkeypatch.setattr(supervise, "MAX_CONCURRENT_TICKS", 1)
    has_ticked, real, wait_times = threading.Event(), push.PushPacer.push, list[bool]()

    def waits(self: push.PushPacer, record: Record, *args: Any) -> Pushed:
        if record.slug == OTHER:
            wait_times.append(has_ticked.wait(30))
        else:
            has_ticked.set()
        return real(self, record, *args)

    monkeypatch.setattr(push.PushPacer, "push", waits)
    assert fleet.watch_all(
        [OTHER, SLUG], two.work, lambda *_: None, on_alarm=print, until=StopCondition()
    ) == [
        0,
        0,
    ]
    assert all(wait_times)


@pytest.mark.thorough
def test_one_that_cannot_be_watched_is_told_of_and_ends_no_other(
    two: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(WakeSignals, "wait", lambda *_: None)
    (two.work / "runs" / f"{OTHER}.toml").write_text("nonsense")
    capsys.readouterr()
    assert two.herorun("babysit", "nowhere", SLUG) == 2
    output = capsys.readouterr()
    assert mentions(output.err, "nowhere", "contract") and "tiny: finished" in output.out


@pytest.mark.thorough
def test_what_ends_us_ends_the_loops(story: Story) -> None:
    story.run_first_job(WAIT)
    argv = [sys.executable, "-m", "herorun", "babysit", SLUG, "nowhere"]
    process = subprocess.Popen(
        argv, cwd=story.work, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        eventually(
            lambda: (story.state / "heartbeat.json").exists() and len(story.events("Decided")) > 0,
            60,
        )
        assert is_locked(story.run.lock("babysitter"))
        os.kill(process.pid, signal.SIGTERM)
        assert process.wait(30) == 130
        assert not is_locked(story.run.lock("babysitter"))
    finally:
        process.kill()
        process.wait()
