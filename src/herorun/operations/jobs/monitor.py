"""Which machine monitors a job without a contract: its state file says so, and a second one is
refused.

There is no shared repository to hold a lease in. Machines that do not share the state file cannot
be distinguished; before a submission the scheduler is asked for the job's namesakes in any case.
"""

import os
from datetime import datetime, timedelta
from pathlib import Path

from herorun.core.canonical_json import timestamp
from herorun.core.errors import Blocked, HandedOver, WrongUse
from herorun.core.lazy_dataclass import dataclass
from herorun.core.proposed_commands import elsewhere
from herorun.core.record.lease import stale_at
from herorun.core.untrusted_json import read_json
from herorun.operations.jobs.run import JobRun
from herorun.operations.jobs.state_file import MAX_BYTES, project
from herorun.operations.orders.order import OrderOutcome
from herorun.system.clock import now
from herorun.system.files import read_regular

FIELD = "monitored_by"


@dataclass(frozen=True)
class Monitor:
    """Who monitors the job, and when it last did, by its own clock."""

    owner: str  # user@machine
    pid: int  # 0 where it was only named
    polled_at: datetime
    cadence: timedelta

    @property
    def description(self) -> str:
        process = f"process {self.pid} of " if self.pid else ""
        return f"{process}{self.owner}, last tick {self.polled_at:%Y-%m-%d %H:%M:%S} UTC"


def monitor_in(path: Path | None) -> Monitor | None:
    """As the state file names it; None where it names none that can be read."""
    if path is None:
        return None
    try:
        entry = read_json(read_regular(path, MAX_BYTES))[FIELD]
        last_look = datetime.fromisoformat(entry["last_look"])
        cadence = timedelta(seconds=float(entry["cadence_seconds"]))
        monitor = Monitor(str(entry["owner"]), int(entry["pid"]), last_look, cadence)
    except (OSError, ValueError, KeyError, TypeError, OverflowError):
        return None
    return monitor if last_look.tzinfo else None


def must_be_ours(run: JobRun) -> None:
    """`HandedOver` while another machine's monitor is not late by two cadences."""
    other = monitor_in(run.state_file)
    if other is None or other.owner == run.launcher.owner:
        return
    due = stale_at(other.polled_at, other.cadence)
    if now() < due:
        job = run.job_id
        raise HandedOver(
            f"{job} is monitored by {other.description}. There, "
            f"{elsewhere(f'herorun handoff --job {job} --to {run.launcher.owner}')} gives it away; "
            "if it makes no further tick, it can be taken over from "
            f"{due:%Y-%m-%d %H:%M:%S} UTC on."
        )


def claim(run: JobRun) -> None:
    """Write into the state file that we monitor now."""
    must_be_ours(run)
    _name(run, run.launcher.owner, os.getpid())


def give_job(run: JobRun, to: str) -> OrderOutcome:
    """To another machine, whose monitor is accepted at once; ours ends at its next poll."""
    if "@" not in to or to.strip() != to or " " in to:
        raise WrongUse(f"{to!r} is not an owner: name it as user@machine.")
    job = run.job_id
    if to == run.launcher.owner:
        raise WrongUse(f"{to} is this machine: `herorun handoff --job {job} --take` takes it over.")
    must_be_ours(run)
    _name(run, to, 0)
    command = elsewhere("herorun babysit")
    message = f"{to} monitors {job} from now on: there, {command} with {run.state_file}"
    return OrderOutcome(run, message)


def take_job(run: JobRun) -> OrderOutcome:
    """From a machine that no longer monitors."""
    try:
        claim(run)
    except HandedOver as error:
        raise Blocked(str(error)) from None
    job = run.job_id
    return OrderOutcome(run, f"{run.launcher.owner} monitors {job}: `herorun babysit --job {job}`")


def _name(run: JobRun, owner: str, pid: int) -> None:
    cadence = run.contract.babysit.cadence.total_seconds()
    entry = {"owner": owner, "pid": pid, "last_look": timestamp(now()), "cadence_seconds": cadence}
    project(run, {FIELD: entry})
