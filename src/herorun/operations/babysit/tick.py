"""One tick that acts: settle, gather, evaluate, journal, perform, push."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from herorun import __version__, discover
from herorun.core.adhoc_jobs.cause import JobCause
from herorun.core.babysit.actions import Action
from herorun.core.babysit.alert import AlertState
from herorun.core.babysit.cadence import next_tick_delay
from herorun.core.babysit.tick import MonitorHealth, Tick
from herorun.core.canonical_json import timestamp
from herorun.core.check import Gate
from herorun.core.errors import HerorunError, NewerRecord, describe_error
from herorun.core.event import Observed
from herorun.core.evidence import ActionBlock, Evidence, Gaps, JobLog, Metrics
from herorun.core.evidence_log import canonical_facts, digests, encode_evidence, evidence_line
from herorun.core.finding import count
from herorun.core.journal import Memory, fold
from herorun.core.journal.decision import (
    build_decision,
    checked_in,
    interventions,
    restrict_actions,
    to_intend,
)
from herorun.core.redaction.scrub import scrub
from herorun.core.triage.incremental import OwnLog
from herorun.operations.babysit.intents import intents
from herorun.operations.babysit.outcome import TickOutcome
from herorun.operations.babysit.ownership import must_be_ours, renew_lease
from herorun.operations.babysit.perform import ActionResult, perform, settle
from herorun.operations.babysit.receipts import sweep_receipts
from herorun.operations.babysit.upgrade import replay_for_upgrade
from herorun.operations.health.evaluate import evaluate, must_be_launched
from herorun.operations.health.rules import evidence_file, rules_digest, rules_of
from herorun.operations.health.shared_polls import SharedPolls
from herorun.operations.record.lease import LeaseHeldElsewhere
from herorun.operations.record.page import holds_pages, send_pages
from herorun.record import FoldedMemory, Pushed
from herorun.runs import MonitoredRun, Run
from herorun.sources.log_reader import keep_own_log
from herorun.sources.metrics import keep_metrics
from herorun.system.clock import now
from herorun.system.files import append_line, hold_lock
from herorun.system.heartbeat_ping import ping


def run_tick(
    run: MonitoredRun,
    drift: str = "",
    polls: SharedPolls | None = None,
    push: Callable[[bool], Pushed] | None = None,
) -> TickOutcome:
    """One whole tick, alone among the acting commands of this machine.

    `polls` are shared with the runs that are monitored together. `push` pushes the record at the
    end; its argument is whether the tick notified or acted. If another clone monitors the run, on
    this machine or another, the tick only observes.
    """
    try:
        return _acting_tick(run, drift, polls, push)
    except LeaseHeldElsewhere as error:
        return replace(observe_run(run, str(error), polls, push), monitored_elsewhere=True)
    except NewerRecord as error:  # anyone who may push can write it: monitoring continues
        outcome = observe_run(
            run, str(error), polls, lambda _: Pushed("a newer record is not pushed")
        )
        assert outcome.tick is not None
        return replace(outcome, tick=replace(outcome.tick, monitor=MonitorHealth.PARTIAL))


def _acting_tick(
    run: MonitoredRun, drift: str, polls: SharedPolls | None, push: Callable[[bool], Pushed] | None
) -> TickOutcome:
    run.prepare()
    with hold_lock(run.lock("act"), what="another herorun that acts on this run"):
        run.record.must_understand()
        memory = run.record.memory()
        if memory.sealed:
            return TickOutcome(run=run, tick=None, evidence={}, sealed=memory.sealed.tag)
        must_be_launched(run, memory)
        must_be_ours(run, memory)
        this_tick, outcome = _evaluate_and_perform(run, drift, polls)
    # after the lock: an order must not wait for a slow remote
    push_result = push(bool(outcome.performed)) if push else run.record.push()
    doubts = (*outcome.doubts, *_ping(run, this_tick))
    after = run.record.memory()
    return replace(
        outcome,
        furthest=run.furthest_before(outcome.step),
        doubts=doubts,
        push=push_result.why,
        paused=after.ledger.is_paused(this_tick.at),
        holds_pages=holds_pages(run, after),
        pause=pause_after(run, this_tick, after),
    )


def _evaluate_and_perform(
    run: MonitoredRun, drift: str, polls: SharedPolls | None
) -> tuple[Tick, TickOutcome]:
    """The part of a tick that needs the run's lock. Nothing is pushed yet."""
    lease, is_lost = renew_lease(run)
    unsettled_reasons = _settle(run)
    doubts = [f"contract-drift: {drift}; the admitted contract still applies"] if drift else []
    doubts += unsettled_reasons
    questions, observes = replay_for_upgrade(run, rules_of(run))
    observes = run.observe_only_reason or observes
    folded_memory = run.record.folded_memory()
    this_tick, evidence = evaluate(run, not unsettled_reasons, folded_memory.memory, polls)
    doubts += _unread_lines(evidence)
    interventions_due = interventions(this_tick.actions) if lease or observes else ()
    block = ActionBlock(lease, is_lost, observes, interventions_due)
    actions = restrict_actions(this_tick.actions, block)
    doubts += [why for why in (block.lease, block.judge) if why]
    doubts += _journal(run, this_tick, {**evidence, ActionBlock: block}, actions, folded_memory)
    outcomes = [*questions, *(perform(run, action) for action in actions)]
    cause = run.cause(evidence)
    news, news_doubts = _own_news(run, evidence, cause)
    doubts += [*news_doubts, *run.own_doubts(evidence)]
    doubts += [f"undelivered: {why}" for why in send_pages(run)]
    if not lease and not observes:
        sweep_receipts(run, evidence)
    return this_tick, TickOutcome(
        run=run,
        tick=this_tick,
        evidence=evidence,
        cause=cause,
        performed=(*outcomes, *news),
        doubts=tuple(doubts),
    )


def _own_news(
    run: MonitoredRun, evidence: Evidence, cause: JobCause | None
) -> tuple[list[ActionResult], list[str]]:
    """The notifications of a run without a contract, and the errors of those that failed."""
    try:
        news = [perform(run, action) for action in run.own_news(evidence, cause)]
    except (HerorunError, OSError) as error:
        return [], [scrub(describe_error(error))]
    return news, [each.why for each in news if each.why]


def _ping(run: MonitoredRun, tick: Tick) -> list[str]:
    """Tell the dead-man's switch that the run is monitored. A tick that could not read everything
    sends nothing, nor does a clone that only observes: its ping would hide that the acting one has
    stopped.
    """
    variable = run.contract.notify.heartbeat
    if variable is None or tick.monitor is not MonitorHealth.FRESH:
        return []
    problem = ping(variable)
    return [f"the heartbeat was not sent: {problem}"] if problem else []


def observe_run(
    run: MonitoredRun,
    why: str,
    polls: SharedPolls | None = None,
    push: Callable[[bool], Pushed] | None = None,
) -> TickOutcome:
    """A tick that only observes, because another clone monitors the run.

    It takes no action, but pushes entries that a person wrote in this clone.
    """
    try:
        memory = run.published_memory()
    except (HerorunError, OSError):
        memory = run.record.memory()
    this_tick, evidence = evaluate(run, memory=memory, polls=polls)
    push_result = push(True) if push else run.record.push()
    return TickOutcome(
        run=run,
        tick=replace(this_tick, actions=[]),
        evidence=evidence,
        doubts=(f"this clone only observes: {scrub(why)}",),
        push=push_result.why,
        pause=run.contract.babysit.cadence,
    )


def poll(run: MonitoredRun) -> TickOutcome:
    """The state that a tick would find now. Nothing is written, sent or done."""
    this_tick, evidence = evaluate(run)
    return TickOutcome(
        run=run,
        tick=replace(this_tick, actions=[]),
        evidence=evidence,
        cause=run.cause(evidence),
        furthest=run.furthest_before(None),
        doubts=tuple(run.own_doubts(evidence)),
    )


def pause_after(run: MonitoredRun, this_tick: Tick, memory: Memory) -> timedelta:
    """The time until the next tick is due."""
    at, current = now(), memory.current
    severities = {check.name: check.severity for check in discover.checks(Gate.HEALTH)}
    news = [
        a
        for a in memory.alerts.values()
        if severities.get(a.check) == "critical" and a.key not in memory.acked
    ]
    start = memory.launchings.get(current.name) if current else None
    return next_tick_delay(
        run.contract.babysit.cadence,
        at - current.started if current else None,
        bool(start and start.relaunch_of),
        any(alert.state is AlertState.PENDING for alert in news),
        any(alert.firing for alert in news),
        this_tick.wake - at if this_tick.wake and this_tick.wake > at else None,
    )


def _unread_lines(evidence: Evidence) -> list[str]:
    """Messages for the newest unreadable metric lines and for skipped parts of the log, because no
    check judges their content.
    """
    metrics, log = evidence.get(Metrics), evidence.get(JobLog)
    problems = []
    if isinstance(metrics, Metrics):
        problems += [f"metrics: {problem}" for problem in metrics.problems[-3:]]
    if isinstance(log, JobLog) and log.skipped:
        problems.append(
            f"log: {count(log.skipped, 'byte')} skipped: more was new than one tick reads"
        )
    return problems


def _settle(run: MonitoredRun) -> list[str]:
    """Settle interrupted actions, the submission first: whether a relaunch was done depends on
    it.
    """
    doubts = []
    try:
        if isinstance(run, Run) and run.record.memory().unsettled:
            from herorun.operations.launch.start_instance import settle_launching

            settle_launching(run, f"{run.launcher.owner}, settled after an interruption")
    except (HerorunError, OSError) as error:
        doubts.append(scrub(describe_error(error)))
    return [*doubts, *settle(run, is_certain=not doubts)]


def _journal(
    run: MonitoredRun,
    this_tick: Tick,
    evidence: Evidence,
    actions: Sequence[Action],
    folded_memory: FoldedMemory,
) -> list[str]:
    """Append Observed, Decided and every Intended in one commit, before any action and before files
    that can be made again.

    Returns why such files could not be stored.
    """
    facts = canonical_facts(encode_evidence(evidence))
    digest_of_rules, gaps = rules_digest(rules_of(run)), evidence[Gaps].gaps
    decision = build_decision(this_tick, evidence, folded_memory.memory, actions)
    memory_after = fold([decision], folded_memory.memory)
    metrics = evidence.get(Metrics)
    rows = metrics.rows if isinstance(metrics, Metrics) else 0
    run.record.append(
        Observed(
            at=this_tick.at,
            version=__version__,
            rules=digest_of_rules,
            evidence=digests(facts),
            gaps=gaps,
            after=folded_memory.newest,
            lines=folded_memory.lines,
            rows=rows,
        ),
        decision,
        *checked_in(this_tick, evidence, folded_memory.memory),
        *intents(
            run, to_intend(actions, run.record.memory()), this_tick.at, memory_after, evidence
        ),
    )
    return _store_evidence(run, this_tick, facts, evidence)


def _store_evidence(
    run: MonitoredRun, this_tick: Tick, facts: Mapping[str, str], evidence: Evidence
) -> list[str]:
    """Store what a replay needs or what saves time. On a full disk the tick continues; returns the
    errors.
    """
    doubts = []
    try:
        append_line(evidence_file(run, this_tick.at), evidence_line(timestamp(this_tick.at), facts))
    except OSError as error:
        doubts.append(
            "the evidence of this tick could not be stored, so it cannot be replayed: "
            f"{describe_error(error)}"
        )
    try:
        keep_own_log(run.place, evidence.get(OwnLog))
    except OSError as error:
        why = describe_error(error)
        doubts.append(f"log: the position could not be stored, so lines are read again: {why}")
    return [
        scrub(problem)
        for problem in (*doubts, keep_metrics(run.place, evidence.get(Metrics)))
        if problem
    ]
