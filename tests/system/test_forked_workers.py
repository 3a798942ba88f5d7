"""Work in forked processes. The tests' own process has threads, so each starts another one."""

import json
import os
import signal
import subprocess
import sys
import time
from typing import Any

import pytest

SCRIPT = """
import json, os, signal, socket, subprocess, sys, threading, time
from herorun.system import forked_workers
from herorun.system.forked_workers import map_in_two_phases

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
ME, CORES, calls = os.getpid(), 2, []
first = lambda item: (item, os.getpid())
second = lambda item, shared: (item, shared, os.getpid())
def between(notes):
    calls.append(os.getpid())
    return [item for item, _ in notes]
prepared = []
def prepare():
    prepared.append(os.getpid())
{body}
forked_workers._cores = lambda: CORES
answers = map_in_two_phases(range(16), (first, second), between, ("a", "b"), prepare)
try:
    os.waitpid(-1, os.WNOHANG)
    left = True
except ChildProcessError:
    left = False
print(json.dumps([ME, calls, answers, left]), file=sys.__stdout__)
"""


def answers_of(body: str = "") -> tuple[set[int], int, Any]:
    """The processes that worked, that of this script, and what came out."""
    process = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(body=body)], capture_output=True, text=True, timeout=60
    )
    assert process.returncode == 0, process.stderr
    own, calls, answers, leftovers = json.loads(process.stdout)
    assert calls[-1] == own and not leftovers
    return {pid for *_, pid in answers}, own, [answer[:2] for answer in answers]


WHOLE = [[item, list(range(16))] for item in range(16)]
PREPARED_PROGRAM = """
def second(item, shared):
    assert prepared == [ME] != [os.getpid()]
    return item, shared, os.getpid()
"""
NOT_PREPARED = """
def prepare():
    raise ImportError("the first to need it reports it")
"""
WITH_THREAD = """
def prepare():
    threading.Thread(target=threading.Event().wait, daemon=True).start()
"""
WITH_CHILD = """
child, without_wait = subprocess.Popen(["true"]), between
def between(notes):
    child.wait()
    return without_wait(notes)
"""
KILLED_WORKER = """
def second(item, shared):
    if os.getpid() != ME:
        os.kill(os.getpid(), signal.SIGKILL)
    return item, shared, ME
"""
UNSENDABLE = """
def second(item, shared):
    return (item, shared, ME) if os.getpid() == ME else threading.Lock()
"""
FAILS_THERE = """
def first(item):
    if os.getpid() != ME and item > 8:
        raise KeyError(item)
    return item, ME
"""
UNREADABLE = """
class Answer:
    def __reduce__(self):
        return int, ("no number",)
def second(item, shared):
    return (item, shared, ME) if os.getpid() == ME else Answer()
"""
IGNORE_SIGNAL = "signal.signal(signal.SIGCHLD, signal.SIG_IGN)"  # a process inherits that
IGNORED_LATER = """
with_default, is_lost = between, {is_lost}
def between(notes):
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    return with_default(notes)
def second(item, shared):
    if is_lost and os.getpid() != ME:
        os._exit(1)
    return item, shared, os.getpid()
"""


def test_the_answers_are_in_order_and_of_two_processes() -> None:
    workers, own, answers = answers_of()
    assert answers == WHOLE and len(workers) == 2 and own not in workers


@pytest.mark.parametrize("body", [PREPARED_PROGRAM, NOT_PREPARED])
def test_what_each_begins_with_is_prepared_before_the_fork(body: str) -> None:
    workers, own, answers = answers_of(body)
    assert answers == WHOLE and len(workers) == 2 and own not in workers


@pytest.mark.parametrize(
    "body",
    [
        WITH_THREAD,
        "CORES = 1",
        "forked_workers.MIN_ITEMS = 9",
        "threading.Thread(target=time.sleep, args=[30], daemon=True).start()",
        "open_socket = socket.socket()",
        WITH_CHILD,
        IGNORE_SIGNAL,
    ],
)
def test_where_a_fork_is_not_safe_or_not_worth_it_this_process_works(body: str) -> None:
    workers, own, answers = answers_of(body)
    assert answers == WHOLE and workers == {own}


@pytest.mark.parametrize("body", [KILLED_WORKER, UNSENDABLE, UNREADABLE, FAILS_THERE])
def test_what_a_lost_worker_had_to_do_is_done_here(body: str) -> None:
    workers, own, answers = answers_of(body)
    assert answers == WHOLE and workers == {own}


@pytest.mark.parametrize("is_lost", [False, True])
def test_workers_that_nobody_has_to_wait_for_end(is_lost: bool) -> None:
    workers, own, answers = answers_of(IGNORED_LATER.format(is_lost=is_lost))
    assert answers == WHOLE and (workers == {own}) is is_lost


def test_this_process_needs_no_output() -> None:
    workers, own, answers = answers_of("sys.stdout = None")
    assert answers == WHOLE and len(workers) == 2 and own not in workers


def test_an_error_of_the_work_shows_here() -> None:
    body = "def second(item, shared):\n    raise KeyError('of the work')"
    with pytest.raises(AssertionError, match="KeyError: 'of the work'"):
        answers_of(body)


DEAF = "signal.signal(signal.SIGTERM, signal.SIG_IGN)"
ENDS_FIRST = "signal.signal(signal.SIGINT, signal.SIG_DFL)"  # both at once
ASLEEP = """
def first(item):
    if os.getpid() != ME:
        {handler}
        print(os.getpid(), flush=True)
        time.sleep(60)
"""
HEARD_BESIDE = """
def between(notes):
    threading.Thread(target=time.sleep, args=[60], daemon=True).start()
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])  # no read of this thread ends early
def second(item, shared):
    print(os.getpid(), flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize(
    ("body", "is_for_all"),
    [
        (ASLEEP.format(handler=DEAF), False),
        (ASLEEP.format(handler=ENDS_FIRST), True),
        (HEARD_BESIDE, False),
    ],
)
def test_an_interruption_leaves_no_worker_behind(body: str, is_for_all: bool) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT.format(body=body)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        workers = [int(process.stdout.readline()) for _ in range(2)]
        (os.killpg if is_for_all else os.kill)(process.pid, signal.SIGINT)
        began = time.monotonic()
        assert process.wait(30) != 0 and time.monotonic() - began < 15
    for worker in workers:
        with pytest.raises(ProcessLookupError):
            os.kill(worker, 0)
