"""One turn over a job without a contract: the engine's own, and what this job's own words tell
beside it.
"""

import contextlib
import shlex
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from herorun.core.action_key import Verb, parse_key, verb_of, write_key
from herorun.core.adhoc_jobs.cause import JobCause
from herorun.core.adhoc_jobs.log_parser import run_id, tracker_runs
from herorun.core.adhoc_jobs.tasks import summary
from herorun.core.canonical_json import digest
from herorun.core.errors import HerorunError, in_words
from herorun.core.evidence import Evidence, Job, JobState, Triage
from herorun.core.lazy_dataclass import dataclass
from herorun.core.policy import DeleteNode, Relaunch, Stop, Tell
from herorun.core.redaction.scrub import scrub
from herorun.core.triage.classes import QUIET
from herorun.operations.babysit.perform import Performed, perform
from herorun.operations.babysit.tick import TickOutcome, run_tick, tick_exit_code
from herorun.operations.health.evaluate import evaluate
from herorun.operations.jobs.run import JobRun
from herorun.operations.jobs.scheduler import LINES
from herorun.operations.jobs.state_file import project
from herorun.system.files import write_whole


@dataclass(frozen=True, kw_only=True)
class JobTurn(TickOutcome):
    """It is over at the terminal state, once nothing more follows from it."""

    furthest: int | None = None  # step that the job had reached before it was restarted
    cause: JobCause | None = None  # of a failure

    @property
    def progress(self) -> str:
        """What it was before, while an earlier step is trained again."""
        now_at = super().progress
        if self.furthest is None or self.step is None or self.step >= self.furthest:
            return now_at
        final = now_at.partition("/")[2]
        return f"{now_at}, was ~{self.furthest}/{final}"

    @property
    def over(self) -> bool:
        job, seen = self.evidence.get(Job), self.tick
        if seen is None:
            return True
        if not isinstance(job, Job) or not job.state.ended or self.paused or seen.wake is not None:
            return False
        done = [
            each for each in self.performed if isinstance(each.action, Relaunch | Stop | DeleteNode)
        ]
        wanted = [
            action for action in seen.actions if isinstance(action, Relaunch | Stop | DeleteNode)
        ]
        return len(done) == len(wanted) and all(each.why for each in done)

    @property
    def code(self) -> int:
        """Of a job that is gone nobody can say that it went well."""
        job = self.evidence.get(Job)
        return tick_exit_code(self) or (3 if isinstance(job, Job) and job.state.in_doubt else 0)


def take_job_turn(run: JobRun, state_file: Path | None) -> JobTurn:
    """The engine's turn, then what is told once: tracker runs, key events, how the tasks ended,
    what came of it.
    """
    turn = run_tick(run)
    doubts = list(turn.doubts)
    job = turn.evidence.get(Job)
    told: list[Performed] = []
    cause = cause_of(run, turn.evidence)
    if turn.tick is not None:
        try:
            told = [
                perform(run, tell)
                for tell in _tell_job_events(run, job if isinstance(job, Job) else None, cause)
            ]
        except (HerorunError, OSError) as error:
            doubts.append(scrub(in_words(error)))
    doubts += [each.why for each in told if each.why]
    if isinstance(job, Job) and job.state.in_doubt and job.reason:
        doubts.append(scrub(job.reason))
        doubts += _anew(run, job)
    known = {each.name: getattr(turn, each.name) for each in fields(TickOutcome)}
    more = {"performed": (*turn.performed, *told), "doubts": tuple(doubts)}
    whole = JobTurn(**{**known, **more, "cause": cause, "furthest": _furthest(run, turn)})
    if state_file is not None:
        project(run, state_file, _signals(run, whole))
    return whole


def look_at_job(run: JobRun) -> JobTurn:
    """As a tick would see it, without one."""
    judged, evidence = evaluate(run)
    return JobTurn(
        run=run,
        tick=replace(judged, actions=[]),
        evidence=evidence,
        cause=cause_of(run, evidence),
        furthest=_furthest_step(run),
    )


def cause_of(run: JobRun, evidence: Evidence) -> JobCause | None:
    """Of the current job's failure; None while it lives and where it ended well."""
    job, triage = evidence.get(Job), evidence.get(Triage)
    if not isinstance(job, Job) or not job.crashed:
        return None
    ends = ""
    with contextlib.suppress(HerorunError, OSError):
        ends = summary(run.scheduler.tasks(job.instance))
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


def _furthest_step(run: JobRun) -> int | None:
    """The highest that a tick ever saw, kept beside the journal."""
    with contextlib.suppress(OSError, ValueError):
        return int((run.folder / "furthest-step").read_text("utf-8"))
    return None


def _furthest(run: JobRun, turn: TickOutcome) -> int | None:
    """The same before this tick, which may get further."""
    path, furthest = run.folder / "furthest-step", _furthest_step(run)
    if turn.step is not None and (furthest is None or turn.step > furthest):
        with contextlib.suppress(OSError):
            write_whole(path, str(turn.step).encode())
    return furthest


def _anew(run: JobRun, job: Job) -> list[str]:
    """What to type where the id is another job's by now: of itself that one is never watched."""
    if not run.scheduler.reused(job.instance):
        return []
    told = {"--job": job.id, "--scheduler": run.facts.kind, "--log": run.facts.log}
    words = shlex.join([word for name, value in told.items() if value for word in (name, value)])
    return [f"to watch what has its number now, type: herorun babysit {words} --new-job"]


def _tell_job_events(run: JobRun, job: Job | None, cause: JobCause | None) -> list[Tell]:
    """Only what was not told yet. What its output says is told also where nobody could say how the
    job stands.
    """
    done, current = run.record.memory().done, run.current
    if current is None:
        return []
    ended = _tell_end(run, job, cause) if job and job.state.ended else ()
    found = [
        *_tell_tracker_runs(run, current.name),
        *_events(run, current.name, current.job),
        *ended,
    ]
    return [tell for tell in found if tell.key not in done]


def _tell_tracker_runs(run: JobRun, instance: str) -> list[Tell]:
    """Once a tracker run, whichever instance names it first: what the engine tells of a live job is
    not told again.
    """
    known = {id for _, id in told_runs(run)}
    return [
        Tell(
            write_key(Verb.TELL, instance, f"run-{_dotted(link)}"), f"W&B run {run_id(link)}", link
        )
        for link in tracker_runs(log_end(run, instance))
        if run_id(link) not in known
    ]


def _dotted(link: str) -> str:
    """`entity.project.id`, as the engine's own news has it in its key."""
    parts = link.split("/")
    return ".".join((*parts[-4:-2], parts[-1])) if "://" in link else link


def told_runs(run: JobRun) -> list[tuple[str, str]]:
    """The tracker runs that were told, as their key has them, and their ids."""
    news = [parse_key(key) for key in run.record.memory().done if verb_of(key) == Verb.TELL]
    found = [key.detail.removeprefix("run-") for key in news if key.detail.startswith("run-")]
    return [
        (name, name.split(".", 2)[-1] if name.count(".") > 1 else name) for name in sorted(found)
    ]


def _events(run: JobRun, instance: str, job: str) -> list[Tell]:
    return [
        Tell(_event_key(instance, words), words, f"{job}: {words}")
        for words in run.scheduler.events(instance)
    ]


def _event_key(instance: str, words: str) -> str:
    return write_key(Verb.TELL, instance, f"event-{digest(words)[7:19]}")


def _tell_end(run: JobRun, job: Job, cause: JobCause | None) -> list[Tell]:
    """The postmortem by its tasks, or what came of it; what its scheduler cannot say now is said by
    nobody later.
    """
    if job.state is JobState.SUCCEEDED:
        words = run.scheduler.results(job.instance)
        key, title = write_key(Verb.TELL, job.instance, "results"), f"{job.id} ended well"
        return [Tell(key, title, words)] if words else []
    key, title = write_key(Verb.TELL, job.instance, "cause"), f"Why {job.id} failed"
    return [Tell(key, title, str(cause))] if cause else []


def log_end(run: JobRun, instance: str) -> str:
    try:
        return run.scheduler.tail(instance, LINES)
    except (HerorunError, OSError):
        return ""


def _signals(run: JobRun, turn: JobTurn) -> dict[str, Any]:
    """What whoever takes over needs beside the seed's fields."""
    job, triage = turn.evidence.get(Job), turn.evidence.get(Triage)
    links = tracker_runs(log_end(run, job.instance)) if isinstance(job, Job) else ()
    return {
        "state": job.state.value if isinstance(job, Job) else "unknown",
        "run": turn.tick.run.value if turn.tick else "unknown",
        "monitor": turn.tick.monitor.value if turn.tick else "unknown",
        "progress": turn.progress,
        "wandb_runs": [id for _, id in told_runs(run)],
        **({"wandb_links": [link for link in links if "://" in link]} if links else {}),
        **({"last_signal": signal} if (signal := _last_signal(turn, job, triage)) else {}),
    }


def _last_signal(turn: JobTurn, job: object, triage: object) -> str:
    """Of the failure; while it lives, what is wrong with it: lost workers, missing capacity."""
    if turn.cause is not None:
        return str(turn.cause)
    if isinstance(triage, Triage) and triage.excerpt:
        return f"{triage.failure_class}: {triage.excerpt}"
    alerts = turn.tick.alerts.values() if turn.tick else ()
    wrong = [f"{alert.check}: {alert.message}" for alert in alerts if alert.firing]
    reason = job.reason if isinstance(job, Job) else ""
    return scrub("; ".join(wrong)) or reason
