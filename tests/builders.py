"""A healthy run, piece by piece; a test changes the one thing that it is about."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from herorun.core.check import Check, Gate, evaluate
from herorun.core.contract import Contract, ContractFile, contract_from
from herorun.core.evidence import (
    Admitted,
    Adoptee,
    Approvals,
    Bundle,
    Cadence,
    Candidate,
    ChannelState,
    Checkpoints,
    CodeChange,
    CodeFlags,
    Container,
    ContractDrift,
    DataFound,
    Disk,
    Disks,
    Environment,
    Excursion,
    FinalStep,
    Gaps,
    HealthAssessment,
    Heartbeat,
    History,
    IgnoredDirectives,
    ImportClosure,
    Installed,
    Instance,
    IssuePage,
    Job,
    JobLog,
    JobState,
    LateReceipts,
    LaunchedEdits,
    Launcher,
    LaunchProof,
    LeaseSeen,
    LeftCheckpoints,
    LiveJobs,
    Metrics,
    MilestoneCheckpoint,
    Nothing,
    NotifiedBy,
    Now,
    Offered,
    OpenLaunch,
    OtherRoots,
    OutputRoots,
    OwnSecrets,
    OwnVersion,
    PrintedPatterns,
    PriorLaunch,
    Published,
    Receipt,
    RecordedEdits,
    RecordState,
    RecoverySource,
    Remotes,
    RemoteTips,
    RequestReview,
    RootAtEnd,
    RootFacts,
    SaveTime,
    Sealing,
    SecretNames,
    Snapshot,
    SourceLaunches,
    SourceLoss,
    SourceRun,
    StartSiblings,
    TrackerAlerts,
    TrackerEnvironment,
    TrackerIdentity,
    TrackerMentions,
    TrackerTraits,
    Triage,
    Undelivered,
    Unfinished,
    Waivers,
    WaiverUse,
    Watch,
    WorkTree,
)
from herorun.core.finding import Verdict
from herorun.core.plan import Plan
from herorun.core.plan.build import Sources, make_plan
from herorun.core.ports import Row, tracker_traits
from herorun.trackers.wandb import Wandb
from herorun.trackers.wandb_offline import WandbOffline
from screens.wording import pin_wording

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
EVERY = 15 * MINUTE  # the cadence
COMMIT = "3f2a9c1d0e4b5a697887766554433221100ffeed"
ROOT, TEMPORARY, PARENT = "/data/tiny", "/data/tiny-temporary", "/data/parent"
FINAL = 200

SMALL: Mapping[str, Any] = {
    "slug": "tiny",
    "goal": "show the whole path",
    "dri": "@dri",
    "final_step": FINAL,
    "command": {"argv": ["python", "train.py", "--config", "config.toml"]},
    "config": {"files": ["config.toml"]},
    "output": {"root": ROOT, "temporary_root": TEMPORARY},
    "checkpoints": {"permanent_every": 100, "temporary_every": "15m", "keep": 10},
    "tracker": {"kind": "jsonl", "path": "metrics.jsonl", "id": "tiny", "name": "tiny"},
}


# --- the contract and the plan --------------------------------------------------------------------


def a_contract(**changes: Any) -> Contract:
    """The small contract. A table given as a mapping is merged into its own; None takes a key
    away.
    """
    return _read_contract(**changes) if changes else _small_contract()


@cache
def _small_contract() -> Contract:
    return _read_contract()


def _read_contract(**changes: Any) -> Contract:
    data = dict(SMALL)
    for key, value in changes.items():
        data[key] = {**data.get(key, {}), **value} if isinstance(value, Mapping) else value
    return contract_from(_without_none(data), "runs/tiny.toml")


def _without_none(data: Mapping[str, Any]) -> dict[str, Any]:
    present = {key: value for key, value in data.items() if value is not None}
    return {k: _without_none(v) if isinstance(v, Mapping) else v for k, v in present.items()}


def a_plan(
    contract: Contract | None = None,
    own: Iterable[Candidate] = (),
    beside: Iterable[Candidate] = (),
    history: History | None = None,
    config: Mapping[str, Any] | None = None,
    environment: Environment | None = None,
) -> Plan:
    """The plan that these make, as `launch` makes it."""
    sources = Sources("sha256:c0de", config or {"seed": 7}, "config.toml", "runs/tiny.toml")
    return make_plan(
        contract=contract or a_contract(),
        tree=a_tree(),
        sources=sources,
        checkpoints=Checkpoints(tuple(own)),
        siblings=StartSiblings(tuple(beside)),
        history=history or History(initialised=True),
        environment=environment or Environment(),
    )


# --- the source tree ------------------------------------------------------------------------------


def a_tree(**changes: Any) -> WorkTree:
    return WorkTree(**{"commit": COMMIT, "branch": "main", **changes})


# --- checkpoints ----------------------------------------------------------------------------------


def a_checkpoint(
    step: int, root: str = ROOT, problem: str = "", temporary: bool = False
) -> Candidate:
    return Candidate(
        path=f"{root}/step-{step}",
        step=step,
        root=root,
        temporary=temporary,
        timestamp="2026-01-01T11:30:00",
        problem=problem,
    )


# --- jobs -----------------------------------------------------------------------------------------


def a_job(state: JobState = JobState.RUNNING, instance: str = "tiny-1", **changes: Any) -> Job:
    fields = {"id": f"job-{instance}", "started": NOON - 60 * MINUTE, **changes}
    return Job(instance=instance, state=state, **fields)


def a_crashed_job(**changes: Any) -> Job:
    return a_job(JobState.FAILED, **{"signal": "SIGKILL", "ended": NOON, **changes})


# --- what the run reports -------------------------------------------------------------------------


def some_metrics(step: int = 100, **changes: Any) -> Metrics:
    fields = {
        "rows": step,
        "advanced_at": NOON - timedelta(seconds=20),
        "high_water": step,
        **changes,
    }
    return Metrics(step=step, **fields)


def an_excursion(
    rows: int,
    peak: float = 1.6,
    metric: str = "loss",
    first: int = 90,
    steps: int | None = None,
    is_open: bool = True,
) -> Excursion:
    """A stretch of `rows` rows over `steps` steps (as many as rows where it is not said)."""
    return Excursion(
        metric=metric,
        first_step=first,
        last_step=first + (steps or rows) - 1,
        rows=rows,
        peak=peak,
        expected=2.0,
        open=is_open,
    )


def a_receipt(instance: str = "tiny-1", outcome: str = "pass", **changes: Any) -> Receipt:
    return Receipt(**{"instance": instance, "attempt": 1, "outcome": outcome, **changes})


def a_row(step: int, loss: float | None = None, at: datetime | None = None, **values: float) -> Row:
    losses = {"train/loss": loss} if loss is not None else {}
    return Row(step, {**losses, **values}, at or NOON + timedelta(seconds=step))


# --- what we remember -----------------------------------------------------------------------------


def an_instance(number: int = 1, **changes: Any) -> Instance:
    fields = {
        "name": f"tiny-{number}",
        "number": number,
        "job": f"job-tiny-{number}",
        "plan_digest": "sha256:p1a4",
        "output_root": ROOT,
        "temporary_root": TEMPORARY,
        "started": NOON - 60 * MINUTE,
        "intended": NOON - 61 * MINUTE,
        "commit": COMMIT,
    }
    return Instance(**{**fields, **changes})


def a_history(count: int = 1, **changes: Any) -> History:
    fields = {
        "initialised": True,
        "instances": tuple(an_instance(n + 1) for n in range(count)),
        "last_tick": NOON - EVERY if count else None,
    }
    return History(**{**fields, **changes})


# --- a gate ---------------------------------------------------------------------------------------


def healthy(gate: Gate) -> dict[Any, Any]:
    """Every evidence type of a gate, of a run that passes all its checks."""
    return dict(_healthy_values(gate))


@cache
def _healthy_values(gate: Gate) -> Mapping[Any, Any]:
    """Made once: it takes 2 ms, and thousands of tests begin with it."""
    is_at_seal = gate is Gate.SEAL
    step = FINAL if is_at_seal else 100
    history = a_history(0 if gate is Gate.LAUNCH else 1)
    values = [
        a_contract(),
        a_plan(),
        a_tree(),
        a_job(JobState.SUCCEEDED if is_at_seal else JobState.RUNNING),
        some_metrics(step, last={"train/loss": 2.5}),
        a_receipt(),
        history,
        Admitted((("argv", "pass", "as admitted"), ("code", "pass", "9 of 9 files as admitted"))),
        Cadence(EVERY),
        ContractFile("runs/tiny.toml", "text", "text"),
        Checkpoints((a_checkpoint(step),) if history.instances else ()),
        FinalStep(FINAL, "runs/tiny.toml"),
        Gaps((), 9),
        HealthAssessment(),
        Launcher("dri@here", "Dri"),
        LiveJobs(),
        Now(NOON),
        OutputRoots({ROOT: None, TEMPORARY: None}),
        Published(
            remote="origin",
            commit=COMMIT,
            refs=("refs/heads/main",),
            ref="refs/heads/main",
            tip=COMMIT,
        ),
        RootFacts({ROOT: None, TEMPORARY: None}),
        SecretNames(),
        Watch(),
        IssuePage("issue.md"),
        NotifiedBy(),
        WaiverUse(),
        DataFound(),
        TrackerMentions(),
        Installed("python"),
        Environment(),
        CodeFlags(),
        Offered(),
        RequestReview(where="the cluster"),
        IgnoredDirectives({"train.sh": ()}),
        OtherRoots(),
        TrackerTraits(),
        ImportClosure(frozenset({"train.py"}), "train.py"),
        RecordState(COMMIT, COMMIT, "origin"),
        RemoteTips("origin", {}),
        Remotes({"origin": "https://example.org/tiny.git"}),
        StartSiblings(),
        Unfinished(),
        Disks({ROOT: Disk(100 << 30, 200 << 30, 1_000_000)}),
        Heartbeat(True, NOON - EVERY),
        JobLog(),
        LeaseSeen(
            owner="dri@here", slug="tiny", unchanged_since=NOON - EVERY, modified=NOON - EVERY
        ),
        OwnSecrets(),
        OwnVersion("0.1.0"),
        RecoverySource(f"{ROOT}/step-100", 100),
        SaveTime(40.0),
        TrackerAlerts(),
        Undelivered(),
        LaunchProof(),
        Waivers(),
        Approvals(),
        Sealing(),
        LaunchedEdits(),
    ]
    evidence: dict[Any, Any] = {type(value): value for value in values}
    return evidence | dict.fromkeys(_NOT_YET, Nothing("there is none in a healthy first launch"))


_NOT_YET = (
    Adoptee,
    Bundle,
    ChannelState,
    CodeChange,
    Container,
    ContractDrift,
    LateReceipts,
    LeftCheckpoints,
    MilestoneCheckpoint,
    OpenLaunch,
    PrintedPatterns,
    PriorLaunch,
    RecordedEdits,
    RootAtEnd,
    Snapshot,
    SourceLaunches,
    SourceLoss,
    SourceRun,
    TrackerEnvironment,
    TrackerIdentity,
    Triage,
)


def traits_of(kind: str) -> TrackerTraits:
    """What our own adapter of the kind declares, without a connection."""
    return tracker_traits({"wandb": Wandb, "wandb_offline": WandbOffline}.get(kind))


def answers(check: Check, *changes: Any, limits: Any = None) -> list[Verdict]:
    """Ask a check about a healthy run, but for these: evidence values, or
    `{type: Nothing() or Unavailable()}`.
    """
    evidence = healthy(check.gate)
    for change in changes:
        evidence |= change if isinstance(change, dict) else {type(change): change}
    findings = evaluate([check], evidence, {check.name: limits} if limits else {})
    verdicts = [finding.verdict for finding in findings]
    pin_wording(check, verdicts)
    return verdicts


def answer(check: Check, *changes: Any, limits: Any = None) -> Verdict:
    """The same, of a check that gives one answer."""
    (verdict,) = answers(check, *changes, limits=limits)
    return verdict
