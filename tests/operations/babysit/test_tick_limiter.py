"""Ticks one after another, unless one waits for something."""

import threading
import time
from collections.abc import Callable

import pytest

from herorun.operations.babysit import tick_limiter
from herorun.operations.babysit.tick_limiter import BUSY_TICKS, POLL_INTERVAL, TickLimiter
from stories import eventually

LONG = 60.0  # seconds, more than a test takes


def test_a_second_tick_begins_when_the_first_has_ended() -> None:
    limiter, began = _limiter_of_busy_ticks(), threading.Event()
    with limiter:
        second = _start(limiter, began.set)
        assert not began.wait(3 * POLL_INTERVAL)
    assert began.wait(LONG)
    second.join()


def test_a_tick_that_waits_delays_no_other() -> None:
    limiter, began = TickLimiter(2, cpu_seconds=lambda: 0.0), threading.Event()
    with limiter:
        _start(limiter, began.set).join()
    assert began.is_set()


def test_a_tick_that_computes_without_end_delays_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tick_limiter, "BUSY_INTERVAL", POLL_INTERVAL)
    limiter, began = _limiter_of_busy_ticks(), threading.Event()
    with limiter:
        _start(limiter, began.set).join()
    assert began.is_set()


@pytest.mark.parametrize("cpu_share", [0.2, 1.0])
def test_of_ticks_that_compute_few_are_under_way(
    monkeypatch: pytest.MonkeyPatch, cpu_share: float
) -> None:
    """On a loaded machine such a process may get no more than a fifth of a core."""
    monkeypatch.setattr(tick_limiter, "BUSY_INTERVAL", 0.0)
    monkeypatch.setattr(tick_limiter, "POLL_INTERVAL", 0.01)
    limiter, end = _limiter_of_busy_ticks(cpu_share), threading.Event()
    under_way: list[int] = []

    def tick() -> None:
        under_way.append(1)
        end.wait(LONG)

    threads = [_start(limiter, tick) for _ in range(12)]
    eventually(lambda: len(under_way) == BUSY_TICKS)
    time.sleep(0.2)
    assert len(under_way) == BUSY_TICKS
    monkeypatch.setattr(tick_limiter, "LATE_INTERVAL", 0.1)  # they may never end
    eventually(lambda: len(under_way) == 12)
    end.set()
    for thread in threads:
        thread.join()


def test_a_tick_that_ends_as_the_poll_does_admits_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    limiter = _limiter_of_busy_ticks()

    def wait(seconds: float | None = None) -> bool:
        limiter._starts.clear()  # released, after the time of the wait was over
        return False

    limiter._starts[0] = time.monotonic()
    monkeypatch.setattr(limiter._tick_end, "wait", wait)
    with limiter:
        assert len(limiter._starts) == 1


def test_no_more_than_so_many_are_under_way() -> None:
    limiter, began = TickLimiter(1, cpu_seconds=lambda: 0.0), threading.Event()
    with limiter:
        second = _start(limiter, began.set)
        assert not began.wait(3 * POLL_INTERVAL)
    second.join()
    assert began.is_set()


def test_each_of_many_gets_its_turn_alone() -> None:
    limiter, under_way, counts = _limiter_of_busy_ticks(), list[int](), list[int]()

    def tick() -> None:
        under_way.append(1)
        counts.append(len(under_way))
        under_way.pop()

    for thread in [_start(limiter, tick) for _ in range(50)]:
        thread.join()
    assert counts == [1] * 50


def test_a_process_that_only_waits_admits_another_tick() -> None:
    """By its own CPU time."""
    limiter, began = TickLimiter(2), threading.Event()
    with limiter:
        second = _start(limiter, began.set)
        assert began.wait(LONG)
    second.join()


def _limiter_of_busy_ticks(cpu_share: float = 1.0) -> TickLimiter:
    """By whose clock the process uses so much of a core."""
    return TickLimiter(32, cpu_seconds=lambda: cpu_share * time.monotonic())


def _start(limiter: TickLimiter, act: Callable[[], None]) -> threading.Thread:
    def tick() -> None:
        with limiter:
            act()

    thread = threading.Thread(target=tick, daemon=True)
    thread.start()
    return thread
