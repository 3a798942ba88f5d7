"""Work on many items in two phases, in forked processes: one per core, at most `MAX_PROCESSES`.

All is done in this process where a fork is not safe, not worth it, or a worker ended early: then an
error of the work itself shows as it always does.
"""

import gc
import os
import pickle
import select
import signal
import stat
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import cycle
from typing import Any, TypeAlias, TypeVar

from herorun.core.lazy_dataclass import dataclass
from herorun.system import progress

Item = TypeVar("Item")
Note = TypeVar("Note")
Common = TypeVar("Common")
Result = TypeVar("Result")
Phases: TypeAlias = tuple[Callable[[Item], Note], Callable[[Item, Common], Result]]

MIN_ITEMS = 8  # items for each process: a fork costs as much as a few of them
MAX_PROCESSES = 4  # processes: each has its own connections to what it asks
PATIENCE = 1.0  # seconds for an interrupted worker to end its own programs
_CHECK_INTERVAL = 0.01  # seconds
_GARBAGE_INTERVAL = 100_000  # objects more than before: some dozen runs leave as many
_WAKE_INTERVAL = 1000  # milliseconds until an interruption is noticed, at the latest


class _WorkerLost(Exception):
    """A worker ended before it had answered."""


@dataclass
class _Worker:
    pid: int
    reader: Any  # of its answers
    writer: Any  # of what is sent to it


def map_in_two_phases(
    items: Sequence[Item],
    phases: Phases[Item, Note, Common, Result],
    between: Callable[[list[Note]], Common],
    doing: tuple[str, str],
    prepare: Callable[[], object],
) -> list[Result]:
    """The second phase's results, in the order of the items. Its second argument is what `between`
    makes here, once, of all answers of the first. An item's two phases are in one process.

    Answers must be plain values, for `pickle`. `doing` is what the progress line shows. Before a
    fork, `prepare` does once what each worker would begin with.
    """
    count = min(len(items) // MIN_ITEMS, _cores(), MAX_PROCESSES)
    if count > 1 and _is_fork_safe():
        with suppress(Exception):  # it shows where the work itself meets it
            prepare()
        with suppress(_WorkerLost):
            if _is_fork_safe():  # also after what was imported
                return _in_workers(items, count, phases, between, doing)
    first, second = phases
    common = between(list(_report_progress((first(item) for item in items), len(items), doing[0])))
    return list(_report_progress((second(item, common) for item in items), len(items), doing[1]))


def _report_progress(answers: Iterator[Note], total: int, doing: str) -> Iterator[Note]:
    for number in range(total):
        progress.progress(doing, number, total)
        yield next(answers)
    progress.progress(doing, 1, 1)


def _cores() -> int:
    with suppress(AttributeError):  # not on every system
        return len(os.sched_getaffinity(0))
    return 1


def _is_fork_safe() -> bool:
    """Whether two processes can continue from here: a thread would be missing in one of them, and a
    child's pipe or an open connection would have two readers. Nobody else may wait for a worker:
    where SIGCHLD is ignored, the kernel does.
    """
    if signal.getsignal(signal.SIGCHLD) is not signal.SIG_DFL:
        return False
    try:
        if sys.platform != "linux" or len(os.listdir("/proc/self/task")) > 1:
            return False
        return not _has_children() and not any(map(_is_socket, os.listdir("/proc/self/fd")))
    except OSError:
        return False


def _has_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _is_socket(number: str) -> bool:
    with suppress(OSError):  # that of the listing is closed by now
        return int(number) > 2 and stat.S_ISSOCK(os.fstat(int(number)).st_mode)
    return False


def _in_workers(
    items: Sequence[Item],
    count: int,
    phases: Phases[Item, Note, Common, Result],
    between: Callable[[list[Note]], Common],
    doing: tuple[str, str],
) -> list[Result]:
    """They take the items in turns, so that their answers come in order."""
    workers: list[_Worker] = []
    is_done = False
    try:
        for number in range(count):
            with _block_interrupts() as mask:  # none is forgotten
                workers.append(_fork(items[number::count], phases, workers, mask))
        common = between(list(_report_progress(_read_answers(workers), len(items), doing[0])))
        message = _serialize(common)
        for worker in workers:
            _send(worker, message)
        answers = list(_report_progress(_read_answers(workers), len(items), doing[1]))
        is_done = True
        return answers
    finally:
        try:
            with _block_interrupts():
                _end(workers, is_done)
        except KeyboardInterrupt:  # one that also ended the workers, and is heard here after that
            with _block_interrupts():
                _end(workers, is_done)
            raise


@contextmanager
def _block_interrupts() -> Iterator[set[signal.Signals]]:
    """Signals arrive later. Gives the signals that were blocked before."""
    mask: Any = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield mask
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _fork(
    items: Sequence[Any],
    phases: Phases[Any, Any, Any, Any],
    others: Sequence[_Worker],
    mask: set[signal.Signals],
) -> _Worker:
    (reader, its_writer), (its_reader, writer) = os.pipe(), os.pipe()
    if sys.stdout:  # none, if it was closed when this process began
        sys.stdout.flush()
    try:
        pid = os.fork()
    except OSError:  # too many processes
        for each in (reader, its_writer, its_reader, writer):
            os.close(each)
        raise _WorkerLost from None
    if not pid:
        try:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            for each in (reader, writer, *(end for other in others for end in _ends(other))):
                os.close(each)
            _work(items, phases, its_reader, its_writer)
            os._exit(0)
        finally:  # nothing of the parent is flushed, or ended, a second time
            os._exit(1)
    os.close(its_reader)
    os.close(its_writer)
    return _Worker(pid, os.fdopen(reader, "rb"), os.fdopen(writer, "wb"))


def _ends(worker: _Worker) -> tuple[int, int]:
    return worker.reader.fileno(), worker.writer.fileno()


def _work(
    items: Sequence[Any], phases: Phases[Any, Any, Any, Any], source: int, target: int
) -> None:
    """In the worker. What it cannot answer, or an interruption, ends it: the parent sees that."""
    progress.hide()
    gc.freeze()  # what is inherited: it is no garbage, and to look through it would copy it
    gc.set_threshold(_GARBAGE_INTERVAL, *gc.get_threshold()[1:])
    first, second = phases
    with os.fdopen(source, "rb") as reader, os.fdopen(target, "wb") as writer:
        for item in items:
            writer.write(pickle.dumps(first(item)))
            writer.flush()
        common = pickle.load(reader)
        for item in items:
            writer.write(pickle.dumps(second(item, common)))
            writer.flush()


def _read_answers(workers: Sequence[_Worker]) -> Iterator[Any]:
    """One of each worker in turns, without end."""
    for worker in cycle(workers):
        try:
            _wait_for_answer(worker.reader)
            answer = pickle.load(worker.reader)
        except Exception:  # none, or any error of what an adapter's value is made from
            raise _WorkerLost from None
        yield answer


def _wait_for_answer(reader: Any) -> None:
    """By a poll, because an interruption just before a read does not end the read."""
    number, poller = reader.fileno(), select.poll()
    poller.register(number, select.POLLIN)
    while True:
        os.set_blocking(number, False)
        is_buffered = bool(reader.peek(1))
        os.set_blocking(number, True)
        if is_buffered or poller.poll(_WAKE_INTERVAL):
            return


def _serialize(value: object) -> bytes:
    try:
        return pickle.dumps(value)
    except Exception:
        raise _WorkerLost from None


def _send(worker: _Worker, message: bytes) -> None:
    try:
        worker.writer.write(message)
        worker.writer.flush()
    except OSError:
        raise _WorkerLost from None


def _end(workers: list[_Worker], is_done: bool) -> None:
    """None of them is left: one that is at work is interrupted, as this process was, and killed if
    that does not end it.
    """
    for worker in workers:
        worker.reader.close()
        with suppress(OSError):  # what it was sent, and it had ended
            worker.writer.close()
        if not is_done:
            _kill(worker.pid, signal.SIGTERM)
    until = time.monotonic() + PATIENCE
    while workers:
        pid = workers[-1].pid
        while not is_done and time.monotonic() < until and not _has_ended(pid):
            time.sleep(_CHECK_INTERVAL)
        if not is_done:
            _kill(pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(pid, 0)
        workers.pop()


def _kill(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):  # somebody else has waited for it
        os.kill(pid, number)


def _has_ended(pid: int) -> bool:
    """Its number stays its own until somebody waits for it."""
    with suppress(ChildProcessError):
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    return True
