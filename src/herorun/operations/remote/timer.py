"""The timer of a run, as text, with this machine's paths."""

import os
import shutil
import sys
from collections.abc import Mapping
from datetime import timedelta

from herorun.core.errors import WrongUse
from herorun.core.lazy_dataclass import dataclass
from herorun.core.proposed_commands import elsewhere
from herorun.core.remote.timer import TimerRequest, actions, cron, systemd, units
from herorun.runs import Run
from herorun.schemas.machines import TimerDocument, TimerFile
from herorun.system.templates import template

SPARE = 120.0  # seconds that a tick may take in addition to the connection and the probe


@dataclass(frozen=True)
class TimerOutput:
    """The printed text, and its files by path; none for cron, whose line goes into the crontab."""

    host: str
    command: str
    seconds: int
    text: str
    files: Mapping[str, str]
    notifies_nobody: bool = False

    def document(self, slug: str) -> TimerDocument:
        files = [TimerFile(path=path, text=text) for path, text in self.files.items()]
        return TimerDocument.of(self, slug=slug, files=files)


def timer_of(run: Run, host: str, command: str | None, every: float) -> TimerOutput:
    """The timer for `systemd`, `cron` or GitHub's `actions`. Raises WrongUse if that host cannot
    reach the machine, or must not have its keys.
    """
    if host == "actions":
        return _actions(run, command or "watchdog", every)
    if command == "watchdog":
        raise WrongUse(
            "A watchdog must run on another machine than the babysitter: "
            f"{elsewhere(f'herorun box timer {run.slug} --for actions')}."
        )
    reach = run.place.reach
    limit = (reach.connect + reach.timeout if reach else 20.0) + SPARE
    request = TimerRequest(
        slug=run.slug,
        top=str(run.repository.top),
        program=_program(),
        command=command or "patrol",
        every=timedelta(seconds=every),
        limit=limit,
        notifies=bool(run.channels.all),
    )
    text, files = cron(request), dict[str, str]()
    if host == "systemd":
        text, files = systemd(request), units(request)
    else:
        run.prepare()  # the line writes its log there; without the folder it would fail unnoticed
    is_silent = request.command == "patrol" and not request.notifies
    return TimerOutput(host, request.command, int(every), text, files, is_silent)


def _actions(run: Run, command: str, every: float) -> TimerOutput:
    if command != "watchdog":
        where = f"{run.contract.scheduler.kind} jobs"
        raise WrongUse(
            f"A cloud runner cannot {command} {run.slug}: it has neither the network nor the keys "
            f"that reach its {where}, and "
            "keys must not be put there. Take systemd or cron on this machine, and the watchdog "
            "for the cloud."
        )
    if run.record.remote is None:
        raise WrongUse(
            f"{run.slug} publishes no record that a cloud runner could read: it has no remote."
        )
    request = TimerRequest(
        slug=run.slug, top="", program="herorun", command=command, every=timedelta(seconds=every)
    )
    text = actions(request, template("watchdog.yml"))
    return TimerOutput(
        "actions",
        command,
        int(every),
        text,
        {f".github/workflows/herorun-watchdog-{run.slug}.yml": text},
    )


def _program() -> str:
    """The full path of this herorun, because neither cron nor systemd has this shell's PATH."""
    own = os.path.join(os.path.dirname(sys.executable), "herorun")
    return own if os.access(own, os.X_OK) else shutil.which("herorun") or own
