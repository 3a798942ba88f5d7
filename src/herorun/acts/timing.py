"""The timer of a run, as text, with this machine's own paths."""

import os
import shutil
import sys
from datetime import timedelta

from herorun.core.errors import WrongUse
from herorun.core.timer import Wish, actions, cron, systemd
from herorun.workspace import Run, template

SPARE = 120.0  # seconds that a tick may take beyond the connection and the look


def timer_of(run: Run, host: str, command: str | None, every: float) -> str:
    """For `systemd`, `cron` or GitHub's `actions`. Raises WrongUse for what that host cannot reach or keep."""
    if host == "actions":
        return _actions(run, command or "watchdog", every)
    if command == "watchdog":
        raise WrongUse(
            "A watchdog is for another machine than the babysitter's: `herorun timer RUN --for actions`."
        )
    reach = run.place.reach
    limit = (reach.connect + reach.look if reach else 20.0) + SPARE
    wish = Wish(
        run.slug, str(run.repository.top), _program(), command or "patrol", timedelta(seconds=every), limit
    )
    return systemd(wish) if host == "systemd" else cron(wish)


def _actions(run: Run, command: str, every: float) -> str:
    if command != "watchdog":
        where = f"{run.contract.scheduler.kind} jobs"
        raise WrongUse(
            f"A cloud runner cannot {command} {run.slug}: it has neither the network nor the keys that reach its {where}, and "
            "keys must not be put there. Take systemd or cron on this machine, and the watchdog for the cloud."
        )
    if run.record.remote is None:
        raise WrongUse(f"{run.slug} publishes no record that a cloud runner could read: it has no remote.")
    wish = Wish(run.slug, "", "herorun", command, timedelta(seconds=every))
    return actions(wish, template("watchdog.yml"))


def _program() -> str:
    """This very herorun, in full: neither cron nor systemd has this shell's PATH."""
    own = os.path.join(os.path.dirname(sys.executable), "herorun")
    return own if os.access(own, os.X_OK) else shutil.which("herorun") or own
