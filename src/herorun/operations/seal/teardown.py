"""What ends with a sealed run: its babysitter on this machine, and its lease. Other timers are only
named.
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

ENDING = (
    # seconds that the babysitter may take to hear of it: it listens every second, between two turns
    20.0
)
ASKING = 10.0  # seconds for `crontab -l`
_COMMAND = lazy_regex(r"herorun\s.*\b(?:babysit|watchdog|patrol|status)\b")


def wind_down(run: Run) -> tuple[str, ...]:
    """Stop what the run started itself; what is left, in words. It is called when nobody holds the
    act lock.
    """
    warnings = [*_stop_babysitter(run), *_release_lease(run)]
    return (*warnings, *_timers(run))


def _stop_babysitter(run: Run) -> list[str]:
    """It reads the record at each turn, and ends by itself once that is sealed: it is only
    woken.
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
    """Only our own, for this run. One in the record is over with the seal itself."""
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
    """What others set up to look at this run, where we can see it."""
    pattern = re.compile(
        rf"(?<![\w-]){re.escape(run.slug)}(?![\w-])"
    )  # what watches `--all` is quiet about a sealed one
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
        return []  # there is no crontab here
    return answer.text.splitlines() if answer.code == 0 else []


def _read_file_lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
