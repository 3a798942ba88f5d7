"""The submission: the request is shown before it is sent, and afterwards other live jobs of the run
are reported.
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
    """Send the exact request, after it was stored in the run's state folder and shown."""
    from herorun.operations.launch.admission import write_admission
    from herorun.system.git.export import export

    # a new folder for each instance, so nobody can have edited the copy
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
    """Store the code bundle where the scheduler's jobs fetch it. Its name is its digest, so an
    existing file must be the same.
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
    """The request as the scheduler gets it; without a request of its own, the command line."""
    request = getattr(run.scheduler, "request", None)
    if request is None:
        return f"$ {command_line(submission.argv)}"
    return scrub(str(request(submission, code, admission)))


def other_live_jobs(run: Run, instance: str) -> str:
    """The other live jobs, or why they are unknown, as text; "" if there are none."""
    try:
        jobs = run.scheduler.live_jobs(run.slug)
    except (HerorunError, OSError) as error:
        return f"could not check for other live jobs: {describe_error(error)}"
    others = [f"{job.instance} {job.state.predicate}" for job in jobs if job.instance != instance]
    return f"also live: {'; '.join(others)}" if others else ""
