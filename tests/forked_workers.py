"""`--workers N`: the tests are collected once, and N forks of this process run them.

A worker of pytest-xdist imports and collects all tests for itself, which takes eight seconds of
CPU each. What a fork writes, prints or leaves open is its own; it sends one message for each test.
Fixtures of a session find what pytest-xdist would tell them, under the same names.
"""

import fcntl
import mmap
import os
import struct
import tempfile
import traceback
import uuid
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, NoReturn

import pytest

_PART = struct.Struct("ii")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--workers", type=int, default=0, help="Run the tests in N forks.")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    config = session.config
    workers = min(config.getoption("workers"), len(session.items))
    if workers < 1 or config.getoption("collectonly") or session.testsfailed:
        return None
    _Workers(session, Queues(len(session.items), workers)).run(workers)
    return True


class Queues:
    """The positions of all tests, in one contiguous part for each worker, in memory that the forks
    share. A worker whose part is done takes half of the largest one.
    """

    def __init__(self, items: int, workers: int) -> None:
        self._shared = mmap.mmap(-1, _PART.size * workers)
        self._lock = tempfile.TemporaryFile()  # noqa: SIM115  # open as long as the forks run
        self._workers = workers
        for worker in range(workers):
            self._write(worker, items * worker // workers, items * (worker + 1) // workers)

    def take(self, worker: int) -> int | None:
        with self._locked():
            first, end = self._read(worker)
            if first == end:
                first, end = self._steal()
            self._write(worker, min(first + 1, end), end)
            return first if first < end else None

    def clear(self) -> None:
        """No worker gets another test."""
        with self._locked():
            for worker in range(self._workers):
                self._write(worker, 0, 0)

    def _steal(self) -> tuple[int, int]:
        parts = [self._read(worker) for worker in range(self._workers)]
        richest = max(range(self._workers), key=lambda worker: parts[worker][1] - parts[worker][0])
        first, end = parts[richest]
        middle = (first + end) // 2
        self._write(richest, first, middle)
        return middle, end

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """The system opens the lock of a worker that is killed."""
        fcntl.lockf(self._lock, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.lockf(self._lock, fcntl.LOCK_UN)

    def _read(self, worker: int) -> tuple[int, int]:
        first, end = _PART.unpack_from(self._shared, worker * _PART.size)
        return first, end

    def _write(self, worker: int, first: int, end: int) -> None:
        _PART.pack_into(self._shared, worker * _PART.size, first, end)


@dataclass
class _Workers:
    """The process that forks them, and reports what they send."""

    session: pytest.Session
    queues: Queues
    pids: dict[Connection, int] = field(default_factory=dict)
    deaths: list[str] = field(default_factory=list)

    def run(self, workers: int) -> None:
        unfinished = {item.nodeid: item for item in self.session.items}
        base = self.session.config._tmp_path_factory.getbasetemp()
        os.environ["PYTEST_XDIST_TESTRUNUID"] = uuid.uuid4().hex
        with _uncaptured(self.session.config):
            for worker in range(workers):
                self._fork(worker, base / f"worker-{worker}")
        try:
            for reports, nodeid, location in self._messages():
                self._report(reports, nodeid, location)
                unfinished.pop(nodeid, None)
        finally:
            self.queues.clear()
            self._reap()
        self._end(list(unfinished.values()))

    def _fork(self, worker: int, folder: Path) -> None:
        here, there = Pipe(duplex=False)
        pid = os.fork()
        if pid == 0:
            for one in (here, *self.pids):
                one.close()  # so that it ends when this process is gone
            _exit_after(_Worker(self.session, self.queues, worker, there), folder)
        there.close()
        self.pids[here] = pid

    def _messages(self) -> Iterator[Any]:
        while self.pids:
            for one in wait(list(self.pids)):
                assert isinstance(one, Connection)
                message = _received(one)
                if message is None:
                    self._bury(one)
                else:
                    yield message

    def _bury(self, one: Connection) -> None:
        _, status = os.waitpid(self.pids.pop(one), 0)
        if status:
            self.deaths.append(f"a worker ended with {os.waitstatus_to_exitcode(status)}")

    def _reap(self) -> None:
        """Also where the user interrupts: each ends after its test, and with its servers."""
        while self.pids:
            for one in list(self.pids):
                one.close()
                self._bury(one)

    def _report(self, reports: list[Any], nodeid: str, location: Any) -> None:
        config, hook = self.session.config, self.session.config.hook
        for data in reports:
            if isinstance(data, dict):
                report = hook.pytest_report_from_serializable(config=config, data=data)
                hook.pytest_runtest_logreport(report=report)
            else:
                text, category, path, line = data
                warning = warnings.WarningMessage(text, category, path, line)
                content = {"nodeid": nodeid, "when": "runtest", "location": None}
                hook.pytest_warning_recorded.call_historic(
                    kwargs={"warning_message": warning, **content}
                )
        hook.pytest_runtest_logfinish(nodeid=nodeid, location=location)
        config.get_terminal_writer().flush()
        if self.session.shouldfail or self.session.shouldstop:
            self.queues.clear()

    def _end(self, unfinished: list[pytest.Item]) -> None:
        if self.session.shouldfail:
            raise self.session.Failed(self.session.shouldfail)
        if self.session.shouldstop:
            raise self.session.Interrupted(self.session.shouldstop)
        if self.deaths and not unfinished:
            raise self.session.Failed("; ".join(self.deaths))
        for item in unfinished:
            why = f"not run to its end: {'; '.join(self.deaths) or 'no worker took it'}"
            self.session.config.hook.pytest_runtest_logreport(
                report=pytest.TestReport(item.nodeid, item.location, {}, "failed", why, "call")
            )


@dataclass(eq=False)
class _Worker:
    """One fork: as a plugin, it keeps what is to be sent for the test that runs."""

    session: pytest.Session
    queues: Queues
    number: int
    pipe: Connection
    reports: list[Any] = field(default_factory=list)

    def run(self, folder: Path) -> None:
        self._settle(folder)
        try:
            self._run_tests()
        finally:
            self.session._setupstate.teardown_exact(None)
        self.pipe.send(None)

    def _run_tests(self) -> None:
        items, hook = self.session.items, self.session.config.hook
        position = self.queues.take(self.number)
        while position is not None and not (self.session.shouldfail or self.session.shouldstop):
            following = self.queues.take(self.number)
            item, after = items[position], None if following is None else items[following]
            hook.pytest_runtest_protocol(item=item, nextitem=after)
            self.pipe.send((self.reports, item.nodeid, item.location))
            self.reports, position = [], following

    def _settle(self, folder: Path) -> None:
        config, manager = self.session.config, self.session.config.pluginmanager
        folder.mkdir(0o700)
        config._tmp_path_factory._basetemp = folder
        os.environ["PYTEST_XDIST_WORKER"] = f"gw{self.number}"
        if config.getoption("capture") != "no":
            _leave_terminal()
        writer = config.get_terminal_writer()
        manager.unregister(name="terminalreporter")
        manager.register(_Silent(writer), "terminalreporter")
        manager.register(self)
        manager.getplugin("capturemanager").start_global_capturing()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if self.sends_all or report.when == "call" or not report.passed or report.sections:
            config = self.session.config
            data = config.hook.pytest_report_to_serializable(config=config, report=report)
            self.reports.append(data)

    def pytest_warning_recorded(self, warning_message: warnings.WarningMessage) -> None:
        one = warning_message
        self.reports.append((str(one.message), one.category, one.filename, one.lineno))

    @cached_property
    def sends_all(self) -> bool:
        """Whether anybody reads that a setup or a teardown passed."""
        config = self.session.config
        return config.getoption("durations", None) is not None or bool(config.getoption("xmlpath"))


@dataclass(eq=False)
class _Silent:
    """What a worker has in place of the terminal's reporter: the style of its texts."""

    _tw: Any


def _exit_after(worker: _Worker, folder: Path) -> NoReturn:
    """Without what this process would do at its own exit, such as to remove its folders."""
    status = 1
    try:
        worker.run(folder)
        status = 0
    except (KeyboardInterrupt, BrokenPipeError):
        pass  # the user has interrupted it, or the first process is gone
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def _received(one: Connection) -> Any:
    """None where the worker is done, or dead."""
    try:
        return one.recv()
    except (EOFError, ConnectionResetError):
        return None


def _leave_terminal() -> None:
    """What is printed past the capture is in no report; only errors are shown."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)


@contextmanager
def _uncaptured(config: pytest.Config) -> Iterator[None]:
    """A fork that inherits the files of the capture would share their positions."""
    capture: Any = config.pluginmanager.getplugin("capturemanager")
    capture.stop_global_capturing()
    config.get_terminal_writer().flush()
    try:
        yield
    finally:
        capture.start_global_capturing()
