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
from herorun.core.gate_findings import verdict_of
from herorun.core.notify.escalation import Option, ProposedCommand, command_of
from herorun.core.ports import Found, Unknown
from herorun.core.proposed_commands import in_tmux
from herorun.core.record.lease import Lease
from herorun.core.recovery.classify import Cause
from herorun.core.recovery.policy import RelaunchAnswer
from herorun.gate import GateReport
from herorun.operations.launch.propose import reason_option
from herorun.operations.launch.relaunch import Successor, start_again
from herorun.operations.launch.rollback_target import target_of
from herorun.operations.orders.handoff import take_over
from screens.orders import (
    ACKED_MEMORY,
    AGO,
    ASKED_MEMORY,
    CRASH,
    MEMORY,
    ORDERS,
    PAUSED_MEMORY,
    PREVIEW,
    START_ANSWERS,
    TAKING,
    order_screen,
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
SEALED_MEMORY = replace(MEMORY, sealed=SimpleNamespace(tag="herorun/tiny/seal-1"))
SILENT = Unknown(NO_ANSWER)
FORGOTTEN_SEARCH = Unknown(FORGOTTEN_JOB.why, forgotten=True)
UNCLEAR = Found(a_job(JobState.UNKNOWN, reason="node7 does not answer since 11:40"))
TAKEN_WATCH = Watch(lease_owner="eve@node7", lease_slug="tiny")
SILENT_ORIGIN = dict.fromkeys((History, Published, RemoteTips, RecordState), NO_REMOTE)
SAVED_CHECKPOINTS = Checkpoints(
    (
        replace(a_checkpoint(40_000), examined=True),
        replace(a_checkpoint(41_000, problem="metadata.json is missing"), examined=True),
    )
)
SETTLED_ANSWERS = {
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


def rename_screen(name: str, screen: Screen) -> Screen:
    return replace(screen, name=name)


def asking(argv: str, answer: Any, **answers: Any) -> Screen:
    """An order of which the scheduler says this."""
    scheduler = SimpleNamespace(cluster_wide=True, find=lambda *_: answer)
    return order_screen(argv, LIVE, {"scheduler": scheduler}, **SETTLED_ANSWERS, **answers)


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


def refusal_screen(name: str, argv: str, *changes: Any) -> Screen:
    screen = order_screen(argv, LIVE, **START_ANSWERS)
    return replace(screen, name=name, answers={**screen.answers, **through_the_gate(*changes)})


def relaunches() -> Iterator[Screen]:
    running = {**SETTLED_ANSWERS, "relaunch__find_job": a_job()}
    again = offer(Option.STOP_AND_RELAUNCH, "stop the job and start it again from step 41000")
    running["relaunch___propose_commands"] = again
    yield rename_screen("relaunch-running", order_screen("relaunch tiny", LIVE, **running))
    numeric = replace(LIVE, endings={"tiny-1": SimpleNamespace(cause=Cause.NUMERIC, seen="")})
    back = {"relaunch___propose_commands": offer(Option.ROLLBACK, BACK, 40_000)}
    yield rename_screen(
        "relaunch-numeric", order_screen("relaunch tiny", numeric, **START_ANSWERS, **back)
    )
    yield rename_screen("relaunch-unknown", asking("relaunch tiny", SILENT))
    yield rename_screen("relaunch-forgotten", asking("relaunch tiny", FORGOTTEN_SEARCH))
    yield rename_screen("relaunch-in-doubt", asking("relaunch tiny", UNCLEAR))
    yield refusal_screen("relaunch-blocked", "relaunch tiny", TAKEN_WATCH)
    yield refusal_screen("relaunch-unread", "relaunch tiny", SILENT_ORIGIN)
    yield rename_screen("relaunch-sealed", order_screen("relaunch tiny", SEALED_MEMORY))
    unmonitored_answers = {"relaunch__start_watch": lambda *_, **__: ("not running", NOT_STARTED)}
    relaunched_memory = replace(
        LIVE,
        done={"relaunch/tiny-1": "tiny-2"},
        launchings={"tiny-1": LAUNCHING, "tiny-2": SUCCESSOR},
    )
    yield rename_screen(
        "relaunch-unmonitored",
        order_screen(
            "relaunch tiny", relaunched_memory, **{**START_ANSWERS, **unmonitored_answers}
        ),
    )
    repeated_answers = {
        **START_ANSWERS,
        "relaunch__settle_instance": "tiny-2",
        "relaunch__find_job": a_job(instance="tiny-2"),
        "relaunch__just_ordered": True,
    }
    yield rename_screen(
        "relaunch-again", order_screen("relaunch tiny", relaunched_memory, **repeated_answers)
    )
    ended_answers = {
        **repeated_answers,
        "relaunch__find_job": a_job(JobState.FAILED, instance="tiny-2", exit_code=1),
        "relaunch___propose_commands": offer(
            Option.RELAUNCH, "start it again from step 41000", reason="WHY"
        ),
    }
    yield rename_screen(
        "relaunch-again-ended", order_screen("relaunch tiny", relaunched_memory, **ended_answers)
    )


NOT_STARTED = (
    "Nothing monitors the run: its babysitter ended at once (exit code 1): see "
    "/work/.herorun/tiny/babysit.log, then start it "
    f"{in_tmux('`herorun babysit tiny`')}."
)


def rollbacks() -> Iterator[Screen]:
    argv = "rollback tiny --to 41000 --reason why"
    choice = {
        **SETTLED_ANSWERS,
        **START_ANSWERS,
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
    yield rename_screen("rollback-running", order_screen(argv, LIVE, **choice, **running))
    yield rename_screen("rollback-dry", order_screen(f"{argv} --dry-run", LIVE, **choice))
    for name, step in {"incomplete": 41_000, "no-step": 39_000}.items():
        source = {**choice, "rollback___choose_rollback": chooses(step)}
        other = argv.replace("41000", str(step))
        yield rename_screen(f"rollback-{name}", order_screen(other, LIVE, FORK_ANSWERS, **source))
    unread_evidence = Unavailable("/data/tiny does not answer: Stale file handle", "/data/tiny")
    reading = {name: value for name, value in choice.items() if "_choose" not in name}
    screen = order_screen(argv, LIVE, FORK_ANSWERS, **reading)
    replacements = {
        "herorun.operations.launch.rollback_target.gather": dict.fromkeys(
            (Checkpoints, Metrics, FinalStep), unread_evidence
        ),
        f"{ORDERS}rollback.with_taints_now": LIVE,
    }
    replaced_answers = {**screen.answers, **replacements}
    yield replace(screen, name="rollback-unread", answers=replaced_answers)
    never = {"contract": a_contract(tracker={"resume": "never"})}
    yield rename_screen("rollback-never", order_screen(argv, LIVE, never, **SETTLED_ANSWERS))
    start = {"rollback__find_job": a_job(JobState.FAILED, exit_code=1)}
    screen = order_screen(argv, LIVE, **choice, **start)
    for name, evidence in {"blocked": TAKEN_WATCH, "unread-gate": SILENT_ORIGIN}.items():
        starting = {
            "herorun.operations.launch.relaunch.gate_of": relaunch_gate(evidence),
            f"{ORDERS}rollback._start_once": lambda run, *_: start_again(run, *AGAIN),
        }
        yield replace(screen, name=f"rollback-{name}", answers={**screen.answers, **starting})
    with_successor = replace(
        LIVE,
        launchings={"tiny-1": LAUNCHING, "tiny-2": SUCCESSOR},
    )
    repeated_answers = {
        **START_ANSWERS,
        "rollback__settle_instance": "tiny-2",
        "rollback__just_ordered": True,
        "relaunch__find_job": a_job(instance="tiny-2"),
    }
    yield rename_screen("rollback-again", order_screen(argv, with_successor, **repeated_answers))


FORK_ANSWERS = {
    "base_evidence": lambda *_: {},
    "layout": SimpleNamespace(final=lambda root, step: f"{root}/step-{step}"),
}


def chooses(step: int) -> Callable[..., Any]:
    def choose(run: Any, *_: Any) -> None:
        target_of(run, SAVED_CHECKPOINTS, LIVE, step)

    return choose


# --- fork -----------------------------------------------------------------------------------------

FORK = "fork tiny tiny-b --from 41000 --reason why"
START = {
    "from": "/data/tiny/step-41000",
    "kind": "full-state",
    "source_run": "tiny",
    "reason": "why",
}
FORKED_CONTRACT = a_contract(
    slug="tiny-b",
    start=START,
    output={"root": "/data/tiny-b", "temporary_root": "/data/tiny-b-temporary"},
    tracker={"id": "tiny-b"},
)


def write_fork(folder: Path) -> None:
    """The contract of the fork is there."""
    (folder / "runs").mkdir()
    (folder / "runs" / "tiny-b.toml").write_text("")


def forks() -> Iterator[Screen]:
    yield rename_screen("fork-never-launched", order_screen(FORK, replace(MEMORY, instances=())))
    step = FORK.replace("41000", "39000")
    checkpoints = {Checkpoints: SAVED_CHECKPOINTS}
    reading = {"fork__with_taints_now": LIVE, "fork__gather": checkpoints}
    yield rename_screen("fork-no-step", order_screen(step, LIVE, FORK_ANSWERS, **reading))
    unread_evidence = Unavailable("/data/tiny does not answer: Stale file handle", "/data/tiny")
    reading = {"fork__with_taints_now": LIVE, "fork__gather": {Checkpoints: unread_evidence}}
    yield rename_screen("fork-unread", order_screen(FORK, LIVE, FORK_ANSWERS, **reading))
    yield rename_screen("fork-no-slug", order_screen("fork tiny Tiny_B", LIVE))
    for name, contract, is_signed in (
        ("uncommitted", FORKED_CONTRACT, False),
        ("other", a_contract(slug="tiny-b"), True),
        ("shared", with_root(), True),
        ("created", FORKED_CONTRACT, True),
    ):
        new = SimpleNamespace(
            slug="tiny-b",
            contract=contract,
            file=SimpleNamespace(path="runs/tiny-b.toml", is_reviewable=is_signed),
        )
        answers = {
            "fork__open_run": new,
            "fork__fork_facts": {"Reason": "why", "Source checkpoint": "/data/tiny/step-41000"},
            "fork__initialise": SimpleNamespace(issue="issue.md", warning=""),
            "fork__record_both_sides": lambda *_: [],
            "fork___start_of": SimpleNamespace(step=41_000),
        }
        yield replace(
            order_screen(FORK, LIVE, HERE, **answers), name=f"fork-{name}", home=write_fork
        )


def fork_faults() -> Iterator[Screen]:
    reasonless, newest = FORK.replace(" --reason why", ""), "fork tiny tiny-b --reason why"
    requests = {
        "no-reason": (reasonless, {}),
        "no-checkpoint": (newest, {Checkpoints: Checkpoints(())}),
    }
    for name, (argv, evidence) in requests.items():
        reading = {"fork__with_taints_now": LIVE, "fork__gather": evidence}
        yield replace(order_screen(argv, LIVE, FORK_ANSWERS, **reading), name=f"fork-{name}")
    for name, contract, step in (
        ("unexplained", a_contract(slug="tiny-b", start={**START, "reason": " "}), 41_000),
        ("other-step", a_contract(slug="tiny-b", start=START), 41_000),
    ):
        file = SimpleNamespace(path="runs/tiny-b.toml", is_reviewable=True)
        new = SimpleNamespace(slug="tiny-b", contract=contract, file=file)
        answers = {"fork__open_run": new, "fork___start_of": a_checkpoint(step)}
        argv = FORK.replace("41000", "40000") if name == "other-step" else FORK
        yield replace(
            order_screen(argv, LIVE, HERE, **answers), name=f"fork-{name}", home=write_fork
        )


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
    yield rename_screen("handoff-fresh", takeover_screen(take, fresh))
    yield rename_screen(
        "handoff-renewed",
        takeover_screen(f"{take} --wait 1m", fresh, a_lease(beat=8, unchanged_since=NOON)),
    )
    silent = Unavailable("/data/tiny does not answer: Stale file handle", "/data/tiny")
    yield rename_screen(
        "handoff-unread",
        order_screen(take, LIVE, FORK_ANSWERS, handoff__gather={LeaseSeen: silent}),
    )
    lease = {"handoff__take_lease": None, "handoff___record_takeover": None}
    yield rename_screen(
        "handoff-held", takeover_screen(take, a_lease(owner="ada@box", mine=True), **lease)
    )
    give = "handoff tiny --to"
    yield rename_screen("handoff-no-owner", order_screen(f"{give} eve", LIVE))
    yield rename_screen("handoff-here", order_screen(f"{give} ada@box", LIVE))
    yield rename_screen("handoff-not-launched", order_screen(take, replace(MEMORY, instances=())))
    theirs = Lease(owner="eve@node7", slug="tiny", fence=3, beat=7)
    not_ours = {"handoff__other_holder": theirs}
    yield rename_screen("handoff-not-ours", order_screen(f"{give} bob@node8", LIVE, **not_ours))


def takeover_screen(argv: str, *leases: Any, **answers: Any) -> Screen:
    """A takeover that reads the lease so often, and finds it in these states. Each rendering begins
    with the first state: a lease that does not change would be read until the wait is over.
    """
    states = cycle(leases)
    reads = {
        "handoff___gather_handoff": lambda *_: (NOON, next(states)),
        "handoff__take_over": partial(take_over, sleep=lambda _: None),
    }
    return order_screen(argv, LIVE, **reads, **answers)


# --- the others -----------------------------------------------------------------------------------


def stops() -> Iterator[Screen]:
    argv = "stop tiny --reason why"
    yield rename_screen("stop-unknown", asking(argv, SILENT))
    stopping = {
        **SETTLED_ANSWERS,
        "stop__find_job": a_job(),
        "stop__intended_once": TAKING,
        "stop__stop_once": None,
        "stop___until_ended": a_job(),
    }
    yield rename_screen("stop-still-running", order_screen(argv, LIVE, **stopping))
    ended_answers = {**stopping, "stop__find_job": a_job(JobState.FAILED, exit_code=1)}
    yield rename_screen("stop-ended", order_screen(argv, LIVE, **ended_answers))
    success = {**stopping, "stop__find_job": a_job(JobState.SUCCEEDED)}
    yield rename_screen("stop-succeeded", order_screen(argv, LIVE, **success))
    never = replace(MEMORY, instances=())
    yield rename_screen("stop-not-launched", order_screen(argv, never))


def answers() -> Iterator[Screen]:
    calm = {"acknowledge__evaluate": (SimpleNamespace(ended=(), alerts={}), {})}
    yield rename_screen("ack-none", order_screen("ack tiny", replace(MEMORY, alerts={}), **calm))
    crash = {"acknowledge__evaluate": (SimpleNamespace(ended=(), alerts={"crash": CRASH}), {})}
    yield rename_screen(
        "ack-unrecorded", order_screen("ack tiny", replace(MEMORY, alerts={}), **crash)
    )
    yield rename_screen(
        "ack-again", order_screen("ack tiny", replace(ACKED_MEMORY, last_decided=None))
    )
    yield rename_screen("ack-no-alert", order_screen("ack tiny throughput-leek"))
    yield rename_screen("approve-none", order_screen("approve tiny"))
    no = RelaunchAnswer(False, NOON - timedelta(minutes=5), "eve", "")
    after = {"acknowledge___overtaken_by": OVERTAKEN}
    yield rename_screen("approve-late", order_screen("approve tiny", ASKED_MEMORY, **after))
    approved_memory = replace(ASKED_MEMORY, answers={"tiny-1": replace(no, yes=True)})
    yield rename_screen("deny-approved", order_screen("deny tiny --reason why", approved_memory))
    denied_memory = replace(ASKED_MEMORY, answers={"tiny-1": no})
    way = {"acknowledge___continuation_command": "herorun relaunch tiny"}
    yield rename_screen("approve-denied", order_screen("approve tiny", denied_memory, **way))
    yield rename_screen("deny-again", order_screen("deny tiny --reason why", denied_memory))
    yield rename_screen("resume-not-paused", order_screen("resume tiny"))
    argv = "pause tiny --until 60m --reason why"
    yield rename_screen("pause-again", order_screen(argv, PAUSED_MEMORY))


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
