"""The submission itself: what is sent is shown before, and afterwards exactly one job of the run is
live.
"""

from collections.abc import Callable
from typing import TypeAlias

from herorun.core.errors import HerorunError, WrongUse, describe_error
from herorun.core.evidence import Job
from herorun.core.plan import Plan
from herorun.core.ports import Submission, submission_of
from herorun.core.record.render import command_line
from herorun.core.redaction.scrub import scrub
from herorun.runs import Run
from herorun.system import progress
from herorun.system.files import write_atomic

ShowRequest: TypeAlias = Callable[[str], None]
ALONE = "this one alone"


def ignore_request(_: str) -> None:
    """Without output: a babysitter's relaunch is reported in the issue."""


def submit(run: Run, plan: Plan, instance: str, show_request: ShowRequest = ignore_request) -> Job:
    """Send the exact request, which was kept next to the run's evidence and said before."""
    from herorun.operations.launch.admission import write_admission
    from herorun.system.git.export import export

    # its own: nobody has edited a copy that was not there before
    folder = run.state / "code" / instance
    code = (
        run.repository.top
        if plan.in_place.value
        else export(run.repository, plan.code_commit, folder)
    )
    submission = submission_of(plan, instance)
    admission = write_admission(run, plan, submission, str(code))
    request = request_text(run, submission, str(code), str(admission))
    write_atomic(run.state / "requests" / f"{instance}.txt", f"{request}\n".encode())
    show_request(request)
    with progress.spinner(f"submitting {instance}"):
        _store_bundle(run, str(code))
        return run.scheduler.submit(submission, str(code), str(admission))


def _store_bundle(run: Run, code: str) -> None:
    """Where the scheduler's jobs fetch their code. Its name is its digest: what is there already
    must be the same.
    """
    pack = getattr(run.scheduler, "bundle", None)
    if pack is None or (bundle := pack(code)) is None:
        return
    path, data = bundle
    try:
        run.store.create(path, data)
    except FileExistsError:
        if run.store.read(path) != data:
            raise WrongUse(
                f"{path} does not hold the code that its name says: remove it, then launch again."
            ) from None


def request_text(run: Run, submission: Submission, code: str, admission: str) -> str:
    """The request as the scheduler gets it. One that takes the submission as it stands is shown its
    command.
    """
    request = getattr(run.scheduler, "request", None)
    if request is None:
        return f"$ {command_line(submission.argv)}"
    return scrub(str(request(submission, code, admission)))


def company(run: Run, instance: str) -> str:
    """What is live besides the instance, in words; empty where it is alone, or has ended."""
    try:
        jobs = run.scheduler.live_jobs(run.slug)
    except (HerorunError, OSError) as error:
        return f"could not check for other live jobs: {describe_error(error)}"
    others = [f"{job.instance} {job.state.predicate}" for job in jobs if job.instance != instance]
    return f"also live: {'; '.join(others)}" if others else ""
