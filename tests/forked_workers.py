"""`--forks N`: N workers that are copies of the process that collected the tests.

A worker of pytest-xdist collects all tests itself, which takes it seven seconds of CPU. These share
what was collected. Else they are as its workers are with `--dist worksteal`: each begins with a
share of the tests in their order, one that is done takes half of what the slowest has left, and
each has fixtures and folders of its own.
"""

import atexit
import gc
import os
import signal
import sys
import time
import traceback
import uuid
import warnings
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, NoReturn

import pytest

from work_order import begins_a_share, deal_items
from work_shares import NOTHING, Shares
from worker_messages import is_routine

LAST_WAIT = 30.0  # seconds that workers have to stop their servers where the run is given up


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--forks", type=int, default=0, help="run the tests in so many forks of this")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    option = session.config.option
    if not option.forks or option.collectonly or session.testsfailed or not session.items:
        return None
    Workers(session, min(option.forks, len(session.items))).run()
    return True


@dataclass(frozen=True)
class Fork:
    number: int  # of the share that it runs
    pid: int
    messages: Connection


class Workers:
    """As the process that collected sees them."""

    def __init__(self, session: pytest.Session, count: int) -> None:
        self._session, self._config = session, session.config
        self._hook: Any = session.config.hook
        session.items[:] = deal_items(session.items, count, begins_a_share)
        self._shares = Shares(len(session.items), count)
        self._count = count
        self._forks: list[Fork] = []
        self._starts = 0

    def run(self) -> None:
        os.environ.setdefault("PYTEST_XDIST_TESTRUNUID", uuid.uuid4().hex)
        gc.collect()
        gc.freeze()  # a fork that collects garbage would copy every page of what is shared
        try:
            for number in range(self._count):
                self._begin(number)
            while self._forks:
                ready = wait([fork.messages for fork in self._forks])
                for fork in [fork for fork in self._forks if fork.messages in ready]:
                    self._hear(fork)
        finally:
            self._give_up()
        if self._session.shouldfail:
            raise self._session.Failed(self._session.shouldfail)
        if self._session.shouldstop:
            raise self._session.Interrupted(self._session.shouldstop)

    def _begin(self, number: int) -> None:
        name, self._starts = f"gw{self._starts}", self._starts + 1
        # pytest gives a plugin no other way to its folder
        base = self._config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
        folder = base / f"popen-{name}"
        messages, sender = Pipe(duplex=False)
        sys.stdout.flush()
        sys.stderr.flush()
        if not (pid := os.fork()):
            messages.close()
            work(Worker(self._session, self._shares, number, sender), name, folder)
        sender.close()
        self._forks.append(Fork(number, pid, messages))

    def _hear(self, fork: Fork) -> None:
        try:
            kind, content = fork.messages.recv()
        except EOFError:
            self._report_death(fork)
            return
        if kind == "warning":
            self._hook.pytest_warning_recorded.call_historic(kwargs=content)
        elif kind == "report":
            self._report(
                self._hook.pytest_report_from_serializable(config=self._config, data=content)
            )
        elif kind == "error":
            raise RuntimeError(f"a worker could not go on:\n{content}")
        else:
            self._forks.remove(fork)
            os.waitpid(fork.pid, 0)

    def _report(self, report: pytest.TestReport) -> None:
        self._hook.pytest_runtest_logreport(report=report)
        if report.when == "call" or report.outcome != "passed":
            self._hook.pytest_runtest_logfinish(nodeid=report.nodeid, location=report.location)
        if self._session.shouldfail or self._session.shouldstop:
            self._shares.stop()

    def _report_death(self, fork: Fork) -> None:
        """Its test has failed, and another goes on with its share."""
        self._forks.remove(fork)
        code = os.waitstatus_to_exitcode(os.waitpid(fork.pid, 0)[1])
        number = self._shares.of(fork.number).current
        if number == NOTHING:
            raise RuntimeError(f"a worker ended with {code} and ran no test")
        item = self._session.items[number]
        message = f"the worker ended with {code} while it ran this test"
        self._report(pytest.TestReport(item.nodeid, item.location, {}, "failed", message, "call"))
        self._begin(fork.number)

    def _give_up(self) -> None:
        """Those that still run are interrupted, and then killed; where all are done, none is."""
        self._shares.stop()
        for fork in self._forks:
            os.kill(fork.pid, signal.SIGINT)
        until = time.monotonic() + LAST_WAIT
        for fork in self._forks:
            while os.waitpid(fork.pid, os.WNOHANG) == (0, 0):
                if time.monotonic() > until:
                    os.kill(fork.pid, signal.SIGKILL)
                time.sleep(0.05)


class Worker:
    """A plugin of the fork: what is to be said about its tests goes to the process before it."""

    def __init__(
        self, session: pytest.Session, shares: Shares, number: int, messages: Connection
    ) -> None:
        self._session, self._shares, self._number = session, shares, number
        self._messages = messages
        option = session.config.option
        self._all = option.durations is not None or option.xmlpath is not None
        # a process that a test forks does not hold the other's end of it
        os.register_at_fork(after_in_child=messages.close)

    def run(self) -> None:
        items: list[pytest.Item | None] = [*self._session.items, None]  # the last is NOTHING's
        while (share := self._shares.take(self._number)).current != NOTHING:
            item, upcoming = items[share.current], items[share.upcoming]
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=upcoming)

    def say(self, kind: str, content: Any) -> None:
        self._messages.send((kind, content))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if self._all or not is_routine(report.when, report.outcome, report.sections):
            config = self._session.config
            data = config.hook.pytest_report_to_serializable(config=config, report=report)
            self.say("report", data)

    def pytest_warning_recorded(
        self, warning_message: warnings.WarningMessage, when: str, nodeid: str, location: Any
    ) -> None:
        place = {"when": when, "nodeid": nodeid, "location": location}
        text = warnings.WarningMessage(
            str(warning_message.message),
            warning_message.category,
            warning_message.filename,
            warning_message.lineno,
        )
        self.say("warning", {"warning_message": text, **place})


def work(worker: Worker, name: str, folder: Path) -> NoReturn:
    """The rest of a fork's life. Its environment and folder are named as by pytest-xdist."""
    code = 1
    try:
        os.environ["PYTEST_XDIST_WORKER"] = name
        session = worker._session
        _part(session.config, folder)
        session.config.pluginmanager.register(worker)
        try:
            worker.run()
        finally:
            session._setupstate.teardown_exact(None)
        worker.say("done", None)
        code = 0
    except KeyboardInterrupt:
        code = 2
    except BaseException:
        worker.say("error", traceback.format_exc())
    finally:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        os._exit(code)


def _part(config: pytest.Config, folder: Path) -> None:
    """What would write to the files of the process before: it captures and tells by itself."""
    folder.mkdir(mode=0o700)
    # as a worker of pytest-xdist gets it by an option, which a fork cannot be given
    config._tmp_path_factory._basetemp = folder  # type: ignore[attr-defined]
    config.pluginmanager.unregister(name="terminalreporter")
    capture = config.pluginmanager.getplugin("capturemanager")
    capture._global_capturing = None
    capture.start_global_capturing()
    capture.suspend_global_capture()  # as it is between tests
