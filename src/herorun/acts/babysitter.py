"""The babysitter's process: the loop over ticks, its heartbeat, and starting it detached."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from types import FrameType

from herorun.acts.turn import Turn, must_be_launched, take_turn, turn_code
from herorun.core.canonical import canonical, timestamp
from herorun.core.errors import CouldNotLook, in_words
from herorun.core.scrub import scrub
from herorun.system.clock import now
from herorun.system.files import hold, is_locked, write_whole
from herorun.workspace import Run, watched_run

FIRST_CHECK = timedelta(seconds=120)  # after a start: the seed's look for an immediate failure
UNATTENDED = "HERORUN_UNATTENDED"  # tells the scheduler that no person's environment is at hand
HEARTBEAT_WAIT = 30.0  # seconds


def start_babysitter(run: Run) -> str:
    """Start `herorun babysit RUN` detached, wait for its first heartbeat, and say where it is."""
    if is_locked(run.lock("babysitter")):
        return f"is running already on this machine (log {_log(run)})"
    began = now()
    with _log(run).open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "herorun", "babysit", str(run.repository.top / run.file.path)],
            cwd=run.repository.top,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    until = time.monotonic() + HEARTBEAT_WAIT
    while time.monotonic() < until:
        beat = last_heartbeat(run)
        if beat is not None and beat >= began:
            return f"process {process.pid}, log {_log(run)}"
        if process.poll() is not None:
            raise CouldNotLook(
                f"The job runs, but its babysitter ended at once (exit code {process.returncode}): see {_log(run)}, then `herorun babysit {run.slug}`."
            )
        time.sleep(0.05)
    raise CouldNotLook(
        f"The job runs, but its babysitter gave no heartbeat within {HEARTBEAT_WAIT:g} s: see {_log(run)}."
    )


def _log(run: Run) -> Path:
    return run.state / "babysit.log"


def last_heartbeat(run: Run) -> datetime | None:
    """When a babysitter of this machine last wrote that it is alive; None if never."""
    try:
        found = json.loads((run.state / "heartbeat.json").read_text())
        return datetime.fromisoformat(found["at"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def beat(run: Run) -> None:
    heart = {"at": timestamp(now()), "pid": os.getpid(), "owner": run.launcher.owner}
    write_whole(run.state / "heartbeat.json", (canonical(heart) + "\n").encode())


def watch(name: str, start: Path, report: Callable[[Run, Turn], None]) -> int:
    """Tick at the run's cadence until it is finished or sealed. One such loop a run and machine."""
    run, _ = watched_run(name, start)
    must_be_launched(run, run.record.memory())
    run.prepare()
    keep = hold(run.lock("babysitter"), 0.0, f"another babysitter of {run.slug}")
    signal.signal(signal.SIGTERM, _interrupted)
    try:
        beat(run)
        return _loop(name, start, report)
    finally:
        os.close(keep)


def tick_once(name: str, start: Path) -> tuple[Run, Turn]:
    """One turn, also beside a loop that runs: turns take turns, and all they know is in the journal."""
    run, drift = watched_run(name, start)
    with unattended():
        turn = take_turn(run, drift)
    beat(run)
    return run, turn


@contextlib.contextmanager
def unattended() -> Iterator[None]:
    """What is submitted meanwhile is submitted by no person: the scheduler goes by the environment of the launch."""
    before = os.environ.get(UNATTENDED)
    os.environ[UNATTENDED] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[UNATTENDED]
        else:
            os.environ[UNATTENDED] = before


def _loop(name: str, start: Path, report: Callable[[Run, Turn], None]) -> int:
    pause = FIRST_CHECK.total_seconds()
    while True:
        began = time.monotonic()
        try:
            run, drift = watched_run(name, start)
            with unattended():
                turn = take_turn(run, drift)
            beat(run)
            report(run, turn)
            if turn.over:
                return turn_code(turn)
            pause = _pause(run).total_seconds()
        except Exception as error:  # whatever a tick meets, the next one is due: a dead monitor sees nothing
            words = f"{timestamp(now())} herorun: this tick failed: {scrub(in_words(error))}"
            with contextlib.suppress(OSError):  # a full disk takes the log away, and not the watch
                print(words, file=sys.stderr, flush=True)
        time.sleep(max(0.0, pause - (time.monotonic() - began)))


def _pause(run: Run) -> timedelta:
    """One cadence; sooner within the first minutes of an instance."""
    cadence = run.contract.babysit.cadence
    current = run.record.memory().current
    young = current is not None and now() - current.started < FIRST_CHECK
    return min(cadence, FIRST_CHECK) if young else cadence


def _interrupted(signal_number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
