"""The states of a run, as values: healthy ones of `builders`, each with one difference."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

from builders import NOON, a_contract, a_job, a_plan, an_instance, healthy, some_metrics
from herorun import discover
from herorun.checks.health.monitor_blind import monitor_blind
from herorun.core.adoption import if_it_runs
from herorun.core.canonical_json import timestamp
from herorun.core.check import Gate, Mode, evaluate
from herorun.core.contract import Recovery
from herorun.core.event import Ordered, Word
from herorun.core.evidence import (
    FORGOTTEN_JOB,
    Evidence,
    FinalStep,
    Gaps,
    IgnoredDirectives,
    Job,
    JobLog,
    JobState,
    Metrics,
    Nothing,
    PrintedPatterns,
    Receipt,
    RequestReview,
    Unavailable,
)
from herorun.core.finding import Waiver, waive
from herorun.core.gate_findings import verdict_of
from herorun.core.health.training_proof import SOURCES, training
from herorun.core.journal import Memory
from herorun.core.plan import Plan
from herorun.core.ports import submission_of
from herorun.core.proposed_commands import in_tmux
from herorun.core.recovery.policy import ActionPause, RelaunchAnswer
from herorun.core.responsible import responsible
from herorun.core.run_summary import OpenAlert, Pace, RunSummary
from herorun.gate import GateReport
from herorun.operations.babysit.tick_json import (
    describe_interrupted,
    describe_relaunched,
    dri_decides,
    name_dri,
    relaunch_outlook,
)
from herorun.operations.launch.preflight import PreflightOutcome, notifies_nobody
from herorun.operations.report.status import QUESTION_NEXT, _forgotten_job
from herorun.runs.loader import describe_unread
from herorun.schemas.parts import (
    Acked,
    AlertEntry,
    AwaitedEntry,
    InstanceEntry,
    OtherJob,
    UnjudgedEntry,
)
from herorun.schemas.status import FailedLaunch, RunSummaryEntry, Status
from herorun.schemas.tick import TickEntry
from herorun.system.user_trust import describe_missing_trust

TIP = "4f" * 20
MINUTE = timedelta(minutes=1)
RUN = SimpleNamespace(
    slug="tiny",
    contract=a_contract(goal="learn to count", stop_when="the loss rises for 500 steps"),
    record=SimpleNamespace(
        slug="tiny",
        branch="herorun/tiny",
        logbook_path=".agents/logbooks/tiny.md",
        tip=TIP,
        remote="origin",
        unpushed_lines=0,
        pushed_tip=TIP,
        newest_page=lambda: ".agents/logbooks/tiny.md",
        logbook=lambda: "# tiny\n\nOne entry.\n",
        unproven_seals=tuple,
        memory=lambda: SimpleNamespace(current=None, launchings={}, instances=()),
    ),
    repository=SimpleNamespace(top="/work", main="/work"),
    dri="ada (inferred from git)",
    state=None,
    scheduler=SimpleNamespace(cluster_wide=True),
    name_to_type="tiny",
    place=SimpleNamespace(reach=None, repository="/work"),
)
RUN_ANSWERS = {
    "herorun.runs.open_run": RUN,
    "herorun.runs.watched_run": (RUN, ""),
    "herorun.system.git.find_repository": RUN.repository,
    "herorun.runs.known_slugs": ["tiny"],
}


# What a run on the local scheduler without signatures of its own does not have.
NOTHING: Evidence = {
    IgnoredDirectives: Nothing("this scheduler reads no directives in a script"),
    RequestReview: Nothing("local reviews no request"),
    PrintedPatterns: Nothing("the contract adds no signatures"),
}

# --- gates ----------------------------------------------------------------------------------------


def gate(
    kind: Gate, *changes: Any, mode: Mode = Mode.ENFORCE, waivers: Sequence[Waiver] = ()
) -> GateReport:
    """The answer of a gate about a healthy run, but for these pieces of evidence."""
    evidence: Evidence = healthy(kind) | (NOTHING if kind is Gate.LAUNCH else {})
    for change in changes:
        evidence |= change if isinstance(change, dict) else {type(change): change}
    checks = discover.checks(kind)
    by_name = {check.name: check for check in checks}
    findings = waive(if_it_runs(evaluate(checks, evidence, {}), evidence), waivers, NOON)
    return GateReport(kind, verdict_of(findings, by_name, mode), findings, by_name, evidence, mode)


def preflight(*changes: Any, plan: Plan | None = None, **by: Any) -> PreflightOutcome:
    """`by`: the gate's mode and waivers."""
    report = gate(Gate.LAUNCH, *changes, *filter(None, [plan]), **by)
    plan = plan or a_plan(RUN.contract)
    submission = submission_of(plan, "tiny-1")
    people = responsible(RUN.contract, "@dri", False, "issue.md", notifies_nobody(report))
    return PreflightOutcome(report, plan, submission, "", people)


NO_REMOTE = Unavailable("origin does not answer: connection timed out", "remote origin")


# --- health ---------------------------------------------------------------------------------------

CHECKPOINT_FIELDS = {
    "checkpoint_step": 40_000,
    "checkpoint_age": 2880.0,
}  # 1,200 steps of 2.4 s ago
HEALTHY = RunSummary(
    slug="tiny",
    stage="launched",
    run="healthy",
    step=41_200,
    final_step=100_000,
    loss=2.314,
    curve="▇▆▅▅▄▃▃▂▂▂▁▁",
    pace=Pace("throughput/tokens_per_s", 1_250_000.0, 1_240_000.0, 2.4),
    next_tick=NOON + 4 * MINUTE,
    seen_at=NOON - MINUTE,
    **CHECKPOINT_FIELDS,
)
WAITS = RunSummary(
    slug="tiny", stage="launched", run="starting", final_step=100_000, next_tick=NOON + 4 * MINUTE
)
LAST_READ = replace(
    HEALTHY, run="unknown", monitor="partial", step=None, rows_read_at=NOON - timedelta(minutes=12)
)
UNKNOWN_SUMMARY = RunSummary(
    slug="tiny", stage="launched", run="unknown", monitor="stale"
)  # only the record was read
INSTANCE = InstanceEntry(name="tiny-1", job="4812", started=NOON - 1680 * MINUTE)
SUBMITTED_INSTANCE = INSTANCE.model_copy(update={"started": NOON - 90 * MINUTE})
JUST_STARTED = INSTANCE.model_copy(update={"started": NOON - 5 * MINUTE})


def alert(
    check: str,
    severity: str,
    message: str,
    state: str = "firing",
    fix: str = "",
    minutes: int = 20,
) -> AlertEntry:
    return AlertEntry(
        check=check,
        severity=severity,
        subject="",
        state=state,
        since=NOON - minutes * MINUTE,
        message=message,
        fix=fix,
    )


CHECKS = {check.name: check for check in discover.checks(Gate.HEALTH)}
NAN = alert(
    "not-finite",
    "critical",
    "train/loss is nan at steps 41150 to 41200",
    minutes=2,
    fix=name_dri(CHECKS["not-finite"].next_action("tiny"), "@dri"),
)
SLOW = alert(
    "throughput-leak", "warn", "a step takes 2.6 s instead of 2.4 s since step 40900", minutes=10
)


def alert_of(check: str, minutes: int, *changes: Any) -> AlertEntry:
    """What a check reports of a healthy run, but for these pieces of evidence."""
    findings = gate(Gate.HEALTH, *changes).findings
    message = next(each.verdict.message for each in findings if each.check == check and each.open)
    fix = name_dri(CHECKS[check].next_action("tiny"), "@dri")
    return alert(check, CHECKS[check].severity.value, message, minutes=minutes, fix=fix)


HANGS = alert_of(
    "stalled-steps",
    6,
    a_job(started=NOON - 1680 * MINUTE),
    some_metrics(41_200, advanced_at=NOON - 51 * MINUTE),
    FinalStep(100_000, "runs/tiny.toml"),
)
QUEUED_ALERT = alert_of(
    "pending-too-long",
    60,
    a_job(JobState.PENDING, started=None, submitted=NOON - 90 * MINUTE, reason="Resources"),
)
NO_SIGN: Evidence = {each: Nothing("there is none") for each in (Metrics, JobLog, Receipt)}
FORTY_AGO = NOON - 40 * MINUTE
NEVER_STARTED = alert_of(
    "pending-too-long", 10, a_job(started=FORTY_AGO, submitted=FORTY_AGO), NO_SIGN
)
QUESTION = "escalate/relaunch/tiny-1/repeated"
DENIAL = RelaunchAnswer(False, NOON - 5 * MINUTE, "ada", "the data set is being repaired")
STOP = Ordered(NOON - 30 * MINUTE, "ada", Word.STOP, ("tiny-1",))
PAUSE = ActionPause(NOON + 120 * MINUTE, "ada", NOON, "the disks are being swapped")


ONLY_OBSERVED = '[babysit] recovery is "observe"'
DRI_DECIDES = dri_decides("herorun status tiny", ONLY_OBSERVED)


def crashed_alert(
    cause: str = "",
    decision: str = DRI_DECIDES,
    name: str = "tiny-1",
    dri: str = "@dri",
    wake: datetime | None = None,
    doubt: str = "",
    **orders: Any,
) -> AlertEntry:
    """The alert about a run that is down, with what happens next after these orders."""
    memory = Memory(instances=(an_instance(1),), **orders)
    assert memory.current is not None
    down: Any = SimpleNamespace(run="down", wake=wake, stays_down=wake is None)
    is_paused = memory.pause is not None
    outlook = relaunch_outlook(down, memory, Recovery.RELAUNCH, is_paused, decision) + doubt
    message = f"{name} ended as failed: exit code 1{cause}"
    return alert("crashed", "critical", message, fix=name_dri(outlook, dri))


CRASHED_ALERT = crashed_alert()
RELAUNCHED_ALERT = CRASHED_ALERT.model_copy(update={"fix": describe_relaunched("tiny-2")})
ENDED_ALERT = alert(
    "stalled-steps", "critical", "no step for 14m", state="ended-unresolved", minutes=90
)
A_BUG = "; the error in its log is of class code-bug-small at train.py:72 (NameError: x)"
BUG = crashed_alert(A_BUG)


def first_row(started_at: datetime) -> AwaitedEntry:
    """The row that a job still owes, by the real rules."""
    jobs = {Job: a_job(started=started_at, submitted=started_at)}
    proof = training(healthy(Gate.HEALTH) | NO_SIGN | jobs, NOON, receipt_due=False)
    return AwaitedEntry.model_validate(proof.awaited[0])


EMPTY: dict[str, Any] = {
    "missing_evidence": [],
    "findings": [],
    "alerts": [],
    "actions": [],
    "other_jobs": [],
    "unread": [],
    "unjudged": [],
}
CALM: dict[str, Any] = {
    **EMPTY,
    "monitor": "fresh",
    "doubts": [],
    "contract": "as admitted",
    "pushed": True,
}
STANDING: dict[str, Any] = {
    **CALM,
    "slug": "tiny",
    "stage": "launched",
    "failed_launch": None,
    "instances": [INSTANCE],
    "log": "/data/jobs/tiny-1/job.log",
    "seal_tag": None,
    "branch": "herorun/tiny",
    "record": TIP,
    "babysitter": "running, last heartbeat 1m0s ago",
    "unfinished_actions": [],
    "acting": False,
    "paused": None,
    "questions": [],
    "answer": None,
    "acknowledgements": [],
    "stopped_by": None,
    "forgotten_job": False,
    "dri_decides": False,
    "next": "",
    "unjudged": [],
}
AWAITED_ROW = first_row(NOON - 5 * MINUTE)
OTHER = OtherJob(name="tiny-debug", job="job-9", state="running", kind="diagnostic")
ACK_NOTE = Acked(
    alert=f"throughput-leak@{timestamp(NOON - 10 * MINUTE)}",
    by="ada",
    reason="a noisy neighbour; moved",
)
NO_ANSWER = "the scheduler does not answer: connection timed out"


def blind(why: str, *others: str) -> AlertEntry:
    message = monitor_blind(Gaps((f"Job: {why}", *others), 42)).message
    return alert("monitor-blind", "critical", message, "pending", fix="test the access")


def unread_job(why: str) -> AwaitedEntry:
    return AwaitedEntry(evidence="job", message=f"could not query the scheduler: {why}", until=None)


NO_DISK = "/data/tiny does not answer: Stale file handle"


def unread_sources() -> list[AwaitedEntry]:
    """What is missing where the job runs and nothing else can be read, by the real rules."""
    evidence = healthy(Gate.HEALTH) | dict.fromkeys(SOURCES, Unavailable(NO_DISK, "/data/tiny"))
    proof = training(evidence, NOON, receipt_due=True)
    return [AwaitedEntry.model_validate(each) for each in proof.awaited]


JOB_STATES = {"down": "failed", "finished": "succeeded", "unknown": "unknown"}  # by the run's
HALF, FULL_PROGRESS, NO_STEP = "~41200/100000", "~100000/100000", "~unknown/100000"


def status(summary: RunSummary = HEALTHY, **changes: Any) -> Any:
    """What the command reads: the status, the evidence, and the summary."""
    state = "" if summary is UNKNOWN_SUMMARY else JOB_STATES.get(summary.run, "running")
    state = changes.pop("job_state", state)
    is_decided = bool(changes.get("unfinished_actions"))
    decides = summary.run == "down" and not is_decided
    facts = {"run": summary.run, "progress": HALF, **STANDING, "dri_decides": decides, **changes}
    facts["instances"] = [each.model_copy(update={"state": state}) for each in facts["instances"]]
    alerts = [OpenAlert(a.check, a.severity, a.state, a.message) for a in facts["alerts"]]
    summary = replace(summary, alerts=tuple(alerts))
    return Status(summary=RunSummaryEntry.of_summary(summary), **facts), {}, summary


def tick(run: str, code: int = 0, **changes: Any) -> Any:
    """What one tick of the babysitter gives back."""
    fields = {name: changes.pop(name) for name in TickEntry.model_fields if name in changes}
    entry = TickEntry(**{"run": run, "monitor": "fresh", "progress": HALF, **EMPTY, **fields})
    moment = SimpleNamespace(at=NOON)
    about = {"run": RUN, "doubts": (), "push": "", "sealed": "", "code": code, "why_gone": ""}
    about |= changes
    return RUN, SimpleNamespace(entry=lambda **_: entry, tick=moment, step=41_200, **about)


FORGOTTEN_JOB = Unavailable(
    "the scheduler does not list tiny-1: the job may run elsewhere, or the scheduler has forgotten "
    "it",
    FORGOTTEN_JOB,
)
FORGOTTEN_MEMORY = Memory(instances=(an_instance(1),))
UNREAD_MESSAGE = describe_unread(
    "it is unknown whether the launch of tiny-1 in the record is genuine: origin does not answer"
)
TRUST_MESSAGE = describe_missing_trust("tiny", ["the program sbatch"])
STATES: dict[str, Any] = {
    "starting": status(
        WAITS,
        progress=NO_STEP,
        instances=[JUST_STARTED],
        missing_evidence=[AWAITED_ROW],
    ),
    "healthy": status(),
    "young": status(
        replace(HEALTHY, step=4_800, checkpoint_step=4_000, checkpoint_age=1920.0),
        progress="~4800/100000",
        instances=[INSTANCE.model_copy(update={"started": NOON - 200 * MINUTE})],
        unjudged=[
            UnjudgedEntry(
                metric="loss",
                checks=["loss-spike", "loss-elevated", "loss-drift", "loss-diverged"],
                reason="it has 12 rows, one about every 400 steps, and these checks need 30 rows",
                until_row=30,
            )
        ],
    ),
    "descended": status(
        unjudged=[
            UnjudgedEntry(
                metric="loss",
                checks=["loss-elevated"],
                reason="it is too noisy (its rows are typically 12.4% away from its trend; the "
                "limit is 7.0%); loss-spike still works",
                until_row=4_150,
            )
        ],
    ),
    "warning": status(
        replace(
            HEALTHY,
            run="degraded",
            pace=Pace("throughput/tokens_per_s", 1_150_000.0, 1_246_000.0, 2.6),
        ),
        alerts=[SLOW],
        other_jobs=[OTHER],
        acknowledgements=[ACK_NOTE],
    ),
    "critical": status(
        replace(HEALTHY, run="degraded", loss=float("nan")),
        alerts=[NAN],
        next="herorun rollback tiny --to 40000 --stop-first",
    ),
    "hung": status(
        replace(HEALTHY, run="degraded", checkpoint_age=5820.0),
        alerts=[HANGS],
    ),
    "queued": status(
        replace(WAITS, run="degraded"),
        progress=NO_STEP,
        instances=[SUBMITTED_INSTANCE],
        alerts=[QUEUED_ALERT],
        job_state="pending",
    ),
    "never-started": status(
        replace(WAITS, run="degraded"),
        progress=NO_STEP,
        instances=[INSTANCE.model_copy(update={"started": FORTY_AGO})],
        alerts=[NEVER_STARTED],
        missing_evidence=[first_row(FORTY_AGO)],
        job_state="running",
    ),
    "unknown": status(
        replace(HEALTHY, run="unknown", monitor="partial"),
        monitor="partial",
        unread=[f"Job: {NO_ANSWER}"],
        alerts=[blind(NO_ANSWER)],
        missing_evidence=[unread_job(NO_ANSWER)],
        pushed=False,
    ),
    "unread": status(
        replace(LAST_READ, checkpoint_step=None),
        progress=NO_STEP,
        monitor="partial",
        unread=[f"{each.__name__}: {NO_DISK}" for each in SOURCES],
        missing_evidence=unread_sources(),
        job_state="running",
        other_jobs=[OTHER.model_copy(update={"kind": "old attempt"})],
    ),
    "forgotten": status(
        replace(HEALTHY, run="unknown", monitor="partial"),
        monitor="partial",
        unread=[f"Job: {FORGOTTEN_JOB.why}", f"LiveJobs: {FORGOTTEN_JOB.why}"],
        alerts=[blind(FORGOTTEN_JOB.why, f"LiveJobs: {FORGOTTEN_JOB.why}")],
        missing_evidence=[unread_job(FORGOTTEN_JOB.why)],
        forgotten_job=True,
        doubts=_forgotten_job(RUN, FORGOTTEN_MEMORY, {Job: FORGOTTEN_JOB}, NOON),
    ),
    "forgotten-lately": status(
        replace(HEALTHY, run="unknown", monitor="partial"),
        monitor="partial",
        unread=[f"Job: {FORGOTTEN_JOB.why}"],
        alerts=[blind(FORGOTTEN_JOB.why)],
        missing_evidence=[unread_job(FORGOTTEN_JOB.why)],
        forgotten_job=True,
        doubts=_forgotten_job(
            RUN, FORGOTTEN_MEMORY, {Job: FORGOTTEN_JOB, Metrics: some_metrics()}, NOON
        ),
    ),
    "unproven": status(
        UNKNOWN_SUMMARY,
        monitor="stale",
        log="",
        pushed=None,
        doubts=[f"only the record was read. {UNREAD_MESSAGE}"],
        unread=[f"all: {UNREAD_MESSAGE}"],
    ),
    "untrusted": status(
        UNKNOWN_SUMMARY,
        monitor="stale",
        log="",
        doubts=[f"only the record was read. {TRUST_MESSAGE}"],
        unread=[f"all: {TRUST_MESSAGE}"],
    ),
    "down": status(
        replace(HEALTHY, run="down", next_tick=None, checkpoint_age=4080.0),
        alerts=[crashed_alert(decision=QUESTION_NEXT)],
        next="herorun approve tiny",
        questions=[QUESTION],
        babysitter="not running, last heartbeat 18m0s ago; start it "
        f"{in_tmux('`herorun babysit tiny`')}",
        monitor="stale",
    ),
    "code-bug": status(
        replace(HEALTHY, run="down", next_tick=None, checkpoint_age=4080.0),
        alerts=[crashed_alert(A_BUG, QUESTION_NEXT)],
        next="herorun preflight tiny",
        questions=["escalate/relaunch/tiny-1/code-bug"],
    ),
    "ended": status(
        replace(
            HEALTHY,
            run="finished",
            step=100_000,
            next_tick=None,
            checkpoint_step=100_000,
            checkpoint_age=120.0,
        ),
        progress=FULL_PROGRESS,
        unjudged=[
            UnjudgedEntry(
                metric="loss",
                checks=["loss-elevated", "loss-drift", "loss-diverged"],
                reason="it has 12 rows, and these checks need 30 rows",
                until_row=30,
            )
        ],
        next="herorun seal tiny",
        babysitter="stopped (the run is finished), last heartbeat 2m0s ago",
        monitor="not-needed",
    ),
    "unacknowledged": status(
        replace(HEALTHY, run="finished", step=100_000, next_tick=None, checkpoint_step=100_000),
        progress=FULL_PROGRESS,
        alerts=[ENDED_ALERT],
        next="herorun ack tiny",
    ),
    **{
        name: status(
            replace(HEALTHY, stage="sealed", run="finished", step=100_000),
            stage="sealed",
            seal_tag="herorun/tiny/seal-1",
            progress=FULL_PROGRESS,
            job_state=state,
        )
        for name, state in {"sealed": "succeeded", "sealed-unrecorded": ""}.items()
    },
    "initialised": status(
        RunSummary(slug="tiny", stage="initialised"),
        stage="initialised",
        instances=[],
        log="",
        progress="~unknown/100000",
        babysitter="none seen in this clone",
        next="herorun preflight tiny",
    ),
    "launch-failed": status(
        RunSummary(slug="tiny", stage="initialised"),
        stage="initialised",
        instances=[],
        failed_launch=FailedLaunch(
            instance="tiny-1",
            at="2026-01-01T11:55:00Z",
            why="the record could not be pushed to origin: Could not resolve host: github.com",
        ),
        log="",
        progress="~unknown/100000",
        babysitter="none seen in this clone",
        next="herorun preflight tiny",
    ),
    "paused": status(
        paused=PAUSE,
    ),
    "paused-down": status(
        replace(HEALTHY, run="down", next_tick=None, checkpoint_age=4080.0),
        alerts=[crashed_alert(pause=PAUSE)],
        paused=PAUSE,
        next="herorun relaunch tiny",
    ),
    "acting": status(
        unfinished_actions=["tell/tiny-1/first-step: tiny-1 is training"],
        acting=True,
    ),
    "stopped": status(
        replace(HEALTHY, run="down", next_tick=None),
        alerts=[crashed_alert(orders=(STOP,))],
        stopped_by="ada",
        babysitter="stopped (the run stays down), last heartbeat 1m0s ago",
        monitor="not-needed",
        next="herorun relaunch tiny",
    ),
    "unfinished": status(
        replace(HEALTHY, run="down", next_tick=None),
        alerts=[crashed_alert(decision=describe_interrupted("herorun relaunch tiny"))],
        unfinished_actions=["relaunch/tiny-1: relaunch after tiny-1: ordered by ada"],
        next="herorun relaunch tiny",
    ),
    "stopped-at-the-end": status(
        replace(
            HEALTHY,
            run="finished",
            step=100_000,
            next_tick=None,
            checkpoint_step=100_000,
            checkpoint_age=120.0,
        ),
        progress=FULL_PROGRESS,
        stopped_by="ada",
        next="herorun seal tiny",
        babysitter="stopped (the run is finished), last heartbeat 2m0s ago",
        monitor="not-needed",
    ),
    "denied": status(
        replace(HEALTHY, run="down", next_tick=None, checkpoint_age=4080.0),
        alerts=[crashed_alert(answers={"tiny-1": DENIAL})],
        answer=DENIAL.summary,
        babysitter="stopped (the run stays down), last heartbeat 1m0s ago",
        monitor="not-needed",
        next="herorun relaunch tiny",
    ),
}
SUMMARIES = [
    HEALTHY,
    replace(
        HEALTHY,
        slug="nova",
        run="down",
        alerts=(OpenAlert("crashed", "critical", "firing", "nova-1 ended as failed: exit code 1"),),
    ),
    RunSummary(slug="orca", stage="", error="the record cannot be read: origin does not answer"),
    RunSummary(slug="pico", stage="sealed", run="finished", step=100_000, final_step=100_000),
]
