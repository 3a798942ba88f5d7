"""One turn of the babysitter with its hands: settle, gather, tick, journal, perform, push."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from herorun import __version__, discover
from herorun.acts.launching import settle_launching
from herorun.acts.leasing import take_lease
from herorun.acts.perform import Performed, intents, perform, settle
from herorun.core.alert import Alert, State
from herorun.core.cadence import next_look
from herorun.core.canonical import canonical, digest, plain
from herorun.core.check import Gate, name_of
from herorun.core.decide import Action, Escalate, Tell
from herorun.core.errors import Blocked, HandedOver, HerorunError, WrongUse, in_words
from herorun.core.event import CheckedIn, Decided, Event, Observed
from herorun.core.evidence import (
    Checkpoints,
    Evidence,
    FinalStep,
    Gaps,
    Metrics,
    Nothing,
    Now,
    Receipt,
    Triage,
    Unavailable,
    Unfinished,
)
from herorun.core.journal import Memory
from herorun.core.recovery.ending import Ending
from herorun.core.recovery.ends import end_to_record, saved_to_record
from herorun.core.recovery.policy import Policy
from herorun.core.scrub import scrub, scrub_tree
from herorun.core.tick import Rules, Tick, progress, tick
from herorun.gates import finding_json
from herorun.gather import gather
from herorun.sources.metrics import keep_metrics
from herorun.system.clock import now
from herorun.system.deadline import within
from herorun.system.files import append_line, locked
from herorun.workspace import Run

READ_DEADLINE = 60.0  # seconds for all reads of a tick
LEASE_DEADLINE = 30.0  # seconds
QUIET = 3600.0  # seconds between two quiet lines in the logbook


@dataclass(frozen=True)
class Turn:
    """What one turn saw and did. `tick` is None where the run is sealed and nothing is left to watch."""

    run: Run
    tick: Tick | None
    evidence: Evidence
    performed: tuple[Performed, ...] = ()
    doubts: tuple[str, ...] = ()
    push: str = ""
    paused: bool = False
    pause: timedelta | None = None  # until the next one

    @property
    def step(self) -> int | None:
        metrics = self.evidence.get(Metrics)
        return metrics.step if isinstance(metrics, Metrics) else None

    @property
    def over(self) -> bool:
        """Nothing is left to watch: it is sealed, it ended well and that was told, or a person knows that it is down."""
        if self.tick is None:
            return True
        seen = self.tick
        if seen.monitor != "fresh" or seen.actions or self.paused:
            return False
        return seen.run == "finished" or (seen.run == "down" and seen.settled and seen.wake is None)

    @property
    def progress(self) -> str:
        return progress_of(self.evidence)

    def as_json(self) -> dict[str, Any]:
        """The promised shape."""
        checks = {check.name: check for check in discover.checks(Gate.HEALTH)}
        seen = self.tick
        return {
            "run": seen.run.value if seen else "finished",
            "monitor": seen.monitor.value if seen else "fresh",
            "progress": self.progress,
            "findings": [finding_json(f, checks[f.check]) for f in seen.findings] if seen else [],
            "alerts": [alert_json(a, checks[a.check].severity.value) for a in seen.alerts.values()]
            if seen
            else [],
            "actions": [action_json(done) for done in self.performed],
        }


def alert_json(alert: Alert, severity: str) -> dict[str, Any]:
    return {
        "check": alert.check,
        "severity": severity,
        "subject": alert.subject,
        "state": alert.state.value,
        "since": plain(alert.since),
        "message": alert.message,
    }


def action_json(done: Performed) -> dict[str, Any]:
    kind = type(done.action).__name__.lower()
    return {
        "action": kind,
        "key": done.action.key,
        "why": done.action.why,
        "done": not done.why,
        "failed": done.why,
    }


def take_turn(run: Run, drift: str = "") -> Turn:
    """One whole turn, alone among the acting commands of this machine."""
    run.prepare()
    with locked(run.lock("act"), what="another herorun that acts on this run"):
        run.record.must_understand()
        memory = run.record.memory()
        if memory.sealed:
            return Turn(run, None, {})
        must_be_launched(run, memory)
        must_be_ours(run, memory)
        unsure = _settle(run)
        doubts = [*([f"contract-drift: {drift}; the admitted contract stands"] if drift else []), *unsure]
        seen, evidence = judge(run, sure=not unsure)
        doubts += _unread_lines(evidence)
        problem, lost = lease_problem(run)
        actions = [action for action in seen.actions if not problem or isinstance(action, Tell | Escalate)]
        doubts += [problem] if problem else []
        if lost:
            actions.append(Escalate(f"escalate/lease/{digest(problem)[7:19]}", "the lease is lost", problem))
        _journal(run, seen, evidence, actions)
        performed = tuple(perform(run, action) for action in actions)
        pushed = run.record.push()
        after = run.record.memory()
    return Turn(
        run,
        seen,
        evidence,
        performed,
        tuple(doubts),
        pushed.why,
        after.ledger.paused(seen.at),
        pause_after(run, seen, after),
    )


def pause_after(run: Run, seen: Tick, memory: Memory) -> timedelta:
    """The time until the next turn is due."""
    at, current = now(), memory.current
    asked = {check.name: check.severity for check in discover.checks(Gate.HEALTH)}
    news = [
        a for a in memory.alerts.values() if asked.get(a.check) == "critical" and a.key not in memory.acked
    ]
    born = memory.launchings.get(current.name) if current else None
    return next_look(
        run.contract.babysit.cadence,
        at - current.started if current else None,
        bool(born and born.relaunch_of),
        any(alert.state is State.PENDING for alert in news),
        any(alert.firing for alert in news),
        seen.wake - at if seen.wake and seen.wake > at else None,
    )


def _unread_lines(evidence: Evidence) -> list[str]:
    """The newest metric lines that could not be read: said, because what they hold is judged by nobody."""
    metrics = evidence.get(Metrics)
    return (
        [f"metrics: {problem}" for problem in metrics.problems[-3:]] if isinstance(metrics, Metrics) else []
    )


def must_be_ours(run: Run, memory: Memory) -> None:
    """Whoever was given the run has it; whoever gave it, or lost it, acts no more."""
    handed = memory.handed
    if handed and handed.to != run.launcher.owner:
        raise HandedOver(
            f"{run.slug} is watched by {handed.to} since {handed.at:%Y-%m-%d %H:%M} UTC, so nothing is done here. "
            f"Should it not be: `herorun handoff {run.slug} --take`."
        )


def must_be_launched(run: Run, memory: Memory) -> None:
    if not memory.instances and not memory.unsettled:
        raise WrongUse(f"{run.slug} has not been launched: `herorun launch {run.slug}`.")


def _settle(run: Run) -> list[str]:
    """First the submission: whether a relaunch was done depends on it."""
    doubts = []
    try:
        settle_launching(run, f"{run.launcher.owner}, settled after an interruption")
    except (HerorunError, OSError) as error:
        doubts.append(scrub(in_words(error)))
    return [*doubts, *settle(run, sure=not doubts)]


def judge(run: Run, sure: bool = False) -> tuple[Tick, Evidence]:
    """Gather and tick, without acting: what `status` shows and `babysit` acts on.

    Where the scheduler is `sure` that an interrupted relaunch was never submitted, it is nothing unfinished: it is
    decided on again, and goes on under its own name.
    """
    memory = run.record.memory()
    rules = rules_of(run)
    at = now()
    given = {**run.given(memory), Now: Now(at)}
    if sure and memory.unsettled is not None and memory.unsettled.relaunch_of:
        given[Unfinished] = replace(memory, unsettled=None).unfinished
    wanted = [need for check in rules.checks for need in check.needs]
    evidence = gather(
        [*wanted, Metrics, Receipt, FinalStep, Checkpoints, Triage], discover.sources(), given, READ_DEADLINE
    )
    return tick(memory.alerts, memory.ledger, evidence, rules, at), evidence


def rules_of(run: Run) -> Rules:
    told = run.contract.babysit
    policy = Policy(
        told.recovery,
        told.budgets.relaunches,
        told.budgets.window,
        told.cadence,
        told.budgets.infra,
        told.budgets.unknown,
        told.budgets.code_bug,
        told.budgets.oom,
        told.stop_on,
        run.contract.budget.accelerator_hours,
        run.contract.hardware.count,
        told.tpu_bad_node == "delete",
        told.tpu_zone or "",
    )
    return Rules(discover.checks(Gate.HEALTH), policy, run.waivers, run.limits)


def lease_problem(run: Run) -> tuple[str, bool]:
    """Beat the lease: what stands against it (empty if nothing), and whether it is another's.

    Whoever lost it, or cannot see it, may tell and must not intervene.
    """
    try:
        within(LEASE_DEADLINE, lambda: take_lease(run))
    except (HerorunError, OSError) as error:
        return scrub(in_words(error)), isinstance(error, Blocked)
    return "", False


def _journal(run: Run, seen: Tick, evidence: Evidence, actions: Sequence[Action]) -> None:
    """Observed, Decided and every Intended in one commit, before anything is done; the evidence stays here."""
    memory = run.record.memory()
    kept = {name_of(k): v for k, v in evidence.items() if _is_plain(v)}
    gaps = evidence[Gaps]
    line = canonical(
        {"at": seen.at, "evidence": scrub_tree({name: plain(value) for name, value in kept.items()})}
    )
    append_line(run.state / "evidence" / f"{seen.at:%Y%m%d}.jsonl", line)
    digests = {name: digest(value) for name, value in kept.items()}
    events: list[Event] = [
        Observed(seen.at, __version__, rules_digest(run), digests, gaps.gaps),
        Decided(
            seen.at,
            seen.run.value,
            seen.monitor.value,
            progress_of(evidence),
            tuple(seen.alerts.values()),
            tuple(action.key for action in actions),
            _quiet_line(seen, evidence, memory),
            end_to_record(evidence, memory.history, seen.at),
            saved_to_record(evidence, memory.history),
            _new_failure(seen, memory),
        ),
        *_checked_in(seen, evidence, memory),
        *intents(run, [a for a in actions if a.key not in {*memory.done, *memory.intended}], seen.at),
    ]
    run.record.append(*events)
    keep_metrics(run.place, evidence.get(Metrics))


def _new_failure(seen: Tick, memory: Memory) -> Ending | None:
    """How the instance failed, unless the record says the same already."""
    ending = seen.ending
    known = memory.endings.get(ending.instance) if ending else None
    if ending is None or (known and replace(known, ended=ending.ended) == ending):
        return None
    return ending


def rules_digest(run: Run) -> str:
    """Names what a tick was judged by: version, thresholds, policy and waivers."""
    rules = rules_of(run)
    asked = [(check.name, check.response, check.hold) for check in rules.checks]
    return digest([__version__, asked, rules.policy, list(rules.waivers), rules.limits])


def _is_plain(value: object) -> bool:
    module = type(value).__module__
    return module.startswith("herorun.core.evidence") or isinstance(value, (Nothing, Unavailable))


def progress_of(evidence: Evidence) -> str:
    """`~4600/5155`, exact."""
    metrics, final = evidence.get(Metrics), evidence.get(FinalStep)
    step = metrics.step if isinstance(metrics, Metrics) else None
    return progress(step, final.value if isinstance(final, FinalStep) else None)


def _quiet_line(seen: Tick, evidence: Evidence, memory: Memory) -> str:
    """At most one line an hour while nothing happens; a turn that says something else needs none."""
    since = memory.last_summary or (memory.current.started if memory.current else None)
    if seen.actions or seen.alerts or since is None or (seen.at - since).total_seconds() < QUIET:
        return ""
    return f"{progress_of(evidence)}, nothing to report since {since:%Y-%m-%d %H:%M} UTC"


def _checked_in(seen: Tick, evidence: Evidence, memory: Memory) -> list[Event]:
    receipt = evidence.get(Receipt)
    if not isinstance(receipt, Receipt) or receipt.instance in memory.checked_in:
        return []
    return [
        CheckedIn(seen.at, receipt.instance, receipt.attempt, receipt.outcome, receipt.items, receipt.loaded)
    ]


def turn_code(turn: Turn) -> int:
    """The exit code of a tick: a critical alert or a run that is down beats a monitor that is not fresh."""
    seen = turn.tick
    if seen is None:
        return 0
    severities = {check.name: check.severity for check in discover.checks(Gate.HEALTH)}
    if seen.run == "down" or any(
        a.firing and severities[a.check] == "critical" for a in seen.alerts.values()
    ):
        return 1
    return 0 if seen.monitor == "fresh" else 3
