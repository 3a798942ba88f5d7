"""The babysitter's process: the loop over ticks, its heartbeat, and starting it detached."""

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Generic, TypeVar

from herorun.core.babysit.cadence import FIRST_CHECK
from herorun.core.babysit.stop_condition import StopCondition
from herorun.core.canonical_json import timestamp
from herorun.core.errors import UNFORESEEN, HandedOver, describe_error
from herorun.core.lazy_dataclass import dataclass
from herorun.core.redaction.scrub import scrub
from herorun.operations.babysit.bells import WakeSignals, file_mtime
from herorun.operations.babysit.outcome import TickOutcome, tick_exit_code
from herorun.operations.babysit.tick import run_tick
from herorun.operations.health.evaluate import must_be_launched
from herorun.operations.health.shared_polls import SharedPolls
from herorun.operations.record.heartbeat import (
    babysitter_pid,
    beat,
    bell_file,
    next_due,
    who_watches,
)
from herorun.record import Pushed, Record
from herorun.runs import MonitoredRun, Run, watched_run
from herorun.system.clock import now
from herorun.system.files import is_locked, take_lock

UNATTENDED_VARIABLE = "HERORUN_UNATTENDED"  # for the scheduler: no person launches from here

# Modules that a quiet tick does not import.
NOT_EACH_TICK = (
    "core.version_change",
    "gate",
    "operations.babysit.replay",
    "operations.launch.propose",
    "operations.launch.relaunch",
    "operations.launch.start_instance",
)

W = TypeVar("W", bound=MonitoredRun)


def watch(
    name: str,
    start: Path,
    report: Callable[[W, TickOutcome], None],
    until: StopCondition | None = None,
    tick: Callable[[W, str], TickOutcome] | None = None,
    stop_event: threading.Event | None = None,
    *,
    open_monitored: Callable[[str, Path], tuple[W, str]],
    before_tick: Callable[[], None] = lambda: None,
    bells: WakeSignals | None = None,
    start_up: contextlib.AbstractContextManager[object] | None = None,
) -> int:
    """Tick at the run's cadence until it is finished or sealed. There is one such loop for each run
    and machine.

    `tick` replaces the usual tick; `open_monitored` reads the run again before each tick.
    `stop_event` ends the loop between two ticks, by KeyboardInterrupt; `before_tick` ends it by
    raising. `bells` are shared by the loops of one process, and none of these is its main thread;
    `start_up` is entered while a loop does what it does once.
    """
    with start_up or contextlib.nullcontext():
        run, _ = open_monitored(name, start)
        must_be_launched(run, run.record.memory())
        run.prepare()
        _import_ahead(run)
        lock = take_lock(
            run.lock("babysitter"), 0.0, f"another babysitter of {run.slug}{who_watches(run)}"
        )
    if stop_event is None:
        stop_event = threading.Event()
        _handle_end_requests(stop_event)
    own = BabysitLoop(
        name=name,
        start=start,
        report=report,
        until=until or StopCondition(),
        tick=tick or run_tick,
        bell=bell_file(run),
        stop_event=stop_event,
        opened=open_monitored,
        before_tick=before_tick,
        bells=bells,
    )
    try:
        _wait_first_interval(own, run)
        del run  # so that its memory is not held for weeks
        return _loop(own)
    finally:
        os.close(lock)


def _import_ahead(run: MonitoredRun) -> None:
    """Import all modules that a tick may need, because another version may be installed while the
    loop runs.
    """
    for module in NOT_EACH_TICK:
        import_module(f"herorun.{module}")
    for check in run.health_checks:
        check.ask  # noqa: B018  # reading it imports the file


def _wait_first_interval(own: "BabysitLoop[W]", run: W) -> None:
    """Wait until the tick that the previous loop had scheduled, unless a person has rung the bell
    since.
    """
    due, was_called = (
        next_due(run),
        file_mtime(own.bell) > file_mtime(run.state / "heartbeat.json"),
    )
    with contextlib.suppress(OSError):
        beat(run, due)
    if due is not None and not was_called:
        longest = run.contract.babysit.cadence.total_seconds()
        own.sleep(min((due - now()).total_seconds(), longest), file_mtime(own.bell))


def tick_once(
    name: str,
    start: Path,
    polls: SharedPolls | None = None,
    push: Callable[[Record, bool], Pushed] = lambda record, _: record.push(),
) -> tuple[Run, TickOutcome]:
    """One tick, even while a loop runs: ticks wait for each other, and all their state is in the
    journal. `push` gets the record and whether the push is urgent: the tick notified or acted.
    """
    run, drift = watched_run(name, start)
    with mark_unattended():
        tick = run_tick(run, drift, polls, lambda urgent: push(run.record, urgent))
    # if a loop runs, its heartbeat stays: it is the babysitter, and its next tick stays due
    with contextlib.suppress(OSError):  # a full disk: the tick was taken and is in the record
        if is_locked(run.lock("babysitter")):
            beat(run, next_due(run), babysitter_pid(run))
        elif not tick.monitored_elsewhere:  # a beat says that this clone monitors
            beat(run)
    return run, tick


@contextlib.contextmanager
def mark_unattended() -> Iterator[None]:
    """Marks submissions in this context as not by a person: the scheduler then uses the environment
    of the launch.
    """
    before = os.environ.get(UNATTENDED_VARIABLE)
    os.environ[UNATTENDED_VARIABLE] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[UNATTENDED_VARIABLE]
        else:
            os.environ[UNATTENDED_VARIABLE] = before


@dataclass(frozen=True, kw_only=True)
class BabysitLoop(Generic[W]):
    """The parameters of one loop."""

    name: str
    start: Path
    report: Callable[[W, TickOutcome], None]
    until: StopCondition
    tick: Callable[[W, str], TickOutcome]
    bell: Path
    stop_event: threading.Event
    opened: Callable[[str, Path], tuple[W, str]]
    before_tick: Callable[[], None]
    bells: WakeSignals | None

    def sleep(self, seconds: float, bell_time: float) -> None:
        """Sleep so many seconds, or until the bell file changes after `bell_time`."""
        self.end_if_requested()
        if self.bells is not None:
            self.bells.wait(seconds, self.bell, bell_time)
            self.end_if_requested()
            return
        while seconds > 0 and file_mtime(self.bell) == bell_time:
            time.sleep(min(1.0, seconds))
            seconds -= 1.0
            self.end_if_requested()

    def end_if_requested(self) -> None:
        if self.stop_event.is_set():
            raise KeyboardInterrupt


def _loop(own: BabysitLoop[W]) -> int:
    pause = FIRST_CHECK.total_seconds()
    while True:
        own.before_tick()
        began, bell_time = time.monotonic(), file_mtime(own.bell)
        try:
            pause, code = _once(own)
            if code is not None:
                return code
        except HandedOver:
            raise  # the one error after which no tick is due
        # after any error of a tick the next one is due: an ended monitor detects nothing
        except UNFORESEEN as error:
            message = "".join(c if c.isprintable() else "�" for c in scrub(describe_error(error)))
            line = f"{timestamp(now())} herorun: this tick failed: {message}"
            with contextlib.suppress(OSError):  # a full disk stops the log, but not the monitoring
                print(line, file=sys.stderr, flush=True)
        own.sleep(pause - (time.monotonic() - began), bell_time)


def _once(own: BabysitLoop[W]) -> tuple[float, int | None]:
    """One tick: the seconds until the next is due, or the exit code if none is. A function of its
    own, so that all evidence is freed.
    """
    run, drift = own.opened(own.name, own.start)
    with mark_unattended():
        tick = own.tick(run, drift)
    ends = tick.is_complete or own.until.is_reached(tick.step, now())
    pause = _seconds_to_next_tick(tick, own.until)
    # a full disk: the tick was taken and is still in the record
    with contextlib.suppress(OSError):
        beat(run, None if ends else now() + timedelta(seconds=pause))
    with contextlib.suppress(OSError):
        own.report(run, tick)
    return pause, tick_exit_code(tick) if ends else None


def _seconds_to_next_tick(tick: TickOutcome, until: StopCondition) -> float:
    """Until the next tick; not beyond the end of the watch."""
    pause = (tick.pause or FIRST_CHECK).total_seconds()
    seconds_left = (until.time - now()).total_seconds() if until.time else pause
    return max(0.0, min(pause, seconds_left))


def _handle_end_requests(stop_event: threading.Event) -> None:
    """SIGTERM and SIGINT end the loop: at once, by KeyboardInterrupt; or after this tick if other
    code swallows it, as C code does that calls PyObject_HasAttr.
    """

    def interrupted(signal_number: int, frame: FrameType | None) -> None:
        stop_event.set()
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupted)
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, interrupted)
