"""The contract that the engine uses for a job that has no contract file."""

from datetime import timedelta
from pathlib import Path

from herorun.core import lazy_pydantic
from herorun.core.adhoc_jobs.resubmit_command import split_command
from herorun.core.adhoc_jobs.spec import JobSpec
from herorun.core.contract import (
    BabysitTable,
    Command,
    Contract,
    Notify,
    OutputTable,
    Recovery,
    SchedulerTable,
    TrackerTable,
)
from herorun.core.errors import WrongUse

CADENCE = timedelta(seconds=570)  # after a first poll at 120 s


def contract_for(facts: JobSpec, folder: Path, every: timedelta = CADENCE) -> Contract:
    """`observe`; with a command for it, a relaunch is the standing order of the person who gave
    it, under the usual policy.
    """
    return Contract(
        slug=folder.name,
        goal=f"watch {facts.kind} job {facts.job}",
        stop_when="",
        command=Command(argv=tuple(split_command(facts.resubmit) if facts.resubmit else ["true"])),
        output=OutputTable(root=str(folder)),
        tracker=TrackerTable(first_step=1),  # a log counts what is done
        scheduler=SchedulerTable(kind=facts.kind),
        notify=_notify(facts.notify),
        babysit=BabysitTable(
            cadence=every,
            recovery=Recovery.RELAUNCH if facts.resubmit else Recovery.OBSERVE,
            tpu_bad_node="delete" if facts.bad_node_zone else "print",
            tpu_zone=facts.bad_node_zone or None,
        ),
    )


def _notify(names: str) -> Notify:
    try:
        return Notify(targets=tuple(name.strip() for name in names.split(",") if name.strip()))
    except lazy_pydantic.ValidationError as error:
        why = str(error.errors()[0]["msg"]).removeprefix("Value error, ")
        raise WrongUse(f"--notify: {why}.") from None
