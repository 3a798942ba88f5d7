"""Supervises the loops of a fleet, a thread each, so that a slow or failed one does not affect the
others.

A loop that ended because nothing was left to monitor starts again when the run's record changes, as
after a relaunch by a person. One that ended in any other way starts again after a pause, without
limit. A run without a tick for two cadences raises an alert of its own.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import field
from pathlib import Path
from typing import TypeAlias

from herorun.core.babysit.shard import Shard
from herorun.core.babysit.stop_condition import StopCondition
from herorun.core.errors import HandedOver, HerorunError, WrongUse, describe_error
from herorun.core.lazy_dataclass import dataclass
from herorun.core.redaction.scrub import scrub
from herorun.core.remote.watchdog import MIN_AGE, MISSED_TICKS
from herorun.operations.babysit.batch import slugs_to_watch
from herorun.operations.babysit.bells import WakeSignals
from herorun.operations.babysit.loop import watch
from herorun.operations.babysit.outcome import TickOutcome
from herorun.operations.babysit.tick import run_tick
from herorun.operations.babysit.tick_limiter import TickLimiter
from herorun.operations.babysit.watchdog import raise_alarm
from herorun.operations.health.shared_polls import SharedPolls
from herorun.operations.record.push import PushPacer
from herorun.record import Pushed
from herorun.runs import Run, watched_run
from herorun.system.files import LockHeld
from herorun.system.git import find_repository

MAX_CONCURRENT_TICKS = 32  # most of them wait for a scheduler, a store or a disk
SHUTDOWN_TIMEOUT = 10.0  # seconds that the loops get to end between two ticks
FIRST_PAUSE, MAX_PAUSE = 1.0, 60.0  # seconds before a loop starts again
REFRESH_INTERVAL = 10.0  # seconds between two searches for runs to monitor and for silent loops
ALARM_RETRY_INTERVAL = 60.0  # seconds until a failed alarm is sent again
OPENING_TIMEOUT = 60.0  # seconds that the first tick waits until the other runs have been opened

Report: TypeAlias = Callable[[Run, TickOutcome], None]
AlarmCallback: TypeAlias = Callable[[str, str], None]


@dataclass(kw_only=True)
class _Task:
    """One run's loop."""

    name: str  # as the caller named it
    thread: threading.Thread | None = None
    code: int = 3
    ended_at: str | None = None  # the tip of the record when its loop ended
    message: str = ""  # the last reported error of the loop
    # when the last tick ended, or the task began
    ticked: float = field(default_factory=time.monotonic)
    silence: float = MIN_AGE.total_seconds()  # after which the run counts as not monitored
    alarmed: float = 0.0

    @property
    def slug(self) -> str:
        return Path(self.name).stem

    @property
    def lives(self) -> bool:
        return self.thread is not None and self.thread.is_alive()


class Fleet:
    """The tasks, and what their loops share: the output, the limit on ticks, and the event that
    ends them.
    """

    def __init__(
        self,
        start: Path,
        report: Report,
        on_alarm: AlarmCallback,
        until: StopCondition,
        names: Sequence[str],
        shard: Shard | None,
    ) -> None:
        self._start, self._until, self._shard = start, until, shard
        self._polls = SharedPolls()
        # the first poll is to cover all of them, so that no tick begins before they are opened
        self._slugs_to_open = {Path(name).stem for name in names}
        self._opening_end = threading.Event()
        self._speak, self._on_alarm = report, on_alarm
        self._tasks: dict[str, _Task] = {}  # by slug
        self._one_at_a_time = threading.Lock()
        self._room = TickLimiter(MAX_CONCURRENT_TICKS)
        self._stop_event = threading.Event()
        self._bells = WakeSignals(self._stop_event)
        self._together = PushPacer()
        self._refreshed_at = time.monotonic()

    @property
    def codes(self) -> list[int]:
        return [task.code for task in self._tasks.values()]

    def start(self, name: str) -> None:
        """Start the loop of a run, unless it runs."""
        task = self._tasks.setdefault(Path(name).stem, _Task(name=name))
        if not task.lives:
            task.ticked = time.monotonic()
            task.thread = threading.Thread(
                target=self._supervise, args=(task,), name=f"babysit {name}", daemon=True
            )
            task.thread.start()

    def lives(self, wait: float) -> bool:
        """Whether any loop still runs; waits for up to `wait` seconds."""
        for task in self._tasks.values():
            if task.thread is not None and task.lives:
                task.thread.join(wait)
                return True
        return False

    def take_stock(self) -> None:
        """Every `REFRESH_INTERVAL`: start loops for runs that need one, and raise alarms for runs
        without a tick.
        """
        if time.monotonic() - self._refreshed_at < REFRESH_INTERVAL:
            return
        self._refreshed_at = time.monotonic()
        with contextlib.suppress(HerorunError, OSError):  # the next poll is due
            self._take_up()
        for task in self._tasks.values():
            now = time.monotonic()
            if (
                task.lives
                and now - task.ticked > task.silence
                and now - task.alarmed > ALARM_RETRY_INTERVAL
            ):
                task.alarmed = now
                threading.Thread(target=self._alarm, args=(task,), daemon=True).start()

    def end(self) -> None:
        """End all loops between two ticks. A tick that takes longer is interrupted; the next tick
        settles what it left.
        """
        self._stop_event.set()
        self._opening_end.set()
        self._together.end()
        until = time.monotonic() + SHUTDOWN_TIMEOUT
        for task in self._tasks.values():
            if task.thread is not None:
                task.thread.join(max(0.0, until - time.monotonic()))

    def _take_up(self) -> None:
        """Start loops for runs whose record changed since their loop ended, and for new runs of the
        shard.
        """
        repository = find_repository(self._start)
        tips = {
            ref.rpartition("/")[2]: tip
            for ref, tip in repository.refs("refs/herorun/record/").items()
        }
        changed_slugs = {
            slug
            for slug, tip in tips.items()
            if (
                slug in self._tasks
                and not self._tasks[slug].lives
                and self._tasks[slug].ended_at != tip
            )
            or (self._shard and self._shard.has(slug) and slug not in self._tasks)
        }
        for slug in (
            sorted(changed_slugs & set(slugs_to_watch(repository))) if changed_slugs else ()
        ):
            self.start(self._tasks[slug].name if slug in self._tasks else slug)

    def _supervise(self, task: _Task) -> None:
        pause = FIRST_PAUSE
        while True:
            last_tick = task.ticked
            try:
                task.code = self._watch(task)
                break
            except KeyboardInterrupt:
                task.code = 130
                break
            except BaseException as error:  # after any error the run must still be monitored
                task.code = error.exit_code if isinstance(error, HerorunError) else 3
                last = self._is_the_end(error)
                self._report_once(task, scrub(describe_error(error)))
            if last:
                break
            pause = FIRST_PAUSE if task.ticked != last_tick else pause
            if self._stop_event.wait(pause):
                break
            pause = min(2 * pause, MAX_PAUSE)
        with contextlib.suppress(HerorunError, OSError):
            repository = find_repository(self._start)
            task.ended_at = repository.resolve(f"refs/herorun/record/{task.slug}")

    def _is_the_end(self, error: BaseException) -> bool:
        """Whether the error is final: the run was handed over, or a person named something that
        cannot be monitored.
        """
        wrong = isinstance(error, WrongUse) and not isinstance(error, LockHeld)
        return isinstance(error, HandedOver) or (wrong and not self._shard)

    def _watch(self, task: _Task) -> int:
        def tick(run: Run, drift: str) -> TickOutcome:
            with self._room:
                self._end_if_requested()
                outcome = run_tick(run, drift, self._polls, lambda urgent: self._push(run, urgent))
            task.silence = max(MIN_AGE, MISSED_TICKS * run.contract.babysit.cadence).total_seconds()
            task.ticked, task.message = time.monotonic(), ""
            return outcome

        is_start_up = True

        def opened(name: str, start: Path) -> tuple[Run, str]:
            nonlocal is_start_up
            if not is_start_up:
                self._wait_until_opened()
                with self._room:
                    return watched_run(name, start)
            is_start_up = False
            try:
                run, drift = watched_run(name, start)
                if task.slug in self._slugs_to_open:
                    self._polls.expect_of(run)
                return run, drift
            finally:
                self._note_opened(task)

        return watch(
            task.name,
            self._start,
            self._report,
            self._until,
            tick=tick,
            stop_event=self._stop_event,
            open_monitored=opened,
            bells=self._bells,
            start_up=self._room,
        )

    def _wait_until_opened(self) -> None:
        """Only one that hangs is not waited for, and once."""
        self._opening_end.wait(OPENING_TIMEOUT)
        self._opening_end.set()
        self._end_if_requested()

    def _end_if_requested(self) -> None:
        """The wait for the others, or for a place, may have been long."""
        if self._stop_event.is_set():
            raise KeyboardInterrupt

    def _note_opened(self, task: _Task) -> None:
        self._slugs_to_open.discard(task.slug)
        if not self._slugs_to_open:
            self._opening_end.set()

    def _push(self, run: Run, urgent: bool) -> Pushed:
        """Push within a tick. While it waits for other runs' pushes, another tick may have its
        place.
        """
        self._room.release()
        try:
            return self._together.push(run.record, run.contract.babysit.cadence, urgent)
        finally:
            self._room.acquire()

    def _alarm(self, task: _Task) -> None:
        try:
            message = raise_alarm(task.name, self._start)
        except (HerorunError, OSError) as error:
            message = (
                f"no tick for a long time, and the alert could not be sent: {describe_error(error)}"
            )
        if message:
            self._report_once(task, scrub(message))

    def _report_once(self, task: _Task, message: str) -> None:
        """Report a message once, until another message comes or a tick succeeds."""
        with self._one_at_a_time:
            if task.message != message:
                task.message = message
                with contextlib.suppress(OSError):
                    self._on_alarm(task.slug, message)

    def _report(self, run: Run, tick: TickOutcome) -> None:
        """Report ticks one after another, so that the documents of two runs never mix."""
        with self._one_at_a_time:
            self._speak(run, tick)
