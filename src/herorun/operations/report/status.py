"""The status of a run, from its record and evidence that is read now. Writes nothing."""

import contextlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Generic, TypeVar

from herorun.core.babysit.action_key import STARTS, verb_of
from herorun.core.errors import UNFORESEEN, HerorunError
from herorun.core.event import Launching
from herorun.core.evidence import (
    FORGOTTEN_JOB,
    Evidence,
    Job,
    Unavailable,
)
from herorun.core.evidence_names import ALL
from herorun.core.journal import Memory, fold
from herorun.core.journal.decision import build_decision
from herorun.core.notify.notifications import progress_of
from herorun.core.ports import Unknown
from herorun.core.run_summary import RunSummary
from herorun.operations.babysit.batch import BatchResult, run_for_name
from herorun.operations.babysit.tick_json import (
    alert_entries,
    describe_interrupted,
    dri_decides,
    dri_decides_by_note,
    finding_entries,
    instance_entries,
    other_jobs,
    relaunch_outlook,
    unjudged_metrics,
    unread_evidence,
)
from herorun.operations.health.evaluate import import_all
from herorun.operations.health.shared_polls import (
    ClusterIntent,
    ClusterPoll,
    Intent,
    SharedPolls,
)
from herorun.operations.orders.questions import open_questions
from herorun.operations.report.babysitter_state import (
    describe_babysitter,
    doubt_next_tick,
    why_not_relaunched,
)
from herorun.operations.report.judged_run import JudgedRun, inactive_code, judge, launched_code
from herorun.operations.report.next_command import next_command, typed_here
from herorun.operations.report.record_facts import RecordFacts, record_facts
from herorun.record import fetch_together
from herorun.runs import Run, watched_run
from herorun.schemas.status import RunSummaryEntry, Status, StatusOf
from herorun.system.clock import now
from herorun.system.files import is_locked
from herorun.system.git import find_repository

T = TypeVar("T")
QUESTION_NEXT = "the DRI decides (see `question`)"


def all_statuses(
    names: Sequence[str], start: Path, with_findings: bool = True
) -> list[BatchResult[tuple[Status, RunSummary]]]:
    """The status of every run, and its summary; findings only with `with_findings`."""

    def status_and_summary(run: Run, drift: str, polls: SharedPolls) -> tuple[Status, RunSummary]:
        run_status, _, summary = status_of_run(run, drift, polls, with_findings)
        return run_status, summary

    return _of_all(names, start, status_and_summary)


def all_rows(names: Sequence[str], start: Path) -> list[BatchResult[tuple[RunSummary, int]]]:
    """The summary of every run, and its exit code. What no table shows is not made."""

    def summary_and_code(run: Run, drift: str, polls: SharedPolls) -> tuple[RunSummary, int]:
        look = judge(run, polls)
        return look.summary, look.code

    return _of_all(names, start, summary_and_code)


def _of_all(
    names: Sequence[str], start: Path, act: Callable[[Run, str, SharedPolls], T]
) -> list[BatchResult[T]]:
    """Each run is opened once. Its scheduler queries are noted before the first poll, which then
    covers all runs of a cluster.
    """
    from herorun.system.forked_workers import map_in_two_phases  # not for one run

    _fetch_records(names, start)
    batch = _Batch(start, act)
    phases = (batch.open, batch.judge)
    doing = ("opening runs", "looking at runs")
    unique_names = list(dict.fromkeys(names))
    prepare = partial(batch.prepare, unique_names)
    return map_in_two_phases(unique_names, phases, batch.poll, doing, prepare)


class _Batch(Generic[T]):
    """The runs of one call, here or in one of its workers."""

    def __init__(self, start: Path, act: Callable[[Run, str, SharedPolls], T]) -> None:
        self._start, self._act, self._polls = start, act, SharedPolls()
        self._runs: dict[str, BatchResult[tuple[Run, str]]] = {}

    def prepare(self, names: Sequence[str]) -> None:
        """Import what each worker needs, also by opening a run of one of them."""
        import_all()
        self.open(names[0])

    def open(self, name: str) -> tuple[str, ClusterIntent | None]:
        """What a poll of its cluster must cover."""
        if name not in self._runs:
            self._runs[name] = run_for_name(name, lambda name: watched_run(name, self._start))
        answer = self._runs[name]
        return name, self._polls.expect_of(answer.value[0]) if answer.value else None

    def poll(
        self, expectations: Sequence[tuple[str, ClusterIntent | None]]
    ) -> Mapping[Hashable, ClusterPoll]:
        """Query each cluster once, for all its runs, by the scheduler of one of them."""
        by_cluster: dict[Hashable, tuple[str, dict[str, Intent]]] = {}
        for name, expectation in expectations:
            if expectation is not None:
                cluster, key, intent = expectation
                by_cluster.setdefault(cluster, (name, {}))[1][key] = intent
        for name, intents in by_cluster.values():
            with contextlib.suppress(*UNFORESEEN):  # then each run asks for itself
                answer = self._runs.get(name)
                run, _ = (answer and answer.value) or watched_run(name, self._start)
                self._polls.poll(run.scheduler, intents)
        return self._polls.answers()

    def judge(self, name: str, answers: Mapping[Hashable, ClusterPoll]) -> BatchResult[T]:
        self._polls.adopt(answers)
        answer = self._runs.pop(name)
        if answer.value is None:
            return BatchResult(answer.slug, None, answer.error, answer.code)
        run, drift = answer.value
        return run_for_name(name, lambda _: self._act(run, drift, self._polls))


def _fetch_records(names: Sequence[str], start: Path) -> None:
    """Fetch all records in one call; what fails, each run fetches itself."""
    with contextlib.suppress(HerorunError, OSError):
        fetch_together(find_repository(start), "origin", [Path(name).stem for name in names])


def status_of_run(
    run: Run, drift: str, polls: SharedPolls | None = None, with_findings: bool = True
) -> tuple[Status, Evidence, RunSummary]:
    """The status, in the form of `babysit --once --json` with the record's facts; the evidence; and
    the summary.

    Before the launch and after the seal no evidence is read.
    """
    look = judge(run, polls)
    with run.record.pin():
        return _status_of(run, drift, look, with_findings)


def _status_of(
    run: Run, drift: str, look: JudgedRun, with_findings: bool
) -> tuple[Status, Evidence, RunSummary]:
    memory, is_acting = look.memory, look.is_acting
    result, evidence = look.result, look.evidence
    facts = record_facts(run, memory, drift)
    if memory.unsettled and not is_acting and not look.why_shut:
        facts = replace(facts, doubts=[*facts.doubts, *_forgotten_launch(run, memory.unsettled)])
    if result is None:
        return _inactive_status(run, facts, look)
    job = evidence.get(Job)
    is_known = isinstance(job, Job) or run.scheduler.cluster_wide
    facts = replace(
        facts,
        doubts=[*facts.doubts, *_forgotten_job(run, memory, evidence, now())],
        instances=instance_entries(memory, job),
        # the job may run in another clone, where its log is
        log=facts.log if is_known or Path(facts.log).exists() else "",
    )
    checks, alerts = look.checks, look.alerts
    memory_after = fold([build_decision(result, evidence, memory, ())], memory)
    command = next_command(run, result, memory_after, evidence)
    is_paused = memory.ledger.is_paused(now())
    command_here = typed_here(run, command, evidence)
    decision = _decision(memory, command, command_here, run.why_only_observed)
    lack, recovery = why_not_relaunched(run), run.contract.babysit.recovery
    outlook = relaunch_outlook(result, memory, recovery, is_paused, decision, lack)
    if outlook and result.wake and not lack:
        outlook += doubt_next_tick(run)
    babysitter = describe_babysitter(run, look.needless, command, evidence)
    summary = _summary_after(run, look)  # after the text, so that both agree
    status = Status.of(
        facts,
        run=result.run,
        monitor=look.monitor,
        unread=[*unread_evidence(evidence), *look.unread_record],
        progress=progress_of(evidence),
        missing_evidence=result.awaited,
        findings=finding_entries(result.findings, checks, run.slug) if with_findings else [],
        alerts=alert_entries(alerts, checks, run.slug, outlook, run.dri),
        actions=[],
        other_jobs=other_jobs(evidence),
        next=command_here,
        summary=RunSummaryEntry.of_summary(summary),
        unjudged=unjudged_metrics(evidence),
        acting=is_acting,
        babysitter=babysitter,
        forgotten_job=isinstance(job, Unavailable) and job.root == FORGOTTEN_JOB,
        dri_decides=result.stays_down and not _is_interrupted(memory, command),
    )
    return status, evidence, summary


def _summary_after(run: Run, look: JudgedRun) -> RunSummary:
    """Without a next tick where nothing is left to monitor and the babysitter has ended, perhaps
    since the run was judged.
    """
    if look.needless and not is_locked(run.lock("babysitter")):
        return replace(look.summary, next_tick=None)
    return look.summary


def _decision(memory: Memory, command: str, command_here: str, why: str) -> str:
    """What a person does about a run that is down and that herorun does not relaunch."""
    if _is_interrupted(memory, command):
        return describe_interrupted(command_here)
    if open_questions(memory):
        return QUESTION_NEXT
    # where both differ, another clone has the lease
    return dri_decides(command, why) if command == command_here else dri_decides_by_note(why)


def _is_interrupted(memory: Memory, command: str) -> bool:
    """Whether the command completes a relaunch or a rollback that somebody has decided already."""
    continues = command.startswith(("herorun relaunch ", "herorun rollback "))
    return continues and any(verb_of(key) in STARTS for key in memory.intended)


def _forgotten_job(run: Run, memory: Memory, evidence: Evidence, at: datetime) -> list[str]:
    """How the run can end although its scheduler does not list the job, and from when on."""
    job = evidence.get(Job)
    if not isinstance(job, Unavailable) or job.root != FORGOTTEN_JOB or memory.current is None:
        return []
    from herorun.operations.orders.forgotten_job import out_of_reach

    name = memory.current.name
    if place := out_of_reach(run, memory, name):  # where `stop` would be refused here
        return [f"whether {name} has ended: it was launched from {place}, so ask there"]
    return [f"whether {name} has ended. {_describe_forgotten(run, memory, evidence, at)}"]


def _describe_forgotten(run: Run, memory: Memory, evidence: Evidence, at: datetime) -> str:
    """The two steps by which a person records its end, and from when on the second one works."""
    from herorun.operations.health.replaced_instance import find_recent_write, unread_signs_of_life

    name = memory.current.name if memory.current else ""
    head = "Check in the scheduler's accounting or on the job's nodes. If it has,"
    order = f"type `herorun stop {run.slug}`"
    otherwise = (
        "The stop records the end; to continue the run, then type "
        f"`herorun relaunch {run.slug}`. If the job still runs, do nothing: nothing is relaunched."
    )
    if name not in memory.ends and unread_signs_of_life(evidence):
        return f"{head} {order} once its rows can be read. {otherwise}"
    if name not in memory.ends and (write := find_recent_write(run, evidence, at)):
        refusal = f"before that it refuses, because {write.message}"
        return f"{head} {order} after {write.over_at:%H:%M} UTC: {refusal}. {otherwise}"
    return f"{head} {order}. {otherwise}"


def _forgotten_launch(run: Run, launching: Launching) -> list[str]:
    """How an interrupted launch is settled although its scheduler does not list the job."""
    from herorun.operations.launch.intent import where

    with contextlib.suppress(HerorunError, OSError):  # what cannot be read shows no way on
        answer = run.scheduler.find(launching.instance, launching.at)
        if not isinstance(answer, Unknown) or not answer.forgotten or launching.adopts:
            return []
        doubt = f"whether {launching.instance} was submitted"
        if launching.where != where(run) and not run.scheduler.cluster_wide:
            return [f"{doubt}: it was launched from {launching.where}, so ask there"]
        way_on = f"If you know that no such job runs: `herorun stop {run.slug}` records that"
        return [f"{doubt}, because the scheduler no longer lists it. {way_on}"]
    return []


def _inactive_status(
    run: Run, facts: RecordFacts, look: JudgedRun
) -> tuple[Status, Evidence, RunSummary]:
    """The status before the launch, after the seal, and if the contract's programs are not
    trusted.
    """
    from herorun.operations.seal.facts import progress_at_seal

    memory, summary, unread_record = look.memory, look.summary, look.unread_record
    facts = replace(facts, doubts=[*facts.doubts, *unread_record])
    status = Status.of(
        facts,
        run=summary.run,
        monitor=look.monitor,
        unread=[*(f"{ALL}: {why}" for why in filter(None, [look.why_shut])), *unread_record],
        progress=progress_at_seal(memory, summary),
        missing_evidence=[],
        findings=[],
        alerts=[],
        actions=[],
        other_jobs=[],
        next=next_command(run, None, memory, {}),
        summary=RunSummaryEntry.of_summary(summary),
        unjudged=[],
        acting=look.is_acting,
        babysitter=describe_babysitter(run, "the run is sealed" if memory.sealed else ""),
        forgotten_job=False,
        dri_decides=False,
    )
    return status, {}, summary


def status_code(status: StatusOf) -> int:
    """The exit code, as for a tick: a problem of the run comes before unreadable evidence."""
    if status.stage != "launched":
        return inactive_code(status.stage, status.monitor, bool(status.unfinished_actions))
    firing = [alert.check for alert in status.alerts if alert.state == "firing"]
    return launched_code(status.run, status.monitor, firing, status.missing_evidence)
