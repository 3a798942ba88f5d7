"""News of a job without a contract, each reported once: tracker runs, launcher events, its end and
why it failed.
"""

import contextlib
import shlex

from herorun.core.adhoc_jobs.cause import JobCause
from herorun.core.adhoc_jobs.spec import JobSpec
from herorun.core.adhoc_jobs.tasks import summary
from herorun.core.babysit.action_key import Verb, parse_key, verb_of, write_key
from herorun.core.babysit.actions import Tell
from herorun.core.canonical_json import digest
from herorun.core.errors import HerorunError
from herorun.core.evidence import Evidence, Job, JobState, Triage
from herorun.core.journal import Memory
from herorun.core.redaction.scrub import scrub
from herorun.core.triage.classes import QUIET
from herorun.core.triage.tracker_lines import run_id, tracker_runs
from herorun.operations.jobs.scheduler import LINES, ExternalJobs


def job_news(
    scheduler: ExternalJobs, memory: Memory, evidence: Evidence, cause: JobCause | None
) -> list[Tell]:
    """Only what was not reported yet. What its output says is reported even if the job's state is
    unknown.
    """
    current, job = memory.current, evidence.get(Job)
    if current is None:
        return []
    end_actions = (
        _end_actions(scheduler, job, cause) if isinstance(job, Job) and job.state.is_final else ()
    )
    notices = [
        *_tracker_run_actions(scheduler, memory, current.name),
        *_event_actions(scheduler, current.name, current.job),
        *end_actions,
    ]
    return [notice for notice in notices if notice.key not in memory.done]


def job_doubts(scheduler: ExternalJobs, facts: JobSpec, evidence: Evidence) -> list[str]:
    """Why it is unknown how the job stands; and what to type where its id is another job's by now:
    of itself that one is never watched.
    """
    job = evidence.get(Job)
    if not isinstance(job, Job) or not job.state.in_doubt or not job.reason:
        return []
    if not scheduler.reused(job.instance):
        return [_after_gone(job, facts) if job.state is JobState.GONE else scrub(job.reason)]
    log = ("--log", facts.log) if facts.log else ()
    argv = ["herorun", "babysit", "--job", job.id, *facts.options, *log, "--new-job"]
    return [scrub(job.reason), f"to monitor the job that has this id now: `{shlex.join(argv)}`"]


def _after_gone(job: Job, facts: JobSpec) -> str:
    """What to do about a job of which no later query says more; why is with what was not read."""
    log = f"its log, {facts.log}" if facts.log else "its log"
    again = shlex.join(["herorun", "babysit", "--job", "NEW", *facts.options])
    return scrub(
        f"whether {job.id} succeeded. It counts as ended: read {log}. If it failed, submit it "
        f"again, and monitor the new job: `{again}`"
    )


def cause_of(scheduler: ExternalJobs, evidence: Evidence) -> JobCause | None:
    """The cause of the current job's failure; None while it lives and if it succeeded."""
    job, triage = evidence.get(Job), evidence.get(Triage)
    if not isinstance(job, Job) or not job.has_crashed:
        return None
    ends = ""
    with contextlib.suppress(HerorunError, OSError):
        ends = summary(scheduler.tasks(job.instance))
    if not isinstance(triage, Triage) or triage.failure_class in QUIET:
        return JobCause(tasks=ends, advice=triage.advice if isinstance(triage, Triage) else "")
    return JobCause(
        failure=triage.failure_class,
        file=triage.file,
        line=triage.line,
        excerpt=triage.excerpt,
        tasks=ends,
        advice=triage.advice,
    )


def _tracker_run_actions(scheduler: ExternalJobs, memory: Memory, instance: str) -> list[Tell]:
    """Once for each tracker run, for the first instance that names it: what the engine reports
    about a live job is not repeated.
    """
    ids = {id for _, id in reported_runs(memory)}
    return [
        Tell(_run_key(instance, link), f"tracker run {run_id(link)}", link)
        for link in tracker_runs(log_end(scheduler, instance))
        if run_id(link) not in ids
    ]


def _run_key(instance: str, link: str) -> str:
    """With `entity.project.id`, as the engine's own news has it in its key."""
    parts = link.split("/")
    run = ".".join((*parts[-4:-2], parts[-1])) if "://" in link else link
    return write_key(Verb.TELL, instance, f"run-{run}")


def reported_runs(memory: Memory) -> list[tuple[str, str]]:
    """The tracker runs that were reported, as their key has them, and their ids."""
    news = [parse_key(key) for key in memory.done if verb_of(key) == Verb.TELL]
    runs = [key.detail.removeprefix("run-") for key in news if key.detail.startswith("run-")]
    return [
        (name, name.split(".", 2)[-1] if name.count(".") > 1 else name) for name in sorted(runs)
    ]


def _event_actions(scheduler: ExternalJobs, instance: str, job: str) -> list[Tell]:
    return [
        Tell(_event_key(instance, event), event, f"{job}: {event}")
        for event in scheduler.events(instance)
    ]


def _event_key(instance: str, event: str) -> str:
    return write_key(Verb.TELL, instance, f"event-{digest(event)[7:19]}")


def _end_actions(scheduler: ExternalJobs, job: Job, cause: JobCause | None) -> list[Tell]:
    """The postmortem by its tasks, or its result; what its scheduler cannot report now stays
    unknown.
    """
    if job.state is JobState.SUCCEEDED:
        results = scheduler.results(job.instance)
        key, title = write_key(Verb.TELL, job.instance, "results"), f"{job.id} succeeded"
        return [Tell(key, title, results)] if results else []
    key, title = write_key(Verb.TELL, job.instance, "cause"), f"Why {job.id} failed"
    return [Tell(key, title, str(cause))] if cause else []


def log_end(scheduler: ExternalJobs, instance: str) -> str:
    try:
        return scheduler.tail(instance, LINES)
    except (HerorunError, OSError):
        return ""
