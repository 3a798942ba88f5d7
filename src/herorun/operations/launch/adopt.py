"""Adopts a running job: what is checked first, and what the record states about it."""

from dataclasses import replace
from tempfile import TemporaryDirectory
from typing import Any

from herorun.adopted_scheduler import jobs_by_id
from herorun.core.adoption import unproven_facts
from herorun.core.errors import Blocked, CouldNotLook, HerorunError, describe_error, sentence
from herorun.core.event import Launched
from herorun.core.evidence import Adoptee
from herorun.core.ports import Found, Origin, Unknown
from herorun.core.record.render import command_line
from herorun.core.redaction.scrub import scrub
from herorun.gate import GateReport
from herorun.job_kinds import must_be_id
from herorun.runs import Run
from herorun.schemas.runs import AdoptedJob


def find_adoptee(run: Run, job: str) -> Adoptee:
    """The job, as its back end reports it.

    Raises `Blocked` if it does not exist, has ended, or is another user's; `CouldNotLook` if that
    is unknown.
    """
    must_be_id(run.contract.scheduler.kind, job)
    with TemporaryDirectory(
        prefix="herorun-"
    ) as folder:  # temporary, so that a refused job leaves no state
        return _refreshed_at(
            run, job, jobs_by_id(run.contract.scheduler, replace(run.place, state=folder))
        )


def _refreshed_at(run: Run, job: str, jobs: Any) -> Adoptee:
    kind = run.contract.scheduler.kind
    answer = jobs.find_job(job)
    if isinstance(answer, Unknown):
        raise CouldNotLook(
            f"Cannot tell whether job {job} runs: {sentence(answer.why)} Nothing was adopted; "
            "retry."
        )
    if not isinstance(answer, Found):
        raise Blocked(
            f"{kind} lists no job {job}: nothing was adopted. Check its id, and [scheduler]."
        )
    state = answer.job.state
    if state.is_final:
        raise Blocked(
            f"Job {job} has ended ({state}): nothing was adopted. `herorun launch {run.slug}` "
            "starts an instance."
        )
    if not state.live:
        raise CouldNotLook(
            f"{kind} does not report whether job {job} runs ({answer.job.raw or state}): nothing "
            "was adopted."
        )
    origin = _origin(jobs, job)
    if origin.mine is False:
        raise Blocked(
            f"Job {job} is {origin.user or 'another user'}'s: only that user can adopt it, for "
            "only they can stop or relaunch it."
        )
    user = origin.user if origin.mine else ""
    return Adoptee(answer.job, kind, user, origin.command, scrub(origin.details), origin.folder)


def _origin(jobs: Any, job: str) -> Origin:
    ask = getattr(jobs, "origin", None)
    if ask is None:
        return Origin()
    try:
        origin: Origin = ask(job)
    except (HerorunError, OSError) as error:
        raise CouldNotLook(
            f"Cannot tell whose job {job} is: {describe_error(error)}. Nothing was adopted."
        ) from None
    return origin


def adopted_instance(run: Run, job: str) -> Launched | None:
    """The newest instance, if it is this job; raises `Blocked` if an earlier instance was this
    job.
    """
    memory = run.record.memory()
    mine = [each for each in memory.instances if each.job == job]
    if not mine:
        return None
    newest = memory.instances[-1]
    if mine[-1] is not newest:
        raise Blocked(
            f"Job {job} was {mine[-1].name} of this run, and {newest.name} came after it: nothing "
            "was adopted."
        )
    events = (line.event for line in reversed(run.record.lines()))
    return next(e for e in events if isinstance(e, Launched) and e.instance == newest.name)


def facts_of(adoptee: Adoptee, report: GateReport) -> dict[str, str]:
    """The facts about an adoption for the record and the issue."""
    job = adoptee.job
    since = f" since {adoptee.since:%Y-%m-%d %H:%M:%S} UTC" if adoptee.since else ""
    command = command_line(adoptee.command) if adoptee.command else adoptee.details
    return {
        "Adopted": (
            f"{adoptee.kind} job {job.id}, "
            f"{job.state}{since}{f', of {adoptee.user}' if adoptee.user else ''}; herorun did not "
            "submit it"
        ),
        "Its command": scrub(command) or "not reported",
        "Not proved": "; ".join(unproven_facts(report.findings)),
    }


def adopted_job(adoptee: Adoptee, report: GateReport) -> AdoptedJob:
    return AdoptedJob(
        job=adoptee.job.id,
        state=adoptee.job.state,
        user=adoptee.user or None,
        command=[scrub(word) for word in adoptee.command] or None,
        unproven=unproven_facts(report.findings),
    )
