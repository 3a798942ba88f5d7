"""The screens of commands whose answer is no, unknown, or that it is done already."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from builders import NOON, a_checkpoint, a_job, a_tree, an_instance
from herorun.core.adhoc_jobs.cause import JobCause
from herorun.core.adhoc_jobs.spec import JobSpec
from herorun.core.canonical_json import timestamp
from herorun.core.check import Gate, Mode
from herorun.core.compare.verdict import compare
from herorun.core.doctor_report import DoctorPart, Fit
from herorun.core.errors import Blocked, CouldNotLook
from herorun.core.event import Launched
from herorun.core.evidence import (
    Checkpoints,
    History,
    Job,
    JobState,
    LiveJobs,
    RecordState,
    Remotes,
    Sealing,
)
from herorun.core.finding import Waiver
from herorun.core.health.run_health import RunHealth
from herorun.core.patrol.observation import LogEnd
from herorun.core.proposed_commands import in_tmux
from herorun.core.replay import Replay, ReplayResult
from herorun.core.retention import SizedCheckpoint
from herorun.core.run_summary import OpenAlert, RunSummary
from herorun.core.seal.kinds import SealKind
from herorun.operations.babysit.batch import BatchResult
from herorun.operations.babysit.replay import ReplayedTicks
from herorun.operations.babysit.tick_json import dri_decides
from herorun.operations.checkpoints.list import CheckpointListing, SearchedRoots
from herorun.operations.checkpoints.prune import Pruned
from herorun.operations.jobs.news import job_doubts
from herorun.operations.jobs.poll import JobStatus
from herorun.operations.launch.launch import LaunchOutcome, _describe_monitor
from herorun.operations.orders.trust import TrustQuestion
from herorun.operations.record.init import InitOutcome
from herorun.operations.record.verify import RecordVerification
from herorun.operations.remote.watchers import WatcherRow
from herorun.operations.report.differences import CompareOutcome
from herorun.operations.report.report import RunReport
from herorun.operations.seal.seal import SealOutcome, _before, _must_push
from herorun.record.model import Pushed
from herorun.schemas.jobs import JobPlace
from herorun.schemas.reports import ReportDocument
from herorun.schemas.runs import ListEntry
from herorun.system.process_registry import UnregisteredProcess
from screens.catalogue import AT_WORK, CURVES, HOSTS, PLAN, patrol_tick, repository, waits_for
from screens.rendering import Screen
from screens.states import (
    AWAITED_ROW,
    HALF,
    NO_REMOTE,
    ONLY_OBSERVED,
    RUN,
    RUN_ANSWERS,
    SUMMARIES,
    crashed_alert,
    gate,
    preflight,
    status,
    tick,
)

OPERATIONS = "herorun.operations."


def answered_by(name: str, argv: str, target: str, value: Any, **more: Any) -> Screen:
    """A command of which one operation gives the answer."""
    others = {f"{OPERATIONS}{key.replace('__', '.')}": other for key, other in more.items()}
    return Screen(name, argv, {**RUN_ANSWERS, OPERATIONS + target: value, **others})


def raising(error: Exception) -> Callable[..., Any]:
    def raises(*_: Any, **__: Any) -> None:
        raise error

    return raises


# --- seal, init, verify ---------------------------------------------------------------------------

SEAL_OUTCOME = SealOutcome(
    report=gate(Gate.SEAL), tag="herorun/tiny/seal-1", commit="c0" * 20, remote="origin"
)
UNPUSHED_REPORT = gate(
    Gate.SEAL,
    Remotes({}),
    RecordState("c0" * 20, None),
    waivers=[Waiver("no-remote", "one machine", "@dri", NOON + timedelta(days=7))],
)
UNREAD_TAG = "it is unknown whether origin has the tag: origin does not answer"
SEALS: Mapping[str, tuple[str, SealOutcome]] = {
    "unknown": ("", SealOutcome(report=gate(Gate.SEAL, {Checkpoints: NO_REMOTE}))),
    "again-unknown": ("", replace(SEAL_OUTCOME, report=None, remote=None, warnings=(UNREAD_TAG,))),
    "no-remote": ("", replace(SEAL_OUTCOME, remote="", report=UNPUSHED_REPORT)),
    "milestone": (" --milestone v1", replace(SEAL_OUTCOME, tag="herorun/tiny/milestone-v1")),
    "aborted": (" --aborted", SEAL_OUTCOME),
    "superseded": (" --superseded-by nova", SEAL_OUTCOME),
}


def sealing() -> Iterator[Screen]:
    target = "seal.seal.seal"
    for name, (options, outcome) in SEALS.items():
        yield answered_by(f"seal-{name}", f"seal tiny{options}", target, outcome)
    memory: Any = SimpleNamespace(
        sealed=SimpleNamespace(tag="herorun/tiny/seal-1", ending="aborted", name="")
    )
    run: Any = RUN
    sealing_again = Sealing(SealKind.FINAL)
    yield answered_by(
        "seal-other", "seal tiny", target, lambda *_: _before(run, memory, sealing_again)
    )
    silent = SimpleNamespace(
        append=lambda *_: None,
        push=lambda: Pushed("origin does not answer: connection timed out"),
        memory=lambda: SimpleNamespace(attempt=lambda _: 1),
        remote="origin",
        branch="herorun/tiny",
    )
    unpushed_run: Any = SimpleNamespace(record=silent)
    yield answered_by(
        "seal-unpushed", "seal tiny", target, lambda *_: _must_push(unpushed_run, "tag")
    )


LOGBOOK = ".agents/logbooks/tiny.md on branch herorun/tiny"
INITS: Mapping[str, InitOutcome] = {
    "created": InitOutcome((LOGBOOK, "issue #7"), "#7", ""),
    "again": InitOutcome((), "#7", ""),
    "adopted": InitOutcome((LOGBOOK,), "#7", "", ("issue #7",)),
    "unpushed": InitOutcome(
        (LOGBOOK, "issue #7"), "#7", "origin does not answer: connection timed out"
    ),
}


def contract(folder: Path) -> None:
    (folder / "runs").mkdir()
    (folder / "runs" / "tiny.toml").write_text('slug = "tiny"\n')


def init_screens() -> Iterator[Screen]:
    contract_read = {
        **RUN_ANSWERS,
        f"{OPERATIONS}launch.config_stability.advise_unstable_keys": ((), ""),
        f"{OPERATIONS}record.contract_template.draft_of": None,
        f"{OPERATIONS}record.contract_template.must_be_filled_in": None,
        "herorun.runs.contract_path": Path("runs/tiny.toml"),
    }
    target = f"{OPERATIONS}record.init.initialise"
    for name, outcome in INITS.items():
        yield Screen(f"init-{name}", "init tiny", {**contract_read, target: outcome}, home=contract)


NEWER = "2 journal lines of a newer herorun, which this one cannot check"
NO_LIST = "could not query the remote: origin does not answer: connection timed out"


def verify_screens() -> Iterator[Screen]:
    raise_unread = RecordVerification(
        entries=41, commits=43, faults=(), notes=(NO_LIST,), unseen=True
    )
    target = "record.verify.verify_run"
    yield answered_by("verify-unknown", "verify tiny", target, raise_unread)
    sealed_verification = RecordVerification(
        entries=41, commits=43, faults=(), notes=(), seal="herorun/tiny/seal-1"
    )
    newest = {"seal__verify__verify_newest_seal": sealed_verification}
    yield answered_by("verify-sealed", "verify tiny", target, sealed_verification, **newest)
    newer = RecordVerification(
        entries=41, commits=43, faults=(), notes=(NEWER,), unseen=True, newer_lines=2
    )
    yield answered_by("verify-newer", "verify tiny", target, newer)


# --- the launch gate ------------------------------------------------------------------------------


def launches() -> Iterator[Screen]:
    dirty = a_tree(unstaged=("train.py",))
    audit = preflight(dirty, mode=Mode.AUDIT)
    past = History(initialised=True, instances=(an_instance(1),))
    choice = preflight(past, CANDIDATES)
    yield answered_by("preflight-again", "preflight tiny", "launch.preflight.preflight", choice)
    yield answered_by("preflight-audit", "preflight tiny", "launch.preflight.preflight", audit)
    target = "launch.launch.launch"
    running = preflight(LiveJobs((a_job(instance="tiny-1"),)))
    yield answered_by(
        "launch-running", "launch tiny", target, LaunchOutcome(preflight=running, launched=None)
    )
    lenient = preflight(dirty, mode=Mode.WARN)
    outcome = LaunchOutcome(
        preflight=lenient,
        launched=LAUNCHED_EVENT,
        babysitter="not running",
        log="/data/jobs/tiny-1/job.log",
        unwatched=NO_BABYSITTER,
        warnings=(NO_BABYSITTER,),
    )
    yield answered_by("launch-unmonitored", "launch tiny", target, outcome)
    audited_outcome = replace(
        outcome, preflight=audit, unwatched="", warnings=(), babysitter=WATCHES
    )
    yield answered_by("launch-audit", "launch tiny", target, audited_outcome)
    alone = SimpleNamespace(**{**vars(RUN), "other_babysit_owner": ""})
    monitor = _describe_monitor(alone, babysit=False)
    bare = replace(audited_outcome, preflight=preflight(), babysitter=monitor)
    screen = answered_by("launch-no-babysit", "launch tiny --no-babysit", target, bare)
    yield replace(screen, answers={**screen.answers, "herorun.runs.open_run": alone})


CANDIDATES = Checkpoints(
    (
        a_checkpoint(41_000),
        a_checkpoint(41_500, problem="metadata.json is missing"),
        replace(a_checkpoint(42_000, problem="it could not be read: I/O error"), examined=False),
        replace(a_checkpoint(40_000), examined=False),
    )
)
NO_BABYSITTER = (
    "Nothing monitors the run: its babysitter ended at once (exit code 1): see "
    "/work/.herorun/tiny/babysit.log, then start it "
    f"{in_tmux('`herorun babysit tiny`')}."
)
WATCHES = "process 4711, log /work/.herorun/tiny/babysit.log"
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


# --- watching -------------------------------------------------------------------------------------


def watching() -> Iterator[Screen]:
    calm = [each for each in SUMMARIES if each.slug in ("tiny", "pico")]
    target = f"{OPERATIONS}report.overview.run_summaries"
    several = {
        "herorun.runs.known_slugs": ["tiny"],
        "herorun.system.git.find_repository": None,
    }
    waits = RunSummary(slug="lyra", stage="launched", run="starting", final_step=100_000)
    warned_run = replace(
        calm[0],
        slug="vega",
        run="degraded",
        monitor="partial",
        alerts=(OpenAlert("throughput-leak", "warn", "pending", "a step takes 2.6 s"),),
    )
    over = replace(
        calm[0],
        slug="nova",
        run="finished",
        step=100_000,
        next_tick=None,
        alerts=(OpenAlert("stalled-steps", "info", "ended-unresolved", "no step for 14m"),),
    )
    for name, rows in {
        "calm": calm,
        "none": [],
        "unseen": [
            waits,
            warned_run,
            over,
            RunSummary(slug="mira", stage="initialised"),
            NEW,
            UNKNOWN_SUMMARY,
        ],
    }.items():
        yield Screen(f"watch-{name}", "watch", {**several, target: rows})
    run_list = f"{OPERATIONS}report.run_list.list_runs"
    yield Screen("list-none", "list", {**several, run_list: []})
    stages = [
        ListEntry(
            slug=slug,
            stage=stage,
            run="finished" if stage == "sealed" else None,
            monitor="",
            progress="200/200" if stage == "sealed" else "",
            last_seen="2026-01-01T11:45:00Z" if stage == "sealed" else None,
            instance="",
            error="",
        )
        for slug, stage in {
            "lyra": "not initialised",
            "mira": "initialised",
            "pico": "sealed",
        }.items()
    ]
    yield Screen("list-stages", "list", {**several, run_list: stages})
    new = status(
        RunSummary(slug="tiny", stage="not initialised"),
        stage="not initialised",
        record=None,
        pushed=None,
        instances=[],
        log="",
        progress="~unknown/100000",
        babysitter="none seen in this clone",
        next="herorun init tiny",
    )
    yield answered_by("status-new", "status tiny", "report.status.status_of_run", new)


NEW = RunSummary(slug="aria", stage="not initialised")
UNKNOWN_SUMMARY = RunSummary(slug="orca", stage="launched", run="unknown", monitor="stale")


# --- closer ---------------------------------------------------------------------------------------

NO_ROOT = (
    "The root /data/tiny could not be read: Stale file handle. Repeat the same command once it "
    "answers."
)
FITS: Mapping[str, tuple[DoctorPart, ...]] = {
    "ok": (DoctorPart("git", "remote origin", Fit.OK, "can be read: 12 refs"),),
    "unknown": (
        DoctorPart("git", "remote origin", Fit.OK, "can be read: 12 refs"),
        DoctorPart("tracker", "wandb tiny", Fit.UNKNOWN, "api.wandb.ai does not answer"),
    ),
}
REPLAYS = {
    "same": (Replay(at=NOON, version="0.1.0", same_rules=True, result=ReplayResult.SAME),),
    "unknown": (
        Replay(at=NOON, version="0.1.0", same_rules=True, result=ReplayResult.SAME),
        Replay(
            at=NOON,
            version="0.1.0",
            same_rules=True,
            result=ReplayResult.UNKNOWN,
            why="its evidence is not stored here",
        ),
    ),
}


def closer() -> Iterator[Screen]:
    unread_one = replace(
        a_checkpoint(300, problem="it could not be read: I/O error"), examined=False
    )
    listing = CheckpointListing((SizedCheckpoint(unread_one),), NOON)
    here = {"checkpoints__list__searched_roots": SearchedRoots(("/data/tiny",), (), ())}
    target = "checkpoints.list.list_with_refusals"
    argv = "checkpoints list tiny"
    yield answered_by("checkpoints-list-unread", argv, target, listing, **here)
    silent_roots = {"checkpoints__list__searched_roots": raising(CouldNotLook(NO_ROOT))}
    yield answered_by("checkpoints-list-unknown", argv, target, listing, **silent_roots)
    argv = "checkpoints plan tiny"
    silent = raising(CouldNotLook(NO_ROOT))
    yield answered_by("checkpoints-plan-unknown", argv, "checkpoints.list.make_plan", silent)
    for state, parts in FITS.items():
        yield Screen(f"doctor-{state}", "doctor", {f"{OPERATIONS}doctor.doctor.examine": parts})


def numbers() -> Iterator[Screen]:
    argv = "checkpoints prune tiny --plan plan.json"
    plan = {"checkpoints__list__read_plan": PLAN}
    paths = tuple(victim.path for victim in PLAN.victims)
    prune_outcome = Pruned(paths, (), 10 << 30)
    yield answered_by(
        "checkpoints-prune-all", argv, "checkpoints.prune.prune", prune_outcome, **plan
    )
    refused_outcome = Pruned(
        (), tuple((path, f"{path} must be kept: tiny-b starts from it") for path in paths), 0
    )
    yield answered_by(
        "checkpoints-prune-none", argv, "checkpoints.prune.prune", refused_outcome, **plan
    )
    mistyped_answer = raising(
        Blocked(
            "Nothing was deleted: what was typed is not the digest of this plan, which begins with "
            f"{PLAN.digest.removeprefix('sha256:')[:12]}."
        )
    )
    yield answered_by(
        "checkpoints-prune-typo", argv, "checkpoints.prune.prune", mistyped_answer, **plan
    )
    silent = raising(CouldNotLook(f"Nothing was deleted. {NO_ROOT}"))
    yield answered_by("checkpoints-prune-unknown", argv, "checkpoints.prune.prune", silent, **plan)
    for state, ticks in REPLAYS.items():
        outcome = ReplayedTicks("tiny", None, "sha256:aa", ticks)
        yield answered_by(f"replay-{state}", "replay tiny", "babysit.replay.replay_run", outcome)
    for kind in ("repeat", "resume", "curves"):
        outcome = CompareOutcome(*CURVES, kind, compare(*CURVES, []), ())
        argv = "compare tiny-1 tiny-2"
        yield answered_by(f"compare-{kind}", argv, "report.compare.compare_two", outcome)
    verdict = "tiny is healthy by what could be read at ~41200/100000 steps; no alert fires."
    report = RunReport(
        ReportDocument.model_construct(verdict=verdict, generated_at=timestamp(NOON)),
        (),
        (),
        "",
        blind=True,
    )
    page = {"report__html__page_of": ""}
    argv = "report tiny --out page.html"
    yield answered_by("report-unread", argv, "report.report.report_of", report, **page)
    no_record = raising(
        CouldNotLook(
            "tiny has no record here: `herorun status tiny` fetches it from the remote, "
            "`herorun init tiny` creates one."
        )
    )
    yield answered_by("goodput-unread", "goodput tiny", "report.goodput.account", no_record)
    for name, argv in {
        "backtest-calm": "backtest calm.csv",
        "backtest-short": "backtest short.csv",
        "backtest-drift": "backtest drift.csv",
        "triage-benign": "triage calm.log",
        "triage-unknown": "triage cut.log",
    }.items():
        yield Screen(name, argv, home=logs)


def logs(folder: Path) -> None:
    repository(folder)
    rows = [f"{step},{2.5 - step / 1000:.3f}\n" for step in range(200)]
    (folder / "calm.csv").write_text("step,loss\n" + "".join(rows))
    drift = [f"{step},{2 + abs(step - 100) / 1000:.3f}\n" for step in range(400)]
    (folder / "drift.csv").write_text("step,loss\n" + "".join(drift))
    (folder / "short.csv").write_text("step,loss\n1,2.5\n")
    (folder / "calm.log").write_text("step 1 loss 2.5\nstep 500/500 loss 2.1\nTraining complete\n")
    (folder / "cut.log").write_text("loading the data\n")


NOVA = crashed_alert(decision=dri_decides("herorun status nova", ONLY_OBSERVED), name="nova-1")
ENDED_JOB = crashed_alert(
    decision=dri_decides("herorun status --job 4711", "its babysitter has no resubmit command"),
    name="4711",
    dri="ada (inferred: the user who started the babysitter)",
)


def ticks() -> Iterator[Screen]:
    outcomes = [
        BatchResult("tiny", tick("healthy")[1]),
        BatchResult("nova", tick("down", alerts=[NOVA], progress=HALF)[1]),
        BatchResult("orca", None, "the record cannot be read: origin does not answer", 3),
    ]
    codes = iter([0, 1, 0, 1])
    several = {
        "herorun.system.git.find_repository": None,
        f"{OPERATIONS}babysit.batch.slugs_to_watch": ["tiny", "nova", "orca"],
        f"{OPERATIONS}babysit.fleet.tick_each": outcomes,
        f"{OPERATIONS}babysit.outcome.tick_exit_code": lambda _: next(codes),
    }
    yield Screen("babysit-all", "babysit --all --once", several)
    argv = "babysit --job 4711 --scheduler slurm --once"
    run = SimpleNamespace(
        job_id="4711",
        slug="slurm-4711",
        state_file="/work/scratch/20260101-1200_monitoring_state.json",
        record=SimpleNamespace(
            path="/home/ada/.local/state/herorun/jobs/slurm-4711-6a3f8e/journal.jsonl",
            memory=lambda: SimpleNamespace(
                instances=[SimpleNamespace(name="slurm-4711-6a3f8e-1", job="4711")]
            ),
        ),
        facts=SimpleNamespace(job="4711"),
    )
    message = AWAITED_ROW.message.replace("tiny-1", "slurm-4711-6a3f8e-1")
    awaited_rows = [AWAITED_ROW.model_copy(update={"message": message})]
    no_step: dict[str, Any] = {"progress": "~unknown/unknown", "cause": None}
    why = "the process is gone, and no record says how it ended: see its log"
    lost_job = a_job(JobState.GONE, instance="local-4711-6a3f8e-1", id="4711", reason=why)
    spec = JobSpec(job="4711", kind="local", log="/data/job.log")
    idle: Any = SimpleNamespace(reused=lambda _: False)
    last_tick = tick(
        "unknown",
        monitor="partial",
        unread=[f"Job: {why}"],
        doubts=job_doubts(idle, spec, {Job: lost_job}),
        why_gone=why,
        **no_step,
    )
    for name, (outcome, code) in {
        "healthy": (tick("healthy", cause=None), 0),
        "gone": (tick("down", alerts=[ENDED_JOB], cause=NODE), 1),
        "starting": (tick("starting", missing_evidence=awaited_rows, **no_step), 3),
        "down": (tick("down", alerts=[ENDED_JOB], cause=BUG), 1),
        "complex": (tick("down", alerts=[ENDED_JOB], cause=OOM), 1),
        "lost": (last_tick, 3),
    }.items():
        replacements = {
            "herorun.commands._adhoc._spec_from_options": lambda *_: None,
            f"{OPERATIONS}jobs.babysit.ready": (run, []),
            f"{OPERATIONS}jobs.babysit.tick_job": outcome[1],
            f"{OPERATIONS}babysit.outcome.tick_exit_code": code,
            f"{OPERATIONS}record.heartbeat.next_due": None,
        }
        typed_argv = argv
        if name == "lost":
            typed_argv, path = (
                argv.replace("slurm", "local"),
                run.record.path.replace("slurm", "local"),
            )
            lost_record = SimpleNamespace(path=path, memory=run.record.memory)
            lost_run = {**vars(run), "slug": "local-4711", "record": lost_record}
            replacements[f"{OPERATIONS}jobs.babysit.ready"] = (SimpleNamespace(**lost_run), [])
        yield Screen(f"babysit-job-{name}", typed_argv, replacements)


BUG = JobCause(
    failure="code-bug-small",
    file="train.py",
    line=72,
    excerpt="NameError: name 'x' is not defined",
    advice="Correct the name.",
)
OOM = JobCause(
    failure="oom-accelerator",
    file="job.log",
    line=812,
    excerpt="CUDA out of memory",
    advice="Shrink the batch.",
)
NODE = JobCause(
    tasks="2 of 4 tasks failed on node7", failure="node-failure", file="job.log", line=9
)
JOB = {"type": "slurm", "id": "4711", "last_status": "RUNNING", "description": "MMLU"}
SESSION = SimpleNamespace(id="s", agent="a", file="/work/.claude/agents/s/active_jobs.json")
DAMAGED_FILE = f"{SESSION.file}: it is not valid JSON at line 7; its complete entries were read"
NOT_THERE = "squeue is not on this machine"


def jobs() -> Iterator[Screen]:
    session = {f"{OPERATIONS}record.session.current_session": SESSION}
    entries = f"{OPERATIONS}record.session.read_jobs"
    yield Screen("jobs-list-damaged", "jobs list", {**session, entries: ([JOB], DAMAGED_FILE)})
    poll_target = f"{OPERATIONS}jobs.watch.check_jobs"
    states = {
        "calm": JobStatus(JOB, JobState.RUNNING, "RUNNING"),
        "failed": JobStatus(JOB, JobState.FAILED, "FAILED", result="exit code 1: KeyError: 'x'"),
        "done": JobStatus(JOB, JobState.SUCCEEDED, "COMPLETED", result="accuracy 0.71"),
    }
    for name, each in states.items():
        yield Screen(
            f"jobs-watch-{name}", "jobs watch --once", {**session, poll_target: ([each], "")}
        )
    yield Screen("jobs-watch-none", "jobs watch --once", {**session, poll_target: ([], "")})
    discover = f"{OPERATIONS}jobs.discover.find_jobs"
    nowhere = [JobPlace(place="slurm's queue", jobs=[], why=NOT_THERE)]
    yield Screen("jobs-find-unread", "jobs find", {**session, discover: nowhere})
    none = [JobPlace(place="slurm's queue", jobs=[], why="")]
    yield Screen("jobs-find-none", "jobs find", {**session, discover: none})


EARLY = "tiny-1 ended at step 41200 of 100000"
WAIT = {
    "herorun.system.process_registry.register_watcher": lambda *_: nullcontext(),
    f"{OPERATIONS}remote.wait.retire_earlier_waits": [],
    f"{OPERATIONS}remote.wait.now": NOON,
}


def machines() -> Iterator[Screen]:
    success = replace(
        HOSTS["down"],
        why="tiny-1 ended as succeeded: exit code 0",
        log=LogEnd(line="step 100000 loss 2.1", step=100_000, size=4000, age=720.0),
        succeeded=True,
        health=RunHealth.FINISHED,
    )
    hosts = {
        "done": success,
        "unconfirmed": replace(success, health=RunHealth.UNKNOWN, launched_at=NOON),
        "unsaved": replace(
            success,
            health=RunHealth.DEGRADED,
            launched_at=NOON,
            why="there is no checkpoint of the final step 100000",
        ),
        "ended-early": replace(
            success,
            health=RunHealth.DOWN,
            launched_at=NOON,
            why="tiny-1 ended with success at step 41200 of 100000",
            log=LogEnd(line="step 41200 loss 2.314", step=41_200, size=4000, age=720.0),
        ),
    }
    decides = {"ended-early": {"dri_decides": True}}
    for name, host in hosts.items():
        patrol, facts = "remote.patrol.patrol", decides.get(name, {})
        yield answered_by(f"patrol-{name}", "box patrol tiny", patrol, patrol_tick(host, **facts))
    observer = {f"{OPERATIONS}remote.wait.observer_of_run": waits_for(success)}
    yield Screen("wait-done", "box wait tiny --max 1", {**RUN_ANSWERS, **WAIT, **observer})
    for name in ("unsaved", "ended-early"):
        observer = {
            f"{OPERATIONS}remote.wait.observer_of_run": waits_for(
                hosts[name], **decides.get(name, {})
            )
        }
        yield Screen(f"wait-{name}", "box wait tiny --max 1", {**RUN_ANSWERS, **WAIT, **observer})
    slow = {f"{OPERATIONS}remote.wait.observer_of_run": waits_for(AT_WORK)}
    yield Screen(
        "wait-not-yet", "box wait tiny --step 50000 --max 1", {**RUN_ANSWERS, **WAIT, **slow}
    )
    run = SimpleNamespace(
        **{
            **vars(RUN),
            "channels": SimpleNamespace(all=("slack",)),
            "record": SimpleNamespace(remote="origin"),
        }
    )
    program = {f"{OPERATIONS}remote.timer._program": "/usr/bin/herorun"}
    for host in ("systemd", "actions"):
        replacements = {
            **RUN_ANSWERS,
            **program,
            "herorun.runs.watched_run": lambda *_, **__: (run, ""),
        }
        yield Screen(f"timer-{host}", f"box timer tiny --for {host}", replacements)
    raise_unread = raising(
        CouldNotLook("The record of tiny cannot be read: origin does not answer.")
    )
    argv = "box watchdog tiny"
    yield answered_by("watchdog-unknown", argv, "babysit.watchdog.watch_run", raise_unread)
    damaged_row = WatcherRow(None, Path("wait-4711.json"), "damaged", UNREADABLE, "forgotten")
    others = [
        UnregisteredProcess(4720, "herorun jobs watch", "watch over jobs"),
        UnregisteredProcess(4721, "rsync -a data/set/ gpu7:/data/set", "transfer"),
    ]
    processes = {
        f"{OPERATIONS}remote.watchers.reconcile": [damaged_row],
        "herorun.system.process_registry.others": others,
    }
    yield Screen("watchers-damaged", "box watchers", processes)
    yield Screen("error-no-chain", "box chain tiny", RUN_ANSWERS)


UNREADABLE = "its file cannot be read"


def orders() -> Iterator[Screen]:
    question = TrustQuestion(
        slug="tiny",
        repository=Path("/work"),
        items=('[scheduler] ssh_config = "~/.ssh/cluster_config"',),
        launches=(),
        ids=(),
        forged=(),
        seals=(),
    )
    store_answers = {"orders__trust__accept": None, "orders__trust__reject": None}
    target = "orders.trust.build_question"
    yield answered_by("trust-trusted", "trust tiny --yes", target, question, **store_answers)
    unproven = replace(question, items=(), launches=(UNPROVEN,), forged=("tiny-2",))
    yield answered_by("trust-unproven", "trust tiny", target, unproven)
    argv = "trust tiny --reject"
    yield answered_by("trust-rejected", argv, target, unproven, **store_answers)
    yield answered_by("trust-reject-nothing", argv, target, question, **store_answers)


UNPROVEN = "tiny-2 (2026-01-01 11:00 UTC, by eve): no published commit proves its launch"


def outcome_screens() -> Iterator[Screen]:
    yield from sealing()
    yield from init_screens()
    yield from verify_screens()
    yield from launches()
    yield from watching()
    yield from closer()
    yield from numbers()
    yield from ticks()
    yield from jobs()
    yield from machines()
    yield from orders()
