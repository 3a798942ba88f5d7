"""The end of a run's own log: its newest step, whatever colours and numbers stand there."""

import pytest

from herorun import signatures
from herorun.core.patrol.log import own_log
from herorun.core.patrol.observation import LogEnd


def end_of(text: str, progress: str | None = None) -> LogEnd:
    return own_log(signatures.with_own(), text.encode(), progress, True)


@pytest.mark.parametrize("progress", [None, r"step (\d+)"])
def test_a_coloured_step_is_a_step_and_its_line_steers_no_terminal(progress: str | None) -> None:
    log_end = end_of("step 5/200\n\x1b[2J\x1b[32mstep 6/200\x1b[0m\x1b]0;title\x07\n", progress)
    assert (log_end.line, log_end.step) == ("step 6/200", 6)


@pytest.mark.parametrize("progress", [None, r"step (\d+)"])
def test_a_number_that_no_run_reaches_is_no_step(progress: str | None) -> None:
    assert end_of(f"step 6\nstep {'9' * 5_000}\n", progress).step in (None, 6)


FAILED_LOG = (
    'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n    go()\n'
    "NameError: name 'x' is not defined\n"
)


@pytest.mark.parametrize(
    ("after", "failure"),
    [("", "code-bug-small"), ("step 9\n", "code-bug-small"), ("step 9\nstep 10\n", "")],
)
def test_an_old_failure_with_steps_behind_it_is_over(after: str, failure: str) -> None:
    assert end_of(f"step 7\n{FAILED_LOG}{after}").failure == failure


def test_a_first_line_that_is_cut_in_two_is_no_step() -> None:
    end = b"step 99/200\nstep 6/200\nnoise\n"
    assert own_log(signatures.with_own(), end, None, False).step == 6
    assert own_log(signatures.with_own(), b"step 9/200\nnoise\n", None, False).step is None
    assert own_log(signatures.with_own(), b"step 9/200\nnoise\n", None, True).step == 9


def test_the_contracts_own_pattern_finds_the_step() -> None:
    assert end_of("updates done: 7\n", r"updates done: (\d+)").step == 7
