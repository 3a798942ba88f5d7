"""Every command, in every state that has a screen of its own."""

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from builders import NOON, a_checkpoint, a_contract, a_job, a_plan, a_tree, an_instance
from herorun import discover
from herorun.contract_schema import contract_schema
from herorun.core.babysit.alert import Alert, AlertState
from herorun.core.babysit.ended_alerts import as_passed
from herorun.core.babysit.tick import critical_topics, exit_code
from herorun.core.canonical_json import timestamp
from herorun.core.check import Gate, Mode
from herorun.core.compare.gate import parse_gate
from herorun.core.compare.operand import Operand
from herorun.core.compare.verdict import ComparisonAnswer, compare
from herorun.core.doctor_report import DoctorPart, Fit
from herorun.core.errors import Blocked, CouldNotLook, WrongUse
from herorun.core.event import Launched, Leased
from herorun.core.evidence import (
    Candidate,
    CodeChange,
    History,
    JobState,
    LiveJobs,
    Published,
    RecordState,
    RemoteTips,
)
from herorun.core.exported_metrics import RunReading
from herorun.core.finding import passed
from herorun.core.goodput.latencies import Delay, Delays
from herorun.core.goodput.states import WallTimeState
from herorun.core.goodput.totals import GoodputTotals, Range
from herorun.core.journal import Memory
from herorun.core.notify.notifications import progress
from herorun.core.patrol.advice import PatrolCommands
from herorun.core.patrol.observation import (
    ChainState,
    DiskRoom,
    Gpu,
    HostObservation,
    Liveness,
    LogEnd,
    MemoryUse,
)
from herorun.core.patrol.summary_line import patrol_line
from herorun.core.patrol.table import decide
from herorun.core.recovery.classify import Cause
from herorun.core.remote.job_chain import install_and_start
from herorun.core.remote.runbook import RunbookFacts, render_runbook
from herorun.core.remote.target import SshLogin
from herorun.core.remote.timer import TimerRequest, cron, removal
from herorun.core.remote.watchdog import watchdog
from herorun.core.replay import Replay, ReplayResult
from herorun.core.retention import (
    RetentionPolicy,
    RetentionReference,
    SizedCheckpoint,
    prune_plan,
)
from herorun.core.run_summary import RunSummary
from herorun.core.seal.verification import SealProof
from herorun.demo.sandbox import Sandbox, quote_argument
from herorun.operations.babysit.batch import BatchResult
from herorun.operations.babysit.replay import ReplayedTicks
from herorun.operations.babysit.watchdog import propose_takeover
from herorun.operations.checkpoints.list import CheckpointListing, SearchedRoots
from herorun.operations.checkpoints.prune import Pruned
from herorun.operations.doctor.backends import describe_missing_program
from herorun.operations.jobs.poll import JobStatus
from herorun.operations.launch.launch import LaunchOutcome
from herorun.operations.launch.preflight import plan_json
from herorun.operations.orders.note import _describe_queued
from herorun.operations.orders.order import describe_unwatched
from herorun.operations.orders.trust import TrustQuestion
from herorun.operations.record.repair import describe_repair
from herorun.operations.record.verify import NOT_ANCHORED_NOTE, RecordVerification
from herorun.operations.remote.patrol import NO_MONITOR, PatrolTick, as_advice, describe_silent
from herorun.operations.remote.timer import TimerOutput
from herorun.operations.remote.watchers import WatcherRow
from herorun.operations.report.differences import CompareOutcome
from herorun.operations.report.goodput import Account
from herorun.operations.report.report import RunReport
from herorun.operations.report.status import status_code
from herorun.operations.seal.seal import SealOutcome
from herorun.record.model import Pushed
from herorun.schemas.jobs import DiscoveredJob, JobPlace
from herorun.schemas.machines import WatchedRun
from herorun.schemas.reports import ReportDocument
from herorun.schemas.runs import ListEntry, Note
from herorun.system.process_registry import RegisteredWatcher, UnregisteredProcess
from screens.orders import order_screens
from screens.rendering import Screen
from screens.states import (
    AWAITED_ROW,
    ENDED_ALERT,
    FULL_PROGRESS,
    NAN,
    NO_ANSWER,
    NO_REMOTE,
    NO_STEP,
    OTHER,
    RELAUNCHED_ALERT,
    RUN,
    RUN_ANSWERS,
    SLOW,
    STATES,
    SUMMARIES,
    alert,
    blind,
    gate,
    preflight,
    tick,
    unread_job,
)

OPERATIONS = "herorun.operations."


def answered_by(name: str, argv: str, target: str, value: Any, **more: Any) -> Screen:
    """A command on a run, of which one operation gives the answer."""
    others = {f"{OPERATIONS}{name.replace('__', '.')}": other for name, other in more.items()}
    return Screen(name, argv, {**RUN_ANSWERS, OPERATIONS + target: value, **others})


def raising(error: Exception) -> Any:
    def raises(*_: Any, **__: Any) -> None:
        raise error

    return raises


LONG_AGO = (an_instance(1, started=NOON - timedelta(hours=10)),)
JOURNAL_FAULT = (
    "old has a damaged record (commit 9f2c4e1a7, .agents/logbooks/old.journal/20260101.jsonl:7: "
    "not a journal line). Until it is repaired, no command monitors, launches or stops old; its "
    "job is left alone. `herorun verify old` names the commit that damaged it, and what undoes it."
)
WATCHDOG = {
    "fresh": Memory(instances=LONG_AGO, last_seen=NOON - timedelta(minutes=5)),
    "stale": Memory(
        instances=LONG_AGO,
        last_seen=NOON - timedelta(hours=4),
        lease=Leased(at=NOON, owner="ada@box", slug="tiny", fence=1, beat=1),
    ),
    "not-watched": Memory(),
}


# --- the gates ------------------------------------------------------------------------------------

DIRTY = a_tree(unstaged=("train.py",), untracked=("data/mix.toml",))
LAUNCHED_EVENT = Launched(
    at=NOON,
    instance="tiny-1",
    number=1,
    job="job-tiny-1",
    plan_digest="sha256:" + "ab" * 32,
    output_root="/data/tiny",
    commit="c0" * 20,
    entry={},
)
CHANGED_FILES = tuple(f"model/{name}.py" for name in ("a", "b", "c", "d", "e", "f"))
EARLIER_PLAN = plan_json(a_plan(RUN.contract)) | {"final_step": {"value": 100, "source": ""}}
LAUNCHED_RUN = SimpleNamespace(
    **{
        **vars(RUN),
        "record": SimpleNamespace(
            memory=lambda: SimpleNamespace(
                current=SimpleNamespace(name="tiny-1"),
                launchings={"tiny-1": SimpleNamespace(plan=EARLIER_PLAN)},
            )
        ),
    }
)
SILENT_ORIGIN = dict.fromkeys((History, Published, RemoteTips, RecordState), NO_REMOTE)
GATES: Mapping[str, tuple[Any, ...]] = {
    "clear": (),
    "blocked": (DIRTY,),
    "unknown": (SILENT_ORIGIN,),
}


def gates() -> Iterator[Screen]:
    target = "launch.preflight.preflight"
    for state, changes in GATES.items():
        outcome = preflight(*changes)
        yield answered_by(f"preflight-{state}", "preflight tiny", target, outcome)
        yield answered_by(f"preflight-{state}-verbose", "preflight tiny -v", target, outcome)
        yield answered_by(f"preflight-{state}-quiet", "preflight tiny -q", target, outcome)
        tag = "herorun/tiny/seal-1" if state == "clear" else None
        living = (LiveJobs((a_job(instance="tiny-1"),)),) if state == "blocked" else ()
        seal_outcome = SealOutcome(
            report=gate(Gate.SEAL, *living), tag=tag, commit=tag and "c0" * 20, remote="origin"
        )
        if state != "unknown":
            yield answered_by(f"seal-{state}", "seal tiny", "seal.seal.seal", seal_outcome)
    changed_preflight = preflight(CodeChange("tiny-1", "c0" * 20, "3f" * 20, CHANGED_FILES))
    screen = answered_by("preflight-changed", "preflight tiny", target, changed_preflight)
    yield replace(screen, answers={**screen.answers, "herorun.runs.open_run": LAUNCHED_RUN})
    lenient = preflight(DIRTY, mode=Mode.WARN)
    yield answered_by("preflight-lenient", "preflight tiny", target, lenient)
    for state, change in (("blocked", History()), ("unknown", SILENT_ORIGIN)):
        outcome = preflight(DIRTY, change, mode=Mode.WARN)
        yield answered_by(f"preflight-lenient-{state}", "preflight tiny", target, outcome)
    target = "launch.launch.launch"
    for state, changes in GATES.items():
        outcome = LaunchOutcome(
            preflight=preflight(*changes),
            launched=LAUNCHED_EVENT if state == "clear" else None,
            babysitter="process 4711, log /work/.herorun/tiny/babysit.log",
            log="/data/jobs/tiny-1/job.log" if state == "clear" else "",
        )
        yield answered_by(f"launch-{state}", "launch tiny", target, outcome)
    again = SealOutcome(tag="herorun/tiny/seal-1", commit="c0" * 20, remote="origin")
    yield answered_by("seal-again", "seal tiny", "seal.seal.seal", again)


# --- watching -------------------------------------------------------------------------------------

SILENT_LOG = alert(
    "buffered-output",
    "info",
    "the log of tiny-1 ends at 11:20 UTC, but a step was reported at 11:55 UTC: it prints nothing, "
    "or its output is buffered; the limit is 15m",
)
OVER = SLOW.model_copy(
    update={
        "state": "resolved",
        "message": as_passed(
            Alert(
                check=SLOW.check,
                subject="",
                since=NOON,
                seen=NOON,
                state=AlertState.FIRING,
                message=SLOW.message,
            ),
            [passed("no lasting slowdown up to step 41200")],
        ),
    }
)
TICKS: Mapping[str, Any] = {
    "healthy": tick("healthy"),
    "starting": tick("starting", progress=NO_STEP, missing_evidence=[AWAITED_ROW]),
    "warning": tick("degraded", alerts=[SLOW], other_jobs=[OTHER]),
    "critical": tick("degraded", alerts=[NAN], push="origin does not answer"),
    "unknown": tick(
        "unknown",
        monitor="partial",
        unread=[f"Job: {NO_ANSWER}"],
        alerts=[blind(NO_ANSWER)],
        missing_evidence=[unread_job(NO_ANSWER)],
    ),
    "down": tick(
        "down",
        alerts=[RELAUNCHED_ALERT],
        actions=[
            {
                "action": "relaunch",
                "key": "relaunch/tiny-1",
                "title": "tiny-1 as tiny-2",
                "why": "a node failed",
                "done": True,
                "failed": "",
            }
        ],
    ),
    "resolved": tick("healthy", alerts=[OVER, SILENT_LOG]),
    "stale": tick(
        "unknown", monitor="stale", unread=[f"Job: {NO_ANSWER}", f"Metrics: {NO_ANSWER}"]
    ),
    "unacknowledged": tick("finished", alerts=[ENDED_ALERT], progress=FULL_PROGRESS),
    "sealed": tick("finished", sealed="herorun/tiny/seal-1"),
}


def status_of(run: RunSummary) -> Any:
    """As of the run of the other screens in this state, by another name."""
    status = STATES["sealed" if run.stage == "sealed" else run.run][0]
    return status.model_copy(update={"slug": run.slug})


def watching() -> Iterator[Screen]:
    for state, status in STATES.items():
        yield answered_by(f"status-{state}", "status tiny", "report.status.status_of_run", status)
    answers = [
        BatchResult(run.slug, None, run.error, 3)
        if run.error
        else BatchResult(
            run.slug, (run, status_code(STATES["sealed" if run.stage == "sealed" else run.run][0]))
        )
        for run in SUMMARIES
    ]
    slugs = [run.slug for run in SUMMARIES]
    several: dict[str, Any] = {
        "herorun.runs.known_slugs": slugs,
        "herorun.system.git.find_repository": None,
    }
    target = f"{OPERATIONS}report.status.all_rows"
    full = [
        BatchResult(run.slug, None, run.error, 3)
        if run.error
        else BatchResult(run.slug, (status_of(run), run))
        for run in SUMMARIES
    ]
    every = {target: answers, f"{OPERATIONS}report.status.all_statuses": full}
    yield Screen("status-all", "status --all", {**several, **every})
    yield Screen(
        "watch", "watch", {**several, f"{OPERATIONS}report.overview.run_summaries": SUMMARIES}
    )
    checks = {check.name: check for check in discover.checks(Gate.HEALTH)}
    for state, turn in TICKS.items():
        entry = turn[1].entry()
        critical = critical_topics((alert.check for alert in entry.alerts), checks)
        code = exit_code(entry.run, entry.monitor, critical, entry.missing_evidence)
        replacements = {
            **RUN_ANSWERS,
            f"{OPERATIONS}babysit.loop.tick_once": turn,
            f"{OPERATIONS}babysit.outcome.tick_exit_code": 0 if entry.run == "finished" else code,
        }
        yield Screen(f"babysit-{state}", "babysit tiny --once", replacements)
    verdict = "tiny is healthy at ~41200/100000 steps; no alert fires."
    report = RunReport(
        ReportDocument.model_construct(verdict=verdict, generated_at=timestamp(NOON)), (), (), ""
    )
    yield answered_by(
        "report",
        "report tiny --out page.html",
        "report.report.report_of",
        report,
        report__html__page_of="",
    )


# --- orders ---------------------------------------------------------------------------------------

WAIVED_RUN = SimpleNamespace(**vars(RUN), file=SimpleNamespace(path="runs/tiny.toml"))


def orders() -> Iterator[Screen]:
    yield from order_screens()
    argv = "note tiny --status a --evidence b --decision c --next d"
    note = Note(slug="tiny", commit="4f" * 20, pushed=True, queued=False, warning="")
    yield answered_by("note", argv, "orders.note.add_note", note)
    queued_note = replace_note(note)
    yield answered_by("note-queued", argv, "orders.note.add_note", queued_note)
    proposal_answers = {
        f"{OPERATIONS}orders.waive.open_run": WAIVED_RUN,
        f"{OPERATIONS}orders.waive.preflight": preflight(DIRTY),
        f"{OPERATIONS}orders.waive.now": NOON,
    }
    yield Screen("waive", "waive dirty-tree tiny", {**RUN_ANSWERS, **proposal_answers})
    question = TrustQuestion(
        slug="tiny",
        repository=Path("/work"),
        items=('[scheduler] ssh_config = "~/.ssh/cluster_config"',),
        launches=(),
        ids=(),
        forged=(),
        seals=(),
    )
    nothing = replace(question, items=())
    yield answered_by("trust-asked", "trust tiny", "orders.trust.build_question", question)
    yield answered_by("trust-nothing", "trust tiny", "orders.trust.build_question", nothing)


def replace_note(note: Note) -> Note:
    run = SimpleNamespace(
        lock=lambda name: "no such lock",
        repository=SimpleNamespace(main="/work"),
        record=SimpleNamespace(remote="origin"),
    )
    warning = _describe_queued(run, NOON, Pushed("origin does not answer: connection timed out"))
    return note.model_copy(update={"pushed": False, "queued": True, "warning": warning})


# --- looking closer -------------------------------------------------------------------------------

STEP = "/data/tiny/step-"
TEMPORARY = "/data/tiny-temporary/step-"
NEEDED_REASON = f"{TEMPORARY}230 must be kept: tiny-b starts from it"


def saved_checkpoint(step: int, problem: str = "") -> Candidate:
    return replace(a_checkpoint(step, problem=problem), modified=NOON - timedelta(days=2))


def temporary_checkpoint(step: int) -> Candidate:
    candidate = a_checkpoint(step, "/data/tiny-temporary", temporary=True)
    return replace(candidate, modified=NOON - timedelta(days=2))


LOST_EVIDENCE = (
    "the stored evidence is not what the tick read, so it was edited or damaged: metrics (its "
    "digest is not the one in the journal)"
)
CHANGED_LINES_FAULT = (
    "commit 4f4f4f4f4: journal/20260101.jsonl: earlier lines were changed or removed"
)
NOT_FETCHED = (
    "the record is not in this clone; fetch it: "
    "`git fetch origin refs/heads/herorun/tiny:refs/herorun/record/tiny`"
)
WATCHED_BY = "is watched by process 4711, log /work/.claude/agents/s/watch.log"
SIZED_CHECKPOINTS = (
    SizedCheckpoint(saved_checkpoint(100), 4 << 30, 12, "sha256:aa"),
    SizedCheckpoint(
        saved_checkpoint(200, problem="metadata.json is missing"), 2 << 30, 11, "sha256:cc"
    ),
    SizedCheckpoint(temporary_checkpoint(230), 4 << 30, 12, "sha256:dd"),
    SizedCheckpoint(temporary_checkpoint(260), 4 << 30, 12, "sha256:ee"),
    SizedCheckpoint(saved_checkpoint(300), 4 << 30, 12, "sha256:bb"),
)
PLAN = prune_plan(
    "tiny",
    SIZED_CHECKPOINTS,
    RetentionPolicy(keep=1, permanent_every=100),  # as the contract of `preflight tiny` says
    RetentionReference(),
    recovery=f"{STEP}300",
    trusted_paths={each.candidate.path for each in SIZED_CHECKPOINTS},
    now=NOON,
)
TIMES = dict.fromkeys(WallTimeState, 0.0)
TOTALS = GoodputTotals(
    since=None,
    until=None,
    wall_seconds=0.0,
    states=TIMES,
    productive_fraction=Range(None, None),
    max_step=0,
    lost_steps=0,
    unknown_losses=0,
    instances=0,
    interruptions={},
    mtbf=None,
    accelerator_hours=None,
    total_accelerator_hours=Range(None, None),
    cost=Range(None, None),
    delays=Delays(Delay(), Delay(), Delay()),
    rows=0,
    notes=(),
)
HOURS = {
    WallTimeState.QUEUED: 0.5,
    WallTimeState.INIT: 0.25,
    WallTimeState.CATCH_UP: 0.75,
    WallTimeState.PRODUCTIVE: 21.0,
    WallTimeState.CHECKPOINT: 0.5,
    WallTimeState.DOWN: 0.5,
    WallTimeState.UNKNOWN: 0.5,
}
WITH_JOB = set(HOURS) - {WallTimeState.QUEUED, WallTimeState.DOWN, WallTimeState.UNKNOWN}
A_DAY = replace(
    TOTALS,
    since=NOON - timedelta(hours=24),
    until=NOON,
    wall_seconds=86_400.0,
    states={**TIMES, **{state: 3600 * hours for state, hours in HOURS.items()}},
    productive_fraction=Range(0.875, 0.896),
    max_step=41_200,
    lost_steps=600,
    instances=2,
    interruptions={Cause.INFRA: 1},
    mtbf=82_800.0,
    accelerator_hours={state: 512 * hours for state, hours in HOURS.items() if state in WITH_JOB},
    total_accelerator_hours=Range(11_520.0, 11_776.0),
    cost=Range(23_040.0, 23_552.0),
    delays=Delays(Delay(1, 95.0, 95.0), Delay(1, 310.0, 310.0), Delay()),
    rows=41_800,
    notes=("12 rows without a time: their place in the wall time is unknown",),
)
CURVES = [
    Operand(name=name, values={"loss": {step: loss - 0.001 * step for step in range(0, 401, 4)}})
    for name, loss in {"tiny-1": 2.5, "tiny-2": 2.51}.items()
]
ANSWER_GATES = {
    ComparisonAnswer.GO: ["loss mean <= +0.5%"],
    ComparisonAnswer.NO_GO: ["loss mean <= +0.1%"],
    ComparisonAnswer.UNJUDGED: [],
    ComparisonAnswer.UNKNOWN: ["grad_norm mean <= +5%"],
}
PARTS = (
    DoctorPart("git", "remote origin", Fit.OK, "can be read: 12 refs"),
    DoctorPart(
        "git",
        "remote origin, push",
        Fit.OK,
        "a dry-run push was accepted; it does not run the server's hooks",
    ),
    describe_missing_program("slurm", "sbatch"),
    DoctorPart("tracker", "wandb tiny", Fit.UNKNOWN, "api.wandb.ai does not answer"),
    DoctorPart(
        "clock",
        "this machine",
        Fit.SKIPPED,
        "synchronisation by NTP was not checked: timedatectl is not on this machine; this "
        "clone's newest commit, of 2026-01-01 11:00:00 UTC, shows only that this clock is not more "
        "than 1m behind it",
    ),
)


def run_here(*_: Any, **__: Any) -> tuple[Any, str]:
    """A run of the folder that the command is typed in."""
    return SimpleNamespace(repository=SimpleNamespace(top=Path.cwd())), ""


def closer() -> Iterator[Screen]:
    listing = CheckpointListing(SIZED_CHECKPOINTS, NOON)
    target = "checkpoints.list.list_with_refusals"
    roots = {"checkpoints__list__searched_roots": SearchedRoots((), (), ())}
    yield answered_by("checkpoints-list", "checkpoints list tiny", target, listing, **roots)
    prune_outcome = Pruned(
        (f"{STEP}200",),
        (
            (f"{TEMPORARY}230", NEEDED_REASON),
            (f"{TEMPORARY}260", f"not tried, because the deletion stopped at {TEMPORARY}230"),
        ),
        2 << 30,
    )
    replacements = {"checkpoints__list__read_plan": PLAN}
    argv = "checkpoints prune tiny --plan plan.json"
    yield answered_by(
        "checkpoints-prune", argv, "checkpoints.prune.prune", prune_outcome, **replacements
    )
    empty = CheckpointListing((), NOON)
    nowhere = SearchedRoots((), ("/data/tiny", "/data/tmp"), ("/data/tiny",))
    roots = {"checkpoints__list__searched_roots": nowhere}
    argv = "checkpoints list tiny"
    yield answered_by("checkpoints-list-none", argv, target, empty, **roots)
    argv = "checkpoints plan tiny --keep 1"
    here = {"herorun.runs.watched_run": run_here}
    replacements = {**RUN_ANSWERS, f"{OPERATIONS}checkpoints.list.make_plan": PLAN, **here}
    yield Screen("checkpoints-plan", argv, replacements)
    for answer, gates in ANSWER_GATES.items():
        outcome = CompareOutcome(
            *CURVES, "change", compare(*CURVES, [*map(parse_gate, gates)]), ("lr: 0.1 -> 0.2",)
        )
        assert outcome.comparison.answer is answer
        name = f"compare-{answer.value.replace(' ', '-')}"
        yield answered_by(name, "compare tiny-1 tiny-2", "report.compare.compare_two", outcome)
    yield answered_by(
        "goodput-none", "goodput tiny", "report.goodput.account", Account(RUN, TOTALS)
    )
    yield answered_by("goodput", "goodput tiny", "report.goodput.account", Account(RUN, A_DAY))
    ticks = (
        Replay(
            at=NOON - timedelta(minutes=10),
            version="0.1.0",
            same_rules=True,
            result=ReplayResult.SAME,
        ),
        Replay(
            at=NOON - timedelta(minutes=5),
            version="0.1.0",
            same_rules=False,
            result=ReplayResult.DIFFERS,
            differences=('alerts.loss-spike[loss].state: not set -> "firing"',),
        ),
        Replay(
            at=NOON,
            version="0.1.0",
            same_rules=True,
            result=ReplayResult.UNKNOWN,
            why=LOST_EVIDENCE,
        ),
    )
    replayed_ticks = ReplayedTicks("tiny", None, "sha256:aa", ticks)
    yield answered_by("replay", "replay tiny", "babysit.replay.replay_run", replayed_ticks)
    nothing = ReplayedTicks("tiny", None, "sha256:aa", ())
    yield answered_by("replay-none", "replay tiny", "babysit.replay.replay_run", nothing)
    yield Screen("doctor", "doctor", {f"{OPERATIONS}doctor.doctor.examine": PARTS})
    yield Screen("explain", "explain dirty-tree")
    yield Screen("explain-list", "explain --list")
    verification = RecordVerification(
        entries=41,
        commits=43,
        faults=(),
        notes=(NOT_ANCHORED_NOTE,),
    )
    target = "record.verify.verify_run"
    yield answered_by("verify-clear", "verify tiny", target, verification)
    yield answered_by("logbook-verify", "logbook verify tiny", target, verification)
    target = "record.verify.open_record"
    yield answered_by("logbook-show", "logbook show tiny", target, RUN.record)
    target = "record.verify.verify_run"
    broken_verification = replace(verification, faults=(CHANGED_LINES_FAULT,))
    yield answered_by("verify-blocked", "verify tiny", target, broken_verification)
    record: Any = SimpleNamespace(
        slug="tiny", branch="herorun/tiny", ref="refs/herorun/record/tiny", remote="origin"
    )
    faults = (CHANGED_LINES_FAULT, "journal: journal/20260101.jsonl:7: not a journal line")
    repair = describe_repair(record, "4f" * 20, "4f" * 20, here=True)
    damaged_verification = replace(verification, faults=faults, notes=(NOT_ANCHORED_NOTE, repair))
    yield answered_by("verify-damaged", "verify tiny", target, damaged_verification)
    for state, fields in {
        "clear": {},
        "blocked": {
            "proven": ["origin has the same tag as this clone"],
            "faults": ["the checkpoint /data/tiny/step-100000 is gone"],
        },
        "unknown": {"unproven": [NOT_FETCHED]},
    }.items():
        words = [
            "origin has the same tag as this clone",
            "the checkpoint /data/tiny/step-100000 is unchanged, by the digests of its files",
        ]
        proof = SealProof("herorun/tiny/seal-1", **{"proven": words, **fields})
        documents = {
            f"{OPERATIONS}seal.verify.verify_seal": proof,
            "herorun.system.git.find_repository": None,
        }
        yield Screen(f"verify-seal-{state}", "verify herorun/tiny/seal-1", documents)


# --- machines and jobs ----------------------------------------------------------------------------

BOX_RUN = a_contract(
    goal="learn to count",
    stop_when="the loss rises for 500 steps",
    dri="@dri",
    patrol={"success_pattern": "Training completed", "results": ["/data/tiny/results.csv"]},
    chain={"folder": "/data/tiny/chain", "stage": [{"name": "eval", "run": "python -m eval"}]},
)
WAYS = PatrolCommands(
    resume="herorun -C /work status tiny",
    chain=install_and_start(BOX_RUN, "/work", SshLogin(host="gpu7")),
    transfer=(("/data/set", "rsync -a data/set/ gpu7:/data/set"),),
    remove=removal("tiny"),
    logs="herorun -C /work logs tiny",
    status="herorun -C /work status tiny",
    stop="herorun -C /work stop tiny",
    restart="herorun -C /work relaunch tiny --stop-first",
    chain_log="/data/tiny/chain/chain.log",
    dri="@dri",
    may_seal=True,
    monitor="a babysitter runs in this clone",
)
RUNBOOK_FACTS = RunbookFacts(
    top="/work",
    where="gpu7",
    login="ssh gpu7",
    owner="ada@laptop",
    instances=(("tiny-1", "job-tiny-1", "2026-01-01 02:00 UTC"),),
    sealed="",
    branch="herorun/tiny",
    remote="origin",
    written_at="2026-01-01 12:00 UTC",
)
GIB = 1 << 30
AT_WORK = HostObservation(
    at=NOON,
    name="tiny-1",
    where="gpu7",
    alive=Liveness.YES,
    log=LogEnd(line="step 41200 loss 2.314", step=41_200, size=4000, age=3.0),
    disks={"/data": DiskRoom(500 * GIB, 1000 * GIB, 900, 1000)},
    output_age=30.0,
    gpus=(Gpu("0", 91.0), Gpu("1", 89.0)),
    memory=MemoryUse(40 * GIB, 100 * GIB, 0.4, 0),
)
FROZEN_LOG = LogEnd(line="step 41200 loss 2.314", step=41_200, size=4000, age=2460.0)
FAILED_JOB = {"alive": Liveness.NO, "why": "tiny-1 ended as failed: exit code 1"}
UNREACHABLE = "gpu7 does not answer: ssh: connect to host gpu7 port 22: Connection timed out."
HOSTS: Mapping[str, HostObservation] = {
    "running": AT_WORK,
    "stalled": replace(AT_WORK, log=FROZEN_LOG, output_age=2460.0),
    "down": replace(
        AT_WORK,
        **FAILED_JOB,
        log=replace(FROZEN_LOG, age=720.0),
        gpus=(Gpu("0", 0.0), Gpu("1", 0.0)),
        memory=MemoryUse(4 * GIB, 100 * GIB, 0.04, 0),
        output_age=720.0,
    ),
    "unknown": replace(AT_WORK, alive=Liveness.UNKNOWN, unreachable=UNREACHABLE),
}


def ways_for(host: HostObservation) -> PatrolCommands:
    """The launch gate names the command that continues a run that is down."""
    down = {"resume": "herorun -C /work relaunch tiny", "monitor": NO_MONITOR}
    return replace(WAYS, **down) if host.why else WAYS


def patrol_tick(host: HostObservation, **changes: Any) -> PatrolTick:
    advice = decide(host, replace(ways_for(host), **changes))
    return PatrolTick(host, advice, patrol_line(host, advice), None)


SILENT = describe_silent(
    watchdog("tiny", replace(WATCHDOG["stale"], lease=None), RUN.contract, {}, NOON).why,
    as_advice(RUN, describe_unwatched("tiny")),
)
PAUSED_REASON = "ada paused automatic relaunches until 2026-01-01 14:00 UTC"
STOPPED_REASON = "Its stop was ordered by ada"
CANCELLED_REASON = "tiny-1 ended as cancelled: CANCELLED by 1000"
CHAIN_FAILED = ChainState(False, "eval ended with exit code 1", "eval", waits=False)
PATROLS: Mapping[str, PatrolTick] = {
    "paused": patrol_tick(HOSTS["down"], stays_down=PAUSED_REASON),
    "stopped": patrol_tick(
        replace(HOSTS["down"], why=CANCELLED_REASON), stays_down=STOPPED_REASON, is_settled=True
    ),
    "dri-decides": patrol_tick(HOSTS["down"], dri_decides=True),
    "code-bug": patrol_tick(
        HOSTS["down"], resume="herorun -C /work preflight tiny", resume_verb="preflight"
    ),
    "chain-failed": patrol_tick(replace(AT_WORK, chain=CHAIN_FAILED)),
    "unmonitored": patrol_tick(AT_WORK, monitor="", unmonitored=SILENT, is_silent=True),
}


def waits_for(host: HostObservation, **changes: Any) -> Any:
    """An observer that sees this host each time."""
    return lambda *_: lambda: (host, decide(host, replace(ways_for(host), **changes)), {})


ENTRY = {
    "type": "slurm",
    "id": "4711",
    "last_status": "RUNNING",
    "last_queried": "2026-01-01 11:58",
    "description": "MMLU",
}
WAIT = RegisteredWatcher(
    kind="wait",
    run="tiny",
    top="/work",
    what="step 5000",
    pid=4711,
    process_start="boot 1",
    started=NOON.timestamp(),
)
LATER = "process 4711 waits for the same run and started later"
ENDED_WAIT = "its process has ended"
SESSION = SimpleNamespace(id="s", agent="a", file="/work/.claude/agents/s/active_jobs.json")


def machines() -> Iterator[Screen]:
    for state, host in HOSTS.items():
        argv = "box patrol tiny"
        yield answered_by(f"patrol-{state}", argv, "remote.patrol.patrol", patrol_tick(host))
    for state, observed_observation in PATROLS.items():
        yield answered_by(f"patrol-{state}", argv, "remote.patrol.patrol", observed_observation)
    waiting = {
        "herorun.system.process_registry.register_watcher": lambda *_: nullcontext(),
        f"{OPERATIONS}remote.wait.retire_earlier_waits": [],
        f"{OPERATIONS}remote.wait.now": NOON,
    }
    for state, name in {"reached": "running", "unknown": "unknown", "over": "down"}.items():
        observer = {f"{OPERATIONS}remote.wait.observer_of_run": waits_for(HOSTS[name])}
        step = 41_200 if state == "reached" else 50_000
        argv = f"box wait tiny --step {step} --max 1"
        yield Screen(f"wait-{state}", argv, {**RUN_ANSWERS, **waiting, **observer})
    request = TimerRequest(
        slug="tiny",
        top="/work",
        program="/usr/bin/herorun",
        command="patrol",
        every=timedelta(minutes=30),
        limit=140.0,
        notifies=False,
    )
    timer = TimerOutput("cron", "patrol", 1800, cron(request), {}, notifies_nobody=True)
    yield answered_by("timer", "box timer tiny --for cron", "remote.timer.timer_of", timer)
    page = render_runbook(BOX_RUN, WAYS, RUNBOOK_FACTS)
    yield answered_by("runbook", "box runbook tiny --out -", "remote.runbook.page_of", page)
    chained_run = SimpleNamespace(**{**vars(RUN), "contract": BOX_RUN})
    chain_run = {"herorun.runs.watched_run": lambda *_, **__: (chained_run, "")}
    yield Screen("chain", "box chain tiny", {**RUN_ANSWERS, **chain_run})
    for state in WATCHDOG:
        silence = watchdog("tiny", WATCHDOG[state], RUN.contract, {}, NOON)
        takeover = propose_takeover(RUN) if silence.monitor == "stale" else ""
        observation = WatchedRun.of(silence, run="healthy", issue_comment="", takeover=takeover)
        yield answered_by(
            f"watchdog-{state}", "box watchdog tiny", "babysit.watchdog.watch_run", observation
        )
    entry = ListEntry(
        slug="tiny",
        stage="launched",
        run="healthy",
        monitor="fresh",
        progress=progress(120, 200),
        last_seen="2026-01-01T11:45:00Z",
        instance="tiny-1",
        error="",
    )
    unread_entry = {
        "slug": "old",
        "stage": "unknown",
        "run": None,
        "last_seen": None,
        "progress": "",
    }
    broken_entry = entry.model_copy(update={**unread_entry, "error": JOURNAL_FAULT})
    blind_entry = entry.model_copy(
        update={"slug": "vega", "run": "unknown", "progress": progress(None, 400)}
    )
    entries = [broken_entry, entry, blind_entry]
    yield Screen("list", "list", {f"{OPERATIONS}report.run_list.list_runs": entries})
    instance = SimpleNamespace(name="tiny-1")
    replacements = {
        f"{OPERATIONS}report.logs.instance_of": instance,
        f"{OPERATIONS}report.logs.read_log": ["step 119 loss 2.51\n", "step 120 loss 2.50\n"],
    }
    yield Screen("logs", "logs tiny", {**RUN_ANSWERS, **replacements})
    replacements = {
        f"{OPERATIONS}remote.watchers.reconcile": [],
        "herorun.system.process_registry.others": [],
    }
    yield Screen("watchers-none", "box watchers", replacements)
    rows = [
        WatcherRow(
            replace(WAIT, pid=4700, started=WAIT.started - 3600),
            Path("a"),
            "stale",
            LATER,
            "retired",
        ),
        WatcherRow(WAIT, Path("b"), "running"),
        WatcherRow(replace(WAIT, run="old", pid=12), Path("c"), "over", ENDED_WAIT, "forgotten"),
    ]
    babysitter = UnregisteredProcess(4720, "herorun babysit tiny", "babysitter")
    replacements = {
        f"{OPERATIONS}remote.watchers.reconcile": rows,
        "herorun.system.process_registry.others": [babysitter],
    }
    yield Screen("watchers", "box watchers", replacements)
    yield Screen("watchers-dry-run", "box watchers --dry-run", replacements)
    session_read = {f"{OPERATIONS}record.session.current_session": SESSION}
    read_jobs = f"{OPERATIONS}record.session.read_jobs"
    yield Screen("jobs-list", "jobs list", {**session_read, read_jobs: ([ENTRY], "")})
    yield Screen("jobs-list-none", "jobs list", {**session_read, read_jobs: ([], "")})
    statuses = [
        JobStatus({**ENTRY, "last_status": "PENDING"}, JobState.RUNNING, "RUNNING"),
        JobStatus(
            {"type": "nel", "id": "15be12f8", "last_status": "RUNNING", "description": "GPQA"},
            JobState.UNKNOWN,
            "RUNNING",
            "nel does not answer within 60 s",
        ),
    ]
    check_answers = {f"{OPERATIONS}jobs.watch.check_jobs": (statuses, "")}
    yield Screen("jobs-watch", "jobs watch --once", {**session_read, **check_answers})
    add = {
        f"{OPERATIONS}record.registry.register": None,
        f"{OPERATIONS}record.registry.ensure_watch": WATCHED_BY,
    }
    yield Screen("jobs-add", "jobs add local /data/jobs/loose-1", {**session_read, **add})
    remove = {
        read_jobs: ([ENTRY], ""),
        f"{OPERATIONS}record.session.must_have": [ENTRY],
        f"{OPERATIONS}record.session.change_jobs": None,
    }
    yield Screen("jobs-remove", "jobs remove 4711", {**session_read, **remove})
    places = [
        JobPlace(place="registry /work/.claude/agents/s/active_jobs.json", jobs=[], why=""),
        JobPlace(
            place="slurm's queue",
            jobs=[DiscoveredJob(job="slurm 4711", description="RUNNING", host="")],
            why="",
        ),
    ]
    yield Screen(
        "jobs-find", "jobs find", {**session_read, f"{OPERATIONS}jobs.discover.find_jobs": places}
    )


# --- what goes wrong ------------------------------------------------------------------------------


def repository(home: Path) -> None:
    subprocess.run(["git", "init", "-q", str(home)], check=True)
    (home / "runs").mkdir()
    rows = [f"{step},{2.5 if step < 80 else 'nan'}\n" for step in range(99)]
    (home / "curve.csv").write_text("step,loss\n" + "".join(rows))
    (home / "train.log").write_text("torch.cuda.OutOfMemoryError: CUDA out of memory.\n")
    (home / "runs" / "bad.toml").write_text('slug = "bad"\nfinal_stepp = 7\nissue = 3\n')


def wrong() -> Iterator[Screen]:
    for name, argv in {
        "help": "--help",
        "no-command": "preflihgt tiny",
        "no-option": "preflight tiny --jsn",
    }.items():
        yield Screen(name, argv)
    for name, argv in {
        "no-run": "status nowhere",
        "no-runs": "status",
        "bad-contract": "preflight bad",
        "no-check": "explain dirty-treee",
        "init-new": "init tiny",
        "backtest": "backtest curve.csv",
        "triage": "triage train.log",
        "triage-no-file": "triage nothing.log",
    }.items():
        yield Screen(name, argv, home=repository)
    target = "launch.preflight.preflight"
    for name, error in {
        "wrong-use": WrongUse("/work has no commit yet: commit the training code first."),
        "fault": RuntimeError("a bug of ours"),
    }.items():
        yield answered_by(f"error-{name}", "preflight tiny", target, raising(error))
    blocked_error = Blocked(
        'The contract says recovery = "observe": the babysitter relaunches nothing, even after an '
        "approval. To continue the run: `herorun relaunch tiny`."
    )
    yield answered_by(
        "error-blocked", "approve tiny", "orders.acknowledge.answer", raising(blocked_error)
    )
    unpushed_error = CouldNotLook(
        "Nothing was submitted: the record of the launch could not be pushed: origin does not "
        "answer. Launch again once herorun/tiny can be pushed to origin."
    )
    target = "launch.launch.launch"
    yield answered_by("error-could-not-look", "launch tiny", target, raising(unpushed_error))


# --- servers, and text for programs ---------------------------------------------------------------


def serving(*path: str | int) -> Any:
    """A server that says where it listens, and ends at once."""
    return lambda *arguments, **_: arguments[-1]("".join(map(str, path)))


def type_command(stage: Sandbox, *argv: str, expect: Sequence[int] = (0,), **_: Any) -> None:
    """A command of the demo that is printed, and not run."""
    (stage.work / "runs").mkdir(parents=True, exist_ok=True)
    stage.show("$ " + " ".join(quote_argument(part) for part in argv))
    if expect[0]:
        stage.show(f"(exit code {expect[0]}, as expected)", "2")


def wait_until(stage: Sandbox, what: str, until: object) -> None:
    stage.show(f"... waiting until {what}", "2")


DEMO = {
    "herorun.demo.sandbox.Sandbox.do": type_command,
    "herorun.demo.sandbox.Sandbox.wait": wait_until,
    "herorun.demo.sandbox.Sandbox.configure": None,
    "herorun.demo.sandbox.open_run": SimpleNamespace(
        state=Path("/work/demo/work/.herorun/tiny-lm"),
        record=SimpleNamespace(
            memory=lambda: SimpleNamespace(instances=(), sealed=None), tip="c0" * 20
        ),
    ),
    "herorun.demo.walkthrough.needs_numpy": None,
    "herorun.demo.walkthrough.trainer": 4711,
    "herorun.demo.walkthrough.step": 330,
    "herorun.demo.walkthrough.os.kill": None,
    "herorun.demo.walkthrough._clear_away": None,
    "herorun.demo.walkthrough.format_span": "58s",
}
READINGS = f"{OPERATIONS}report.exporter.RunExporter._readings"
CLOCK = f"{OPERATIONS}report.exporter.now"
PROPERTIES = ("slug", "final_step")


def small_schema() -> Any:
    whole = contract_schema()
    return {
        **whole,
        "required": [name for name in whole["required"] if name in PROPERTIES],
        "$defs": {},
        "properties": {name: whole["properties"][name] for name in PROPERTIES},
    }


def servers() -> Iterator[Screen]:
    place = {"herorun.system.git.find_repository": None}
    web = {f"{OPERATIONS}report.web.serve_pages": serving("http://127.0.0.1:9479/")}
    yield Screen("serve", "serve", {**place, **web})
    metrics = {f"{OPERATIONS}report.exporter.serve": serving("http://127.0.0.1:9477/metrics")}
    yield Screen("metrics-served", "metrics --listen 127.0.0.1:9477", {**place, **metrics})
    runs = {run.slug: run for run in SUMMARIES}
    readings = [
        RunReading(
            summary=runs["tiny"],
            memory=Memory(instances=(an_instance(1),), ticks=41),
            cadence=timedelta(minutes=15),
            running=True,
            lines=120,
        ),
        RunReading(summary=runs["orca"]),
    ]
    yield Screen("metrics", "metrics", {**place, READINGS: readings, CLOCK: NOON})
    http = {f"{OPERATIONS}agents.server.serve_http": serving("http://127.0.0.1:9478/mcp")}
    argv, token = "mcp --listen 127.0.0.1:9478", {"HERORUN_MCP_TOKEN": "a" * 32}
    yield Screen("mcp", argv, {**place, **http}, environment=token)
    yield Screen("error-mcp-token", argv, place)
    yield Screen("box", "box --help")
    for shell in ("bash", "zsh", "fish"):
        name = "completion" if shell == "bash" else f"completion-{shell}"
        yield Screen(name, f"completion {shell}")
    schema = {"herorun.contract_schema.contract_schema": small_schema}
    yield Screen("schema", "schema", schema)
    yield Screen("demo", "demo --dir demo", DEMO)


def catalogue() -> Iterator[Screen]:
    for part in (gates(), watching(), orders(), closer(), machines(), servers(), wrong()):
        yield from part
