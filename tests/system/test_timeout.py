"""Calls by a deadline."""

from threading import Event, current_thread

import pytest

from herorun.core.errors import CouldNotLook
from herorun.system.timeout import within


def test_calls_after_one_another_share_a_thread() -> None:
    threads = {within(60, current_thread) for _ in range(20)}
    assert len(threads) < 10 and current_thread() not in threads


def test_a_call_that_hangs_holds_up_no_other() -> None:
    end = Event()
    with pytest.raises(CouldNotLook):
        within(0.01, end.wait)
    assert within(60, lambda: "answer") == "answer"
    end.set()


def test_an_error_is_raised_and_the_next_call_is_made() -> None:
    def fail() -> None:
        raise ValueError("wrong")

    for _ in range(3):
        with pytest.raises(ValueError, match="wrong"):
            within(60, fail)
    assert within(60, lambda: 1) == 1
