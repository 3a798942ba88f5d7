"""Loops of one process sleep until their time, a bell, or the end of all."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from herorun.operations.babysit import bells as module
from herorun.operations.babysit.bells import WakeSignals, file_mtime

LONG = 60.0  # seconds, which no test waits for


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "POLL_INTERVAL", 0.02)


@pytest.fixture
def stop() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


def sleeper(bells: WakeSignals, bell: Path, seconds: float = LONG) -> threading.Thread:
    thread = threading.Thread(target=bells.wait, args=(seconds, bell, file_mtime(bell)))
    thread.start()
    return thread


def listeners(earlier: set[threading.Thread]) -> int:
    return sum(thread.name == "bells" for thread in set(threading.enumerate()) - earlier)


def has_ended(thread: threading.Thread) -> bool:
    thread.join(10)
    return not thread.is_alive()


def test_a_bell_wakes_its_own_loop_alone(tmp_path: Path, stop: threading.Event) -> None:
    bells = WakeSignals(stop)
    ringing_thread, other = sleeper(bells, tmp_path / "a"), sleeper(bells, tmp_path / "b")
    (tmp_path / "a").touch()
    assert has_ended(ringing_thread)
    assert other.is_alive()
    stop.set()
    assert has_ended(other)


def test_a_bell_that_rang_before_is_heard_at_once(tmp_path: Path, stop: threading.Event) -> None:
    bell = tmp_path / "a"
    bell.touch()
    WakeSignals(stop).wait(LONG, bell, 0.0)


def test_the_time_ends_the_sleep(tmp_path: Path, stop: threading.Event) -> None:
    bells = WakeSignals(stop)
    for seconds in (-1.0, 0.0, 0.05):
        bells.wait(seconds, tmp_path / "a", 0.0)


def test_one_thread_listens_for_all_while_any_sleeps(tmp_path: Path, stop: threading.Event) -> None:
    bells, earlier = WakeSignals(stop), set(threading.enumerate())
    for _ in range(3):
        threads = [sleeper(bells, tmp_path / str(number), 0.2) for number in range(20)]
        assert listeners(earlier) == 1
        assert all(map(has_ended, threads))
    until = time.monotonic() + 10
    while listeners(earlier) and time.monotonic() < until:
        time.sleep(0.01)
    assert listeners(earlier) == 0
