"""The screens of rarer states: a waived finding, a log that is followed, what was left out."""

import errno
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from builders import NOON, a_checkpoint, a_history, a_job, a_plan, a_tree, an_instance
from herorun.core.canonical_json import timestamp
from herorun.core.contract import ContractFile
from herorun.core.errors import CouldNotLook
from herorun.core.event import HandedOff
from herorun.core.evidence import (
    Adoptee,
    Checkpoints,
    History,
    JobState,
    Sourced,
    Unavailable,
    WaiverUse,
)
from herorun.core.finding import Waiver
from herorun.core.plan import Patch, Plan
from herorun.core.ports import Found, LogPart
from herorun.core.retention import SizedCheckpoint
from herorun.operations.babysit.ownership import must_be_ours
from herorun.operations.babysit.replay import ReplayedTicks
from herorun.operations.babysit.tick_json import dri_decides, dri_decides_by_note
from herorun.operations.checkpoints.list import CheckpointListing, SearchedRoots
from herorun.operations.checkpoints.prune import Pruned
from herorun.operations.launch.launch import LaunchOutcome
from herorun.operations.record.heartbeat import describe_hung
from herorun.operations.remote.watchers import WatcherRow
from herorun.operations.report.babysitter_state import _describe_next_owner, _starter
from herorun.operations.report.report import RunReport
from herorun.operations.report.status import QUESTION_NEXT
from herorun.schemas.evaluations import Failure
from herorun.schemas.parts import AlertEntry
from herorun.schemas.reports import ReportDocument
from screens.catalogue import AT_WORK, PLAN, WAIT, patrol_tick
from screens.orders import ASKED_MEMORY, CRASHED_MEMORY as DOWN, MEMORY, order_screen, run_with
from screens.outcomes import (
    JOB,
    LAUNCHED_EVENT,
    OPERATIONS,
    REPLAYS,
    SESSION,
    WATCHES,
    answered_by,
    logs,
    raising,
)
from screens.rendering import Screen
from screens.states import (
    FULL_PROGRESS,
    HEALTHY,
    INSTANCE,
    ONLY_OBSERVED,
    QUESTION,
    RUN,
    RUN_ANSWERS,
    SLOW,
    WAITS,
    crashed_alert,
    first_row,
    preflight,
    status,
    tick,
)

# --- the launch gate ------------------------------------------------------------------------------

DIRTY = a_tree(unstaged=("train.py",))
SIGNED_WAIVER = Waiver("dirty-tree", "generated files, reviewed", "@dri", NOON + timedelta(days=7))
OWN = (a_checkpoint(150), a_checkpoint(100))
PAST = a_history(1)
FROM_NEWEST = a_plan(RUN.contract, OWN, history=PAST)
NO_STEP = replace(
    FROM_NEWEST,
    start=replace(FROM_NEWEST.start, value=replace(FROM_NEWEST.start.value, step=None)),
)
SNAPSHOT = replace(
    a_plan(RUN.contract), patch=Sourced(Patch("5a" * 20, "7b" * 20, "sha256:d1ff"), "a waiver")
)
NO_CONFIG = "config.toml is not in commit 3f2a9c1d0: commit it, or fix [config] files in"
NOT_COMMITTED = ContractFile("runs/tiny.toml", 'slug = "tiny"\n')
ADOPTING = "launch tiny --adopt 4711"


def gates() -> Iterator[Screen]:
    target = "launch.preflight.preflight"
    for name, outcome in {
        "waived": preflight(DIRTY, plan=SNAPSHOT, waivers=(SIGNED_WAIVER,)),
        "warning": preflight(WaiverUse(unused=(SIGNED_WAIVER,))),
        "newest": preflight(PAST, Checkpoints(OWN), plan=FROM_NEWEST),
        "no-step": preflight(PAST, Checkpoints(OWN), plan=NO_STEP),
        "uncommitted": preflight(NOT_COMMITTED, History()),
        "unplanned": outcome_without_plan(),
    }.items():
        yield answered_by(f"preflight-{name}", "preflight tiny", target, outcome)
    proposing = {
        f"{OPERATIONS}orders.waive.open_run": SimpleNamespace(
            **vars(RUN), file=SimpleNamespace(path="runs/tiny.toml")
        ),
        f"{OPERATIONS}orders.waive.preflight": preflight(),
        f"{OPERATIONS}orders.waive.now": NOON,
    }
    yield Screen("waive-none", "waive dirty-tree tiny", {**RUN_ANSWERS, **proposing})
    adoptee = Adoptee(a_job(id="4711"), "slurm")
    refusal = LaunchOutcome(preflight=preflight(DIRTY, adoptee), launched=None)
    yield answered_by("launch-adopt-blocked", ADOPTING, "launch.launch.launch", refusal)
    adoption = LaunchOutcome(
        preflight=preflight(adoptee),
        launched=replace(LAUNCHED_EVENT, job="4711"),
        babysitter=WATCHES.replace("4711", "31337"),
        adopted=adoptee,
    )
    yield answered_by("launch-adopted", ADOPTING, "launch.launch.launch", adoption)


def outcome_without_plan() -> Any:
    """Without the config, which is in no commit, there is no plan."""
    no_config = Unavailable(f"{NO_CONFIG} runs/tiny.toml", "file config.toml")
    outcome = preflight(a_tree(untracked=("config.toml",)), {Plan: no_config})
    return replace(outcome, plan=None, submission=None)


# --- logs -----------------------------------------------------------------------------------------


class FastTime:
    """Instead of the module `time`: each look is long after the one before, and nothing waits."""

    seconds = count(0.0, 60.0)

    @classmethod
    def monotonic(cls) -> float:
        return next(cls.seconds)

    @staticmethod
    def sleep(_: float) -> None:
        pass


def part(text: str, **changes: Any) -> LogPart:
    return LogPart(text.encode(), len(text), len(text), "mark", **changes)


class GrowingLog:
    """A scheduler whose log appears, is empty, is unreadable, grows, and is replaced."""

    def __init__(self) -> None:
        self.parts = iter(
            (
                FileNotFoundError(),
                part(""),
                CouldNotLook("node7 does not answer: connection timed out"),
                part("step 119 loss 2.51\n"),
                part("step 120 loss 2.50\n", restarted=True),
            )
        )
        self.states = iter((*[JobState.RUNNING] * 5, JobState.SUCCEEDED))

    def read_log(self, *_: Any) -> LogPart:
        answer = next(self.parts, part(""))
        if isinstance(answer, Exception):
            raise answer
        return answer

    def find(self, *_: Any) -> Found:
        return Found(a_job(next(self.states)))


def log_screens() -> Iterator[Screen]:
    reads = {
        **RUN_ANSWERS,
        f"{OPERATIONS}report.logs.instance_of": an_instance(1),
        f"{OPERATIONS}report.logs.time": FastTime,
        "herorun.runs.watched_run": lambda *_, **__: (
            SimpleNamespace(**{**vars(RUN), "scheduler": GrowingLog()}),
            "",
        ),
    }
    yield Screen("logs-follow", "logs tiny -f", reads)
    yield Screen("logs-none", "logs tiny", reads)


# --- watching -------------------------------------------------------------------------------------


GIVEN_AWAY = replace(MEMORY, handed=HandedOff(NOON - timedelta(minutes=50), "bob@node8", {}))


def _next_owner() -> str:
    assert GIVEN_AWAY.handed is not None
    with patch(f"{OPERATIONS}report.babysitter_state.now", lambda: NOON):
        return _describe_next_owner(run_with(GIVEN_AWAY), GIVEN_AWAY.handed)


def _describe_idle() -> str:
    """The last tick was one by `--once`."""
    starter = _starter(run_with(MEMORY), "herorun preflight tiny")
    return f"not running, last heartbeat 1m0s ago{starter}"


def _hung() -> str:
    heart = {"pid": 4711, "owner": "ada@box"}
    document = patch(f"{OPERATIONS}record.heartbeat._document", lambda _: heart)
    beat = NOON - timedelta(minutes=50)
    with document, patch(f"{OPERATIONS}record.heartbeat.last_heartbeat", lambda _: beat):
        return describe_hung(run_with(MEMORY, state=Path("/work/.herorun/tiny")))


def _refused_alert() -> AlertEntry:
    """The launch checks refused a relaunch, and only `babysit --once` has run."""
    doubt = ", but no babysitter runs now (see `babysitter`)"
    return crashed_alert(done={"escalate/relaunch/tiny-1/gate": ""}, wake=NOON, doubt=doubt)


def watching() -> Iterator[Screen]:
    down = replace(HEALTHY, run="down", next_tick=None)
    past = replace(HEALTHY, run="finished", step=100_001, next_tick=None, checkpoint_step=100_000)
    takeover = "herorun handoff tiny --take --wait 31m && herorun relaunch tiny"
    decision_text = dri_decides("herorun relaunch tiny", ONLY_OBSERVED)
    for name, values in {
        "dri-decides": status(
            down, alerts=[crashed_alert(decision=decision_text)], next="herorun relaunch tiny"
        ),
        "elsewhere": status(
            down,
            alerts=[crashed_alert(decision=dri_decides_by_note(ONLY_OBSERVED))],
            next=takeover,
            babysitter="eve@node7 holds the lease; no babysitter runs in this clone; another clone "
            "recorded a tick 1m0s ago",
        ),
        "one-step-more": status(
            past,
            progress=FULL_PROGRESS.replace("100000/", "100001/"),
            next="herorun seal tiny",
            babysitter="stopped (the run is finished), last heartbeat 2m0s ago",
            monitor="not-needed",
        ),
        "other-version": status(questions=["escalate/judge/0.2.0"]),
        "relaunch-blocked": status(
            down,
            alerts=[crashed_alert(decision=QUESTION_NEXT)],
            questions=[QUESTION],
            next="herorun preflight tiny",
        ),
        "just-submitted": status(
            WAITS,
            progress="~unknown/100000",
            log="",
            instances=[INSTANCE.model_copy(update={"started": NOON})],
            missing_evidence=[first_row(NOON)],
        ),
        "handed-over": status(
            replace(HEALTHY, next_tick=None), babysitter=_next_owner(), monitor="stale"
        ),
        "babysitter-hangs": status(
            replace(HEALTHY, next_tick=NOON - timedelta(minutes=45)),
            babysitter=f"overdue: {_hung()}",
            monitor="stale",
        ),
        "refused-relaunch": status(
            down,
            alerts=[_refused_alert()],
            questions=["escalate/relaunch/tiny-1/gate"],
            babysitter=_describe_idle(),
            next="herorun preflight tiny",
            dri_decides=False,
        ),
    }.items():
        yield answered_by(f"status-{name}", "status tiny", "report.status.status_of_run", values)

    def refuse(*_: Any) -> None:
        must_be_ours(run_with(GIVEN_AWAY), GIVEN_AWAY)

    elsewhere = {**RUN_ANSWERS, f"{OPERATIONS}babysit.loop.tick_once": refuse}
    yield Screen("babysit-handed-over", "babysit tiny --once", elsewhere)
    run = run_with(replace(MEMORY, launchings={"tiny-1": SimpleNamespace(relaunch_of="")}))
    end = tick("degraded", alerts=[SLOW], push="origin does not answer")[1]

    def watch(_: str, __: Path, report: Any, *___: Any, **____: Any) -> int:
        report(run, end)
        return 0

    replacements = {**RUN_ANSWERS, f"{OPERATIONS}babysit.loop.watch": watch}
    yield Screen("babysit-until", "babysit tiny --until step=41200", replacements)


# --- orders ---------------------------------------------------------------------------------------


def orders() -> Iterator[Screen]:
    loop = {"order__is_locked": True, "order__is_hung": False}
    approving = order_screen("approve tiny", ASKED_MEMORY, **loop)
    yield replace(approving, name="approve-monitored")
    owner = {"other_babysit_owner": "eve@node7"}
    yield replace(order_screen("approve tiny", ASKED_MEMORY, owner), name="approve-elsewhere")
    observing = order_screen("approve tiny", ASKED_MEMORY, order__last_tick_elsewhere=NOON)
    yield replace(observing, name="approve-other-clone")
    no_question = replace(DOWN, done={})
    acknowledging = order_screen(
        "ack tiny", no_question, acknowledge__memory_for_orders=no_question
    )
    yield replace(acknowledging, name="ack-relaunches")
    clock = {
        f"{OPERATIONS}orders.waive.now": NOON,
    }
    yield Screen("waive-no-run", "waive dirty-tree", clock, home=files)


# --- what was left out, or found nothing ----------------------------------------------------------


def closer() -> Iterator[Screen]:
    listing = CheckpointListing((SizedCheckpoint(a_checkpoint(300)),), NOON)
    roots = {
        "checkpoints__list__searched_roots": SearchedRoots(("/data/tiny",), ("/data/old",), ())
    }
    target, argv = "checkpoints.list.list_with_refusals", "checkpoints list tiny"
    yield answered_by("checkpoints-list-missing", argv, target, listing, **roots)
    plan = {"checkpoints__list__read_plan": replace(PLAN, victims=())}
    argv = "checkpoints prune tiny --plan plan.json"
    nothing = Pruned((), (), 0)
    yield answered_by("checkpoints-prune-empty", argv, "checkpoints.prune.prune", nothing, **plan)
    ticks = ReplayedTicks("tiny", None, "sha256:aa", REPLAYS["same"])
    screen = answered_by("replay-admitted", "replay tiny", "babysit.replay.replay_run", ticks)
    drift = RUN, "final_step is 200 in the admitted contract and 300 in the file"
    yield replace(screen, answers={**screen.answers, "herorun.runs.watched_run": drift})
    verdict = "tiny is healthy at ~41200/100000 steps; no alert fires."
    report = RunReport(
        ReportDocument.model_construct(verdict=verdict, generated_at=timestamp(NOON)), (), (), ""
    )
    screen = answered_by(
        "report-no-browser",
        "report tiny --out page.html --open",
        "report.report.report_of",
        report,
        report__html__page_of="",
    )
    yield replace(screen, answers={**screen.answers, "webbrowser.open": False})
    failure = Failure.model_construct(
        file="tiny",
        class_="not-a-failure",
        frame=None,
        line=None,
        excerpt="tiny has not been launched",
        advice="",
    )
    run_read = {f"{OPERATIONS}health.diagnose.run_diagnosed": failure}
    yield Screen("triage-run", "triage", {**RUN_ANSWERS, **run_read})
    yield Screen("explain-always", "explain uncommitted-contract")
    for name, argv in {
        "triage-exit-code": "triage calm.log --exit-code 139",
        "triage-none": "triage",
        "backtest-unjudged": "backtest short.csv empty.csv other.csv",
    }.items():
        yield Screen(name, argv, home=files)


def files(folder: Path) -> None:
    logs(folder)
    (folder / "runs" / "other.toml").write_text('slug = "other"\n')
    (folder / "empty.csv").write_text("no columns\n")
    (folder / "other.csv").write_text("step,colour\n1,2\n")


# --- machines and jobs ----------------------------------------------------------------------------


def machines() -> Iterator[Screen]:
    notifying = {"remote__patrol_news__send_patrol": ["slack does not answer within 10 s"]}
    observation = patrol_tick(AT_WORK)
    argv = "box patrol tiny --notify"
    yield answered_by("patrol-not-notified", argv, "remote.patrol.patrol", observation, **notifying)
    stuck_row = WatcherRow(WAIT, Path("a"), "stale", "tiny is sealed", "could not be retired")
    processes = {
        f"{OPERATIONS}remote.watchers.reconcile": [stuck_row],
        "herorun.system.process_registry.others": [],
    }
    yield Screen("watchers-stuck", "box watchers", processes)
    session = {f"{OPERATIONS}record.session.current_session": SESSION}
    new = {**JOB, "last_status": "", "last_queried": ""}
    entries = {f"{OPERATIONS}record.session.read_jobs": ([new], "")}
    yield Screen("jobs-list-new", "jobs list", {**session, **entries})
    registering = {f"{OPERATIONS}record.registry.register": None}
    argv = "jobs add local /data/jobs/loose-1 --no-watch"
    yield Screen("jobs-add-unwatched", argv, {**session, **registering})
    pages = {"remote__runbook__write_page": Path("/work/.herorun/tiny/runbook.md")}
    yield answered_by("runbook-file", "box runbook tiny", "remote.runbook.page_of", "", **pages)


# --- what goes wrong ------------------------------------------------------------------------------


def wrong() -> Iterator[Screen]:
    for name, argv in {
        "no-force": "launch tiny --force",
        "watch-once": "watch --once",
        "json-before": "checkpoints --json",
        "several-runs": "seal",
    }.items():
        yield Screen(name, argv, home=files)
    target = "launch.preflight.preflight"
    for name, code in {"full-disk": errno.ENOSPC, "no-access": errno.EACCES}.items():
        error = OSError(code, {errno.ENOSPC: "No space left on device"}.get(code, "Denied"), "/x")
        yield answered_by(f"error-{name}", "preflight tiny", target, raising(error))


def detail_screens() -> Iterator[Screen]:
    yield from gates()
    yield from log_screens()
    yield from watching()
    yield from orders()
    yield from closer()
    yield from machines()
    yield from wrong()
