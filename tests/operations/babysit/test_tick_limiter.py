"""Ticks one after another, unless one waits for something."""

import threading
from collections.abc import Callable

from herorun.operations.babysit.tick_limiter import TickLimiter

LONG = 60.0  # seconds, more than a test takes


def test_a_second_tick_begins_when_the_first_has_ended() -> None:
    limiter, began = TickLimiter(2, LONG), threading.Event()
    with limiter:
        second = _start(limiter, began.set)
        assert not began.wait(0.1)
    assert began.wait(LONG)
    second.join()


def test_a_slow_tick_delays_no_other() -> None:
    limiter, began = TickLimiter(2, 0.01), threading.Event()
    with limiter:
        _start(limiter, began.set).join()
    assert began.is_set()


def test_no_more_than_so_many_are_under_way() -> None:
    limiter, began = TickLimiter(1, 0.01), threading.Event()
    with limiter:
        second = _start(limiter, began.set)
        assert not began.wait(0.1)
    second.join()
    assert began.is_set()


def test_each_of_many_gets_its_turn_alone() -> None:
    limiter, under_way, counts = TickLimiter(32, LONG), list[int](), list[int]()

    def tick() -> None:
        under_way.append(1)
        counts.append(len(under_way))
        under_way.pop()

    for thread in [_start(limiter, tick) for _ in range(50)]:
        thread.join()
    assert counts == [1] * 50


def _start(limiter: TickLimiter, act: Callable[[], None]) -> threading.Thread:
    def tick() -> None:
        with limiter:
            act()

    thread = threading.Thread(target=tick, daemon=True)
    thread.start()
    return thread
