"""Starting a run's babysitter detached, and waiting for its first heartbeat."""

import os
import subprocess
import sys
import time
from pathlib import Path

from herorun.core.durations import format_span
from herorun.core.errors import CouldNotLook
from herorun.core.proposed_commands import in_tmux
from herorun.operations.record.heartbeat import describe_hung, is_hung, last_heartbeat
from herorun.operations.record.registry import owner_variables
from herorun.operations.record.session import session_of_launch
from herorun.runs import Run
from herorun.system.clock import now
from herorun.system.files import is_locked

HEARTBEAT_WAIT = 30.0  # seconds


def start_babysitter(run: Run) -> str:
    """Start `herorun babysit RUN` detached, wait for its first heartbeat, and return its process
    and log as text.
    """
    if is_locked(run.lock("babysitter")):
        if is_hung(run):
            raise CouldNotLook(f"Nothing may be monitoring the run: {describe_hung(run)}.")
        return f"already runs on this machine, log {_babysit_log_path(run)}"
    began = now()
    private = os.open(_babysit_log_path(run), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    with os.fdopen(private, "ab") as log:
        process = subprocess.Popen(
            [
                sys.executable,
                "-P",
                "-m",
                "herorun",
                "babysit",
                str(run.repository.top / run.file.path),
            ],
            cwd=run.repository.top,
            env={**os.environ, **owner_variables(session_of_launch(run.repository.top))},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    until = time.monotonic() + HEARTBEAT_WAIT
    while time.monotonic() < until:
        beat = last_heartbeat(run)
        if beat is not None and beat >= began:
            return f"process {process.pid}, log {_babysit_log_path(run)}"
        if process.poll() is not None:
            raise CouldNotLook(
                "Nothing monitors the run: its babysitter ended at once (exit code "
                f"{process.returncode}): see {_babysit_log_path(run)}, then start it "
                f"{in_tmux(f'`herorun babysit {run.slug}`')}."
            )
        time.sleep(0.05)
    raise CouldNotLook(
        f"The run may not be monitored: its babysitter gave no heartbeat within "
        f"{format_span(HEARTBEAT_WAIT)}: "
        f"see {_babysit_log_path(run)}."
    )


def _babysit_log_path(run: Run) -> Path:
    return run.state / "babysit.log"
