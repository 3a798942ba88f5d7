"""How a wait polls a job without a contract: its back end's answer, the end of its log, and a
file on this machine.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from herorun import signatures
from herorun.core.errors import HerorunError, WrongUse, describe_error
from herorun.core.patrol.advice import PatrolCommands
from herorun.core.patrol.log import own_log
from herorun.core.patrol.observation import HostObservation, Liveness, LogEnd, MachineUnread
from herorun.core.patrol.parse import alive_by
from herorun.core.patrol.table import decide
from herorun.core.patrol.wait_condition import WaitCondition
from herorun.core.ports import ById, Found
from herorun.core.redaction.scrub import scrub
from herorun.job_kinds import job_kind
from herorun.operations.jobs.run import JobRun
from herorun.operations.jobs.scheduler import LINES, adapter_for
from herorun.operations.remote.wait import WaitObservation
from herorun.system.clock import now


def observer_of_job(run: JobRun, condition: WaitCondition) -> Callable[[], WaitObservation]:
    """A job that its back end does not know is unknown, and never down."""
    facts = run.facts
    if condition.marker and (facts.host or not job_kind(facts.kind).has_machine):
        raise WrongUse(
            f"--marker of a job without a contract must be on this machine, and {facts.job} does "
            "not run here: use --state or --step."
        )
    ways = PatrolCommands(resume=facts.resubmit)
    adapter = adapter_for(facts, run.folder)

    def see() -> WaitObservation:
        observation, state = _observe_job(adapter, run, condition)
        return observation, decide(observation, ways), {"job": state}

    run.prepare()
    return see


def _observe_job(
    adapter: ById, run: JobRun, condition: WaitCondition
) -> tuple[HostObservation, str | None]:
    job = run.facts.job
    answer = adapter.find_job(job)
    liveness, why, has_succeeded = alive_by(answer, None)
    observation = HostObservation(
        at=now(),
        name=job,
        where=run.facts.host or run.facts.cluster or run.facts.kind,
        alive=liveness,
        why="" if liveness is Liveness.YES else scrub(why),
        succeeded=has_succeeded,
        log=_read_own_log(adapter, run),
        awaited_marker=_read_mtime(condition.marker) if condition.marker else None,
    )
    return observation, answer.job.state.value if isinstance(answer, Found) else None


def _read_own_log(adapter: ById, run: JobRun) -> LogEnd | MachineUnread | None:
    try:
        end = adapter.tail(run.facts.job, LINES)
    except FileNotFoundError:
        return None
    except (HerorunError, OSError) as error:
        return MachineUnread(scrub(describe_error(error)))
    signature_set = signatures.of_contract(run.contract, run.folder)
    return own_log(signature_set, end.encode(), None, True)


def _read_mtime(path: str) -> datetime | MachineUnread | None:
    try:
        return datetime.fromtimestamp(Path(path).stat().st_mtime, UTC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return MachineUnread(describe_error(error))
