"""Hands the monitoring over: by its owner, or taken from one whose lease no longer changes."""

import time
from collections.abc import Callable
from datetime import datetime

from herorun import discover
from herorun.core.babysit.action_key import Verb, parse_key, write_key
from herorun.core.errors import (
    Blocked,
    CouldNotLook,
    HerorunError,
    WrongUse,
    describe_error,
    sentence,
)
from herorun.core.event import Done, HandedOff, Intended
from herorun.core.evidence import LeaseSeen, Now, Unavailable
from herorun.core.markdown import quote_line
from herorun.core.proposed_commands import elsewhere, in_tmux
from herorun.core.record.lease import stale_at, takeover_command, takeover_wait
from herorun.gather import gather
from herorun.operations.health.evaluate import must_be_launched
from herorun.operations.orders.order import (
    OrderOutcome,
    memory_for_orders,
    push_warning,
    unwatched_warnings,
)
from herorun.operations.orders.owner_facts import facts_for_owner
from herorun.operations.record.lease import hand_lease, other_holder, seize_lease, take_lease
from herorun.operations.record.post import journal_failure, post_entry
from herorun.runs import Run
from herorun.system.clock import now
from herorun.system.files import hold_lock

LEASE_POLL_INTERVAL = 5.0  # seconds between two polls of a lease that may be stale


def offer_handoff(run: Run, to: str, reason: str = "") -> OrderOutcome:
    """Hand the run to another owner. Only the holder of its lease can do so."""
    if "@" not in to or to.strip() != to or " " in to:
        raise WrongUse(f"{to!r} is not an owner: name it as user@machine.")
    run.prepare()
    with hold_lock(run.lock("act"), what="another herorun that acts on this run"):
        must_be_launched(run, memory_for_orders(run), "hand over")
        if to == run.launcher.owner:
            take = takeover_command(run.slug, run.contract.babysit.cadence)
            raise WrongUse(f"{to} is this machine: `{take}` takes a stale lease over.")
        handover = run.record.memory().handed
        if handover is None or handover.to != to:
            _must_be_held_here(run, to)
            take_lease(run)
            lines = facts_for_owner(
                run, run.launcher.owner, to, reason or "handed over by its owner"
            )
            run.record.append(HandedOff(now(), to, lines))
        if not _has_lease(run, to):
            hand_lease(run, to)
        warnings = (*_blindness(run, to), *_post_handoff(run))
    message = (
        "handed over: this machine no longer monitors the run, and nobody does until "
        f"{to} starts a babysitter {in_tmux(elsewhere(f'herorun babysit {run.slug}'))}. There, "
        f"{elsewhere(f'herorun handoff {run.slug} --to {run.launcher.owner}')} gives it back"
    )
    return OrderOutcome(run, message, warnings=warnings)


def _must_be_held_here(run: Run, to: str) -> None:
    """Raise for a lease of another machine: its owner can hand the run over as asked."""
    holder = other_holder(run)
    if holder is None or holder.owner == run.launcher.owner or holder.slug != run.slug:
        return
    if holder.owner == to:
        raise Blocked(
            f"{to} holds the lease of {run.slug} already: "
            f"start the monitoring there, {in_tmux(elsewhere(f'herorun babysit {run.slug}'))}."
        )
    take = takeover_command(run.slug, run.contract.babysit.cadence)
    raise Blocked(
        f"{holder.owner} holds the lease of {run.slug}. On that machine, type "
        f"{elsewhere(f'herorun handoff {run.slug} --to {to}')}. If that machine is gone, take the "
        f"run over here first: `{take}`, then repeat this command."
    )


def _has_lease(run: Run, owner: str) -> bool:
    """Whether `owner` already holds the lease, because an interrupted call handed it over."""
    _, lease = _gather_handoff(run)
    return isinstance(lease, LeaseSeen) and lease.owner == owner


def take_over(
    run: Run, reason: str = "", wait: float = 0.0, sleep: Callable[[float], None] = time.sleep
) -> OrderOutcome:
    """Take over a lease that is no longer renewed, after observing it for at most `wait`
    seconds.
    """
    run.prepare()
    must_be_launched(run, memory_for_orders(run), "take over")
    lease = _stale(run, wait, sleep)
    owner = run.launcher.owner
    with hold_lock(run.lock("act"), what="another herorun that acts on this run"):
        begun_before = next(
            (i for i in run.record.memory().intended.values() if _is_taking(i)), None
        )
        if lease is None and begun_before is None:
            take_lease(run)
            _record_takeover(run, reason)
            message = f"this machine, {owner}, already holds the lease"
            warnings = (*push_warning(run), *unwatched_warnings(run))
            return OrderOutcome(run, message, warnings=warnings)
        intent = begun_before or _intend(run, lease, reason)
        if lease is not None:
            with journal_failure(run, intent):
                seize_lease(run, lease)
        giver, _, why = intent.what.partition(": ")
        lines = facts_for_owner(run, giver, owner, why)
        run.record.append(
            HandedOff(now(), owner, lines),
            Done(now(), intent.key, intent.attempt, result=owner),
        )
        warnings = (*_blindness(run, owner), *_post_handoff(run))
    return OrderOutcome(
        run,
        f"{owner} now owns the run, in place of {giver}. No babysitter acts on it until you start "
        f"one here, {in_tmux(f'`herorun babysit {run.slug}`')}. A babysitter of {giver} that still "
        "runs can no longer stop or relaunch the job. To give the run back: "
        f"`herorun handoff {run.slug} --to {giver}`",
        warnings=warnings,
    )


def _record_takeover(run: Run, reason: str) -> None:
    """Correct the record if it names another owner although we have always held the lease."""
    owner, handover = run.launcher.owner, run.record.memory().handed
    if handover is not None and handover.to != owner:
        why = reason or f"its lease was never handed to {handover.to}"
        run.record.append(HandedOff(now(), owner, facts_for_owner(run, handover.to, owner, why)))


def _is_taking(intent: Intended) -> bool:
    key = parse_key(intent.key)
    return key.verb == Verb.HANDOFF and key.topic == "take"


def _intend(run: Run, lease: LeaseSeen | None, reason: str) -> Intended:
    """Record the takeover before the lease changes, so that an interruption does not lose the
    reason.
    """
    assert lease is not None
    since = f"{lease.unchanged_since:%Y-%m-%d %H:%M:%S} UTC{lease.caveat}"
    why = reason or f"its lease has not moved since {since}"
    key = write_key(Verb.HANDOFF, "take", lease.fence)
    run.record.append(
        Intended(
            at=now(),
            key=key,
            attempt=run.record.memory().attempt(key),
            what=f"{lease.owner}: {why}",
        )
    )
    return run.record.memory().intended[key]


def _stale(run: Run, wait: float, sleep: Callable[[float], None]) -> LeaseSeen | None:
    """The lease of another owner that was not renewed for two cadences by our clock; None if no
    other owner holds one.
    """
    until = time.monotonic() + wait
    first: LeaseSeen | None = None
    while True:
        at, lease = _gather_handoff(run)
        if not isinstance(lease, LeaseSeen) or lease.mine:
            return None
        due = stale_at(lease.unchanged_since, run.contract.babysit.cadence)
        if at >= due:
            return lease
        if first and (first.fence, first.beat) != (lease.fence, lease.beat):
            raise Blocked(
                f"{lease.owner} still monitors {run.slug} and renews its lease. There, type "
                f"{elsewhere(f'herorun handoff {run.slug} --to {run.launcher.owner}')}."
            )
        first = lease
        if time.monotonic() >= until:
            raise CouldNotLook(
                f"Not taken over: {lease.owner} may still act: this machine sees its lease "
                f"unchanged only since {lease.unchanged_since:%H:%M:%S} UTC{lease.caveat}, "
                f"and it is stale if it still is at {due:%H:%M:%S} UTC. If you can, end its "
                "babysitter. Repeat this command at that time, or now with "
                f"`--wait {takeover_wait(run.contract.babysit.cadence)}`."
            )
        sleep(min(LEASE_POLL_INTERVAL, max(0.1, (due - at).total_seconds())))


def _gather_handoff(run: Run) -> tuple[datetime, object]:
    """The lease, and the time just before it was read, so that a later change of the clock does not
    affect its age.
    """
    run.record.fetch()
    at = now()
    inputs = {**run.base_evidence(run.record.memory()), Now: Now(at)}
    evidence = gather([LeaseSeen], discover.sources(), inputs)
    lease = evidence[LeaseSeen]
    if isinstance(lease, Unavailable):
        why = sentence(lease.why)
        raise CouldNotLook(
            f"The lease could not be read, so nothing was taken: {why} "
            "Repeat the same command once it answers."
        )
    return at, lease


def _blindness(run: Run, owner: str) -> tuple[str, ...]:
    """What the new owner cannot query, because only the machine that submitted the job can."""
    memory = run.record.memory()
    current = None if run.scheduler.cluster_wide else memory.current
    if current is None or current.name in memory.ends:
        return ()
    place = memory.launchings[current.name].where
    warning = (
        f"only {place} can query {current.name} by {run.contract.scheduler.kind}: {owner} sees "
        "neither whether it runs nor how it ends, and cannot stop or relaunch it"
    )
    return () if place.partition(":")[0] in ("", owner) else (warning,)


def _post_handoff(run: Run) -> tuple[str, ...]:
    """Post in the issue, after the record. An unreachable issue does not undo the handoff."""
    handover = run.record.memory().handed
    assert handover is not None
    warnings = []
    try:
        body = "\n".join(f"- {name}: {quote_line(value)}" for name, value in handover.facts.items())
        post_entry(
            run,
            write_key(Verb.HANDOFF, f"{handover.at:%Y%m%dT%H%M%S}"),
            f"{run.slug} is monitored by {handover.to}",
            body,
            {},
        )
    except (HerorunError, OSError) as error:
        warnings.append(f"the issue was not updated yet: {describe_error(error)}")
    return (*warnings, *push_warning(run))
