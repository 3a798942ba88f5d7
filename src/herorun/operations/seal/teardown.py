"""Ends the babysitter of a sealed run on this machine, and its lease. Other timers are only
reported.
"""

import re
import time
from pathlib import Path

from herorun.core.durations import format_span
from herorun.core.errors import HerorunError, describe_error
from herorun.core.lazy_regex import lazy_regex
from herorun.core.record.lease import PATH, may_take, read_lease
from herorun.core.redaction.scrub import scrub
from herorun.operations.record.heartbeat import ring
from herorun.runs import Run
from herorun.system.files import is_locked
from herorun.system.process import run as call

# seconds that the babysitter may take to end: it checks its bell every second between two ticks
ENDING = 20.0
ASKING = 10.0  # seconds for `crontab -l`
_COMMAND = lazy_regex(r"herorun\s.*\b(?:babysit|watchdog|patrol|status)\b")


def stop_watchers(run: Run) -> tuple[str, ...]:
    """Stop what the run started; returns what is left, as texts. Must be called without the act
    lock.
    """
    warnings = [*_stop_babysitter(run), *_release_lease(run)]
    return (*warnings, *_timers(run))


def _stop_babysitter(run: Run) -> list[str]:
    """Wake the babysitter and wait for its end: it reads the record at each tick, and ends once the
    run is sealed.
    """
    lock = run.lock("babysitter")
    if not is_locked(lock):
        return []
    ring(run)
    until = time.monotonic() + ENDING
    while is_locked(lock):
        if time.monotonic() >= until:
            return [
                (
                    "the babysitter of this machine has not ended within "
                    f"{format_span(ENDING)}: it ends after its present tick"
                )
            ]
        time.sleep(0.05)
    return []


def _release_lease(run: Run) -> list[str]:
    """Delete the lease file if it is ours and of this run. The seal itself ends a lease in the
    record.
    """
    path = f"{run.place.output_root}/{PATH}"
    try:
        lease = read_lease(run.store.read(path))
        if lease and may_take(lease, run.launcher.owner, run.slug, run.launcher.clone):
            run.store.delete(path)
    except FileNotFoundError:
        return []
    except (HerorunError, OSError) as error:
        return [f"the lease {path} is still there: {scrub(describe_error(error))}"]
    return []


def _timers(run: Run) -> list[str]:
    """Timers that people set up for this run and that this machine shows."""
    pattern = re.compile(
        rf"(?<![\w-]){re.escape(run.slug)}(?![\w-])"
    )  # commands with `--all` ignore a sealed run
    timers = [
        f"`crontab -e` and remove: {scrub(line)}" for line in _crontab() if _is_ours(line, pattern)
    ]
    workflows = sorted((run.repository.top / ".github" / "workflows").glob("*.y*ml"))
    units = sorted((Path.home() / ".config" / "systemd" / "user").glob("*.service"))
    for path in (*workflows, *units):
        if any(_is_ours(line, pattern) for line in _read_file_lines(path)):
            timers.append(_removal(path, run, path in workflows))
    return [
        f"a timer that herorun did not start still checks {run.slug}: {message}"
        for message in timers
    ]


def _removal(path: Path, run: Run, is_workflow: bool) -> str:
    if is_workflow:
        return f"take it out of {path.relative_to(run.repository.top)}, and push"
    return f"`systemctl --user disable --now {path.stem}.timer`"


def _is_ours(line: str, pattern: re.Pattern[str]) -> bool:
    entry = line.strip()
    return not entry.startswith("#") and bool(_COMMAND.search(entry) and pattern.search(entry))


def _crontab() -> list[str]:
    try:
        answer = call(("crontab", "-l"), ASKING)
    except (HerorunError, OSError):
        return []  # crontab is not installed
    return answer.text.splitlines() if answer.code == 0 else []


def _read_file_lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
