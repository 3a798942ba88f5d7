"""The screens of orders that are refused, repeated, or end in doubt."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from functools import partial
from itertools import cycle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from builders import NOON, a_checkpoint, a_contract, a_job
from herorun.core.check import AtRelaunch, Gate
from herorun.core.event import Launching
from herorun.core.evidence import (
    Checkpoints,
    FinalStep,
    GivenUp,
    History,
    JobState,
    LeaseSeen,
    Metrics,
    Published,
    RecordState,
    RemoteTips,
    Unavailable,
    Watch,
)
from herorun.core.finding import Outcome
from herorun.core.gate_verdict import verdict_of
from herorun.core.notify.escalation import Option, ProposedCommand, command_of
from herorun.core.ports import Found, Unknown
from herorun.core.record.lease import Lease
from herorun.core.recovery.classify import Cause
from herorun.core.recovery.policy import RelaunchAnswer
from herorun.gate import GateReport
from herorun.operations.launch.propose import reason_option
from herorun.operations.launch.relaunch import Successor, start_again
from herorun.operations.launch.rollback_target import target_of
from herorun.operations.orders.handoff import take_over
from screens.orders import (
    ACKED,
    AGO,
    ASKED,
    CRASH,
    MEMORY,
    ORDERS,
    PAUSED,
    PREVIEW,
    STARTED,
    TAKING,
    ordered,
)
from screens.rendering import Screen
from screens.states import FORGOTTEN_JOB, NO_ANSWER, NO_REMOTE, gate

LAUNCHING = Launching(
    at=NOON - timedelta(hours=9),
    instance="tiny-1",
    number=1,
    plan={"start": {"value": None}},
    plan_digest="sha256:p1a4",
    why="launch",
    contract_file="runs/tiny.toml",
    where="ada@box:/work",
)
LIVE = replace(MEMORY, launchings={"tiny-1": LAUNCHING})
SUCCESSOR = replace(
    LAUNCHING,
    instance="tiny-2",
    number=2,
    relaunch_of="tiny-1",
    given_up=GivenUp(41_000, NOON - timedelta(minutes=5)),
)
SEALED = replace(MEMORY, sealed=SimpleNamespace(tag="herorun/tiny/seal-1"))
SILENT = Unknown(NO_ANSWER)
LOST = Unknown(FORGOTTEN_JOB.why, forgotten=True)
UNCLEAR = Found(a_job(JobState.UNKNOWN, reason="node7 does not answer since 11:40"))
TAKEN = Watch(lease_owner="eve@node7", lease_slug="tiny")
SILENT_ORIGIN = dict.fromkeys((History, Published, RemoteTips, RecordState), NO_REMOTE)
SAVED = Checkpoints(
    (
        replace(a_checkpoint(40_000), examined=True),
        replace(a_checkpoint(41_000, problem="metadata.json is missing"), examined=True),
    )
)
SETTLED = {
    f"{room}__{name}": value
    for room in ("relaunch", "rollback", "stop")
    for name, value in {"settle_instance": "tiny-1"}.items()
}
AGAIN: Any = None, Successor("tiny-1", "ordered by ada", "ada@box")
BACK = (
    "go back to the checkpoint of step 40000; later relaunches do not use the checkpoints saved "
    "after it"
)


def raising(error: Exception) -> Callable[..., Any]:
    def raises(*_: Any, **__: Any) -> None:
        raise error

    return raises


def named(name: str, screen: Screen) -> Screen:
    return replace(screen, name=name)


def asking(argv: str, answer: Any, **answers: Any) -> Screen:
    """An order of which the scheduler says this."""
    scheduler = SimpleNamespace(cluster_wide=True, find=lambda *_: answer)
    return ordered(argv, LIVE, {"scheduler": scheduler}, **SETTLED, **answers)


def offer(way: Option, effect: str, step: int | None = None, reason: str = "") -> Any:
    return (
        ProposedCommand(f"{command_of(way, 'tiny', step=step)}{reason_option(reason)}", effect),
    )


def relaunch_gate(*changes: Any) -> GateReport:
    """The answer of the checks that a relaunch asks, as `gate.run_relaunch_gate` counts it."""
    report = gate(Gate.LAUNCH, *changes)
    checks = {n: c for n, c in report.checks.items() if c.at_relaunch is not AtRelaunch.SKIP}
    findings = [each for each in report.findings if each.check in checks]
    decisive = [
        each
        for each in findings
        if each.verdict.outcome is not Outcome.UNKNOWN
        or checks[each.check].at_relaunch is not AtRelaunch.WARN
    ]
    return GateReport(Gate.LAUNCH, verdict_of(decisive, checks), findings, checks, report.evidence)


def through_the_gate(*changes: Any) -> dict[str, Any]:
    """A start that the launch gate decides on, with these pieces of evidence."""
    return {
        "herorun.operations.launch.relaunch.gate_of": relaunch_gate(*changes),
        f"{ORDERS}relaunch.relaunch_once": lambda run, *_, **__: start_again(run, *AGAIN),
    }


def refused(name: str, argv: str, *changes: Any) -> Screen:
    screen = ordered(argv, LIVE, **STARTED)
    return replace(screen, name=name, given={**screen.given, **through_the_gate(*changes)})


def relaunches() -> Iterator[Screen]:
    running = {**SETTLED, "relaunch__find_job": a_job()}
    again = offer(Option.STOP_AND_RELAUNCH, "stop the job and start it again from step 41000")
    running["relaunch___propose_commands"] = again
    yield named("relaunch-running", ordered("relaunch tiny", LIVE, **running))
    numeric = replace(LIVE, endings={"tiny-1": SimpleNamespace(cause=Cause.NUMERIC, seen="")})
    back = {"relaunch___propose_commands": offer(Option.ROLLBACK, BACK, 40_000)}
    yield named("relaunch-numeric", ordered("relaunch tiny", numeric, **STARTED, **back))
    yield named("relaunch-unknown", asking("relaunch tiny", SILENT))
    yield named("relaunch-forgotten", asking("relaunch tiny", LOST))
    yield named("relaunch-in-doubt", asking("relaunch tiny", UNCLEAR))
    yield refused("relaunch-blocked", "relaunch tiny", TAKEN)
    yield refused("relaunch-unread", "relaunch tiny", SILENT_ORIGIN)
    yield named("relaunch-sealed", ordered("relaunch tiny", SEALED))
    unmonitored = {"relaunch__start_watch": lambda *_, **__: ("not running", NOT_STARTED)}
    relaunched = replace(
        LIVE,
        done={"relaunch/tiny-1": "tiny-2"},
        launchings={"tiny-1": LAUNCHING, "tiny-2": SUCCESSOR},
    )
    yield named(
        "relaunch-unmonitored", ordered("relaunch tiny", relaunched, **{**STARTED, **unmonitored})
    )
    repeated = {
        **STARTED,
        "relaunch__settle_instance": "tiny-2",
        "relaunch__find_job": a_job(instance="tiny-2"),
        "relaunch__just_ordered": True,
    }
    yield named("relaunch-again", ordered("relaunch tiny", relaunched, **repeated))
    ended = {
        **repeated,
        "relaunch__find_job": a_job(JobState.FAILED, instance="tiny-2"),
        "relaunch___propose_commands": offer(
            Option.RELAUNCH, "start it again from step 41000", reason="tiny-2 ended too"
        ),
    }
    yield named("relaunch-again-ended", ordered("relaunch tiny", relaunched, **ended))


NOT_STARTED = (
    "Nothing monitors the run: its babysitter ended at once (exit code 1): see "
    "/work/.herorun/tiny/babysit.log, then `herorun babysit tiny`."
)


def rollbacks() -> Iterator[Screen]:
    argv = "rollback tiny --to 41000 --reason why"
    choice = {
        **SETTLED,
        **STARTED,
        "rollback__must_be_resumable": None,
        "rollback___choose_rollback": PREVIEW,
        "rollback__record_before_replacing": None,
        "rollback__intended_once": TAKING,
        "rollback___done_already": "",
    }
    way = Option.STOP_AND_ROLLBACK
    effect = f"stop the job and {BACK}".replace("40000", "41000")
    proposer = SimpleNamespace(proposals=lambda *_, **__: offer(way, effect, 41_000, "why"))
    running = {
        "rollback__find_job": a_job(),
        "rollback__Proposer": lambda *_, **__: proposer,
        "rollback__with_taints_now": MEMORY,
    }
    yield named("rollback-running", ordered(argv, LIVE, **choice, **running))
    yield named("rollback-dry", ordered(f"{argv} --dry-run", LIVE, **choice))
    for name, step in {"incomplete": 41_000, "no-step": 39_000}.items():
        source = {**choice, "rollback___choose_rollback": chooses(step)}
        other = argv.replace("41000", str(step))
        yield named(f"rollback-{name}", ordered(other, LIVE, GIVEN, **source))
    unread = Unavailable("/data/tiny does not answer: Stale file handle", "/data/tiny")
    reading = {name: value for name, value in choice.items() if "_choose" not in name}
    screen = ordered(argv, LIVE, GIVEN, **reading)
    replacements = {
        "herorun.operations.launch.rollback_target.gather": dict.fromkeys(
            (Checkpoints, Metrics, FinalStep), unread
        ),
        f"{ORDERS}rollback.with_taints_now": LIVE,
    }
    replaced = {**screen.given, **replacements}
    yield replace(screen, name="rollback-unread", given=replaced)
    never = {"contract": a_contract(tracker={"resume": "never"})}
    yield named("rollback-never", ordered(argv, LIVE, never, **SETTLED))
    start = {"rollback__find_job": a_job(JobState.FAILED, exit_code=1)}
    screen = ordered(argv, LIVE, **choice, **start)
    for name, evidence in {"blocked": TAKEN, "unread-gate": SILENT_ORIGIN}.items():
        starting = {
            "herorun.operations.launch.relaunch.gate_of": relaunch_gate(evidence),
            f"{ORDERS}rollback._start_once": lambda run, *_: start_again(run, *AGAIN),
        }
        yield replace(screen, name=f"rollback-{name}", given={**screen.given, **starting})
    with_successor = replace(
        LIVE,
        launchings={"tiny-1": LAUNCHING, "tiny-2": SUCCESSOR},
    )
    repeated = {
        **STARTED,
        "rollback__settle_instance": "tiny-2",
        "rollback__just_ordered": True,
        "relaunch__find_job": a_job(instance="tiny-2"),
    }
    yield named("rollback-again", ordered(argv, with_successor, **repeated))


GIVEN = {
    "base_evidence": lambda *_: {},
    "layout": SimpleNamespace(final=lambda root, step: f"{root}/step-{step}"),
}


def chooses(step: int) -> Callable[..., Any]:
    def choose(run: Any, *_: Any) -> None:
        target_of(run, SAVED, LIVE, step)

    return choose


# --- fork -----------------------------------------------------------------------------------------

FORK = "fork tiny tiny-b --from 41000 --reason why"
START = {
    "from": "/data/tiny/step-41000",
    "kind": "full-state",
    "source_run": "tiny",
    "reason": "why",
}
FORKED = a_contract(
    slug="tiny-b",
    start=START,
    output={"root": "/data/tiny-b", "temporary_root": "/data/tiny-b-temporary"},
    tracker={"id": "tiny-b"},
)


def written(folder: Path) -> None:
    """The contract of the fork is there."""
    (folder / "runs").mkdir()
    (folder / "runs" / "tiny-b.toml").write_text("")


def forks() -> Iterator[Screen]:
    yield named("fork-never-launched", ordered(FORK, replace(MEMORY, instances=())))
    step = FORK.replace("41000", "39000")
    checkpoints = {Checkpoints: SAVED}
    reading = {"fork__with_taints_now": LIVE, "fork__gather": checkpoints}
    yield named("fork-no-step", ordered(step, LIVE, GIVEN, **reading))
    unread = Unavailable("/data/tiny does not answer: Stale file handle", "/data/tiny")
    reading = {"fork__with_taints_now": LIVE, "fork__gather": {Checkpoints: unread}}
    yield named("fork-unread", ordered(FORK, LIVE, GIVEN, **reading))
    yield named("fork-no-slug", ordered("fork tiny Tiny_B", LIVE))
    for name, contract, signed in (
        ("uncommitted", FORKED, False),
        ("other", a_contract(slug="tiny-b"), True),
        ("shared", with_root(), True),
        ("created", FORKED, True),
    ):
        new = SimpleNamespace(
            slug="tiny-b",
            contract=contract,
            file=SimpleNamespace(path="runs/tiny-b.toml", is_reviewable=signed),
        )
        answers = {
            "fork__open_run": new,
            "fork__fork_facts": {"Reason": "why", "Source checkpoint": "/data/tiny/step-41000"},
            "fork__initialise": SimpleNamespace(issue="issue.md", warning=""),
            "fork__record_both_sides": lambda *_: [],
            "fork___start_of": SimpleNamespace(step=41_000),
        }
        yield replace(ordered(FORK, LIVE, HERE, **answers), name=f"fork-{name}", home=written)


def fork_faults() -> Iterator[Screen]:
    reasonless, newest = FORK.replace(" --reason why", ""), "fork tiny tiny-b --reason why"
    requests = {
        "no-reason": (reasonless, {}),
        "no-checkpoint": (newest, {Checkpoints: Checkpoints(())}),
    }
    for name, (argv, evidence) in requests.items():
        reading = {"fork__with_taints_now": LIVE, "fork__gather": evidence}
        yield replace(ordered(argv, LIVE, GIVEN, **reading), name=f"fork-{name}")
    for name, contract, step in (
        ("unexplained", a_contract(slug="tiny-b", start={**START, "reason": " "}), 41_000),
        ("other-step", a_contract(slug="tiny-b", start=START), 41_000),
    ):
        file = SimpleNamespace(path="runs/tiny-b.toml", is_reviewable=True)
        new = SimpleNamespace(slug="tiny-b", contract=contract, file=file)
        answers = {"fork__open_run": new, "fork___start_of": a_checkpoint(step)}
        argv = FORK.replace("41000", "40000") if name == "other-step" else FORK
        yield replace(ordered(argv, LIVE, HERE, **answers), name=f"fork-{name}", home=written)


HERE = {"repository": SimpleNamespace(top=Path(), main=Path())}


def with_root() -> Any:
    """A fork that writes where the old run does."""
    return a_contract(slug="tiny-b", start=START, tracker={"id": "tiny-b"})


# --- handoff --------------------------------------------------------------------------------------


def a_lease(**changes: Any) -> LeaseSeen:
    fields = {"owner": "eve@node7", "slug": "tiny", "mine": False, "fence": 3, "beat": 7}
    return LeaseSeen(**{**fields, "unchanged_since": AGO, **changes})


def handoffs() -> Iterator[Screen]:
    take = "handoff tiny --take"
    fresh = a_lease(unchanged_since=NOON - timedelta(minutes=2))
    yield named("handoff-fresh", leased(take, fresh))
    yield named(
        "handoff-renewed", leased(f"{take} --wait 1m", fresh, a_lease(beat=8, unchanged_since=NOON))
    )
    silent = Unavailable("/data/tiny does not answer: Stale file handle", "/data/tiny")
    yield named("handoff-unread", ordered(take, LIVE, GIVEN, handoff__gather={LeaseSeen: silent}))
    lease = {"handoff__take_lease": None, "handoff___record_takeover": None}
    yield named("handoff-held", leased(take, a_lease(owner="ada@box", mine=True), **lease))
    give = "handoff tiny --to"
    yield named("handoff-no-owner", ordered(f"{give} eve", LIVE))
    yield named("handoff-here", ordered(f"{give} ada@box", LIVE))
    yield named("handoff-not-launched", ordered(take, replace(MEMORY, instances=())))
    theirs = Lease(owner="eve@node7", slug="tiny", fence=3, beat=7)
    not_ours = {"handoff__other_holder": theirs}
    yield named("handoff-not-ours", ordered(f"{give} bob@node8", LIVE, **not_ours))


def leased(argv: str, *leases: Any, **answers: Any) -> Screen:
    """A takeover that reads the lease so often, and finds it in these states. Each rendering begins
    with the first state: a lease that does not change would be read until the wait is over.
    """
    states = cycle(leases)
    reads = {
        "handoff___gather_handoff": lambda *_: (NOON, next(states)),
        "handoff__take_over": partial(take_over, sleep=lambda _: None),
    }
    return ordered(argv, LIVE, **reads, **answers)


# --- the others -----------------------------------------------------------------------------------


def stops() -> Iterator[Screen]:
    argv = "stop tiny --reason why"
    yield named("stop-unknown", asking(argv, SILENT))
    stopping = {
        **SETTLED,
        "stop__find_job": a_job(),
        "stop__intended_once": TAKING,
        "stop__stop_once": None,
        "stop___until_ended": a_job(),
    }
    yield named("stop-still-running", ordered(argv, LIVE, **stopping))
    ended = {**stopping, "stop__find_job": a_job(JobState.FAILED, exit_code=1)}
    yield named("stop-ended", ordered(argv, LIVE, **ended))
    success = {**stopping, "stop__find_job": a_job(JobState.SUCCEEDED)}
    yield named("stop-succeeded", ordered(argv, LIVE, **success))
    never = replace(MEMORY, instances=())
    yield named("stop-not-launched", ordered(argv, never))


def answers() -> Iterator[Screen]:
    calm = {"acknowledge__evaluate": (SimpleNamespace(ended=(), alerts={}), {})}
    yield named("ack-none", ordered("ack tiny", replace(MEMORY, alerts={}), **calm))
    crash = {"acknowledge__evaluate": (SimpleNamespace(ended=(), alerts={"crash": CRASH}), {})}
    yield named("ack-unrecorded", ordered("ack tiny", replace(MEMORY, alerts={}), **crash))
    yield named("ack-again", ordered("ack tiny", replace(ACKED, last_decided=None)))
    yield named("ack-no-alert", ordered("ack tiny throughput-leek"))
    yield named("approve-none", ordered("approve tiny"))
    no = RelaunchAnswer(False, NOON - timedelta(minutes=5), "eve", "")
    after = {"acknowledge___overtaken_by": OVERTAKEN}
    yield named("approve-late", ordered("approve tiny", ASKED, **after))
    approved = replace(ASKED, answers={"tiny-1": replace(no, yes=True)})
    yield named("deny-approved", ordered("deny tiny --reason why", approved))
    denied = replace(ASKED, answers={"tiny-1": no})
    way = {"acknowledge___continuation_command": "herorun relaunch tiny"}
    yield named("approve-denied", ordered("approve tiny", denied, **way))
    yield named("deny-again", ordered("deny tiny --reason why", denied))
    yield named("resume-not-paused", ordered("resume tiny"))
    argv = "pause tiny --until 60m --reason why"
    yield named("pause-again", ordered(argv, PAUSED))


OVERTAKEN = (
    "not approved: tiny-1 was denied by eve at the same time; to start it anyway: "
    "`herorun relaunch tiny`"
)


def refusal_screens() -> Iterator[Screen]:
    yield from relaunches()
    yield from rollbacks()
    yield from forks()
    yield from fork_faults()
    yield from handoffs()
    yield from stops()
    yield from answers()
