"""Owning a run: taking, renewing, handing over and taking over its lease.

There is one authority: the file in the output root, or the record's branch if the contract says so,
or if the root refused the very first owner. The journal states which one it is.
"""

import contextlib
import errno
from datetime import timedelta

from herorun import discover
from herorun.core.errors import Blocked, CouldNotLook, HerorunError, describe_error, sentence
from herorun.core.event import Leased
from herorun.core.evidence import LeaseSeen, Now, Unavailable
from herorun.core.proposed_commands import elsewhere
from herorun.core.record.lease import (
    PATH,
    STALE,
    Lease,
    may_take,
    read_lease,
    takeover_command,
)
from herorun.gather import gather
from herorun.runs import MonitoredRun
from herorun.system.clock import now
from herorun.system.git.clones import lease_last_seen, without_lost_clone
from herorun.system.timeout import within

DEADLINE = 30.0  # seconds that a tick gives it
MIN_LEASE = timedelta(minutes=2)  # that a lease may stay unchanged, however short the cadence is


class LeaseHeldElsewhere(Blocked):
    """Another clone watches it, on this machine or another, and nothing was taken from this one."""


_REFUSAL_ERRORS = (errno.EACCES, errno.EPERM, errno.EROFS)


def take_lease(run: MonitoredRun) -> Lease:
    """Own the run, or `Blocked` by its owner. Renewing one's own lease is taking it."""
    return _take_on_record(run) if by_record(run) else _take_in_root(run)


def take_in_time(run: MonitoredRun) -> Lease:
    """The same by a deadline, `CouldNotLook` after it: a mount that hangs must not hang the tick,
    and the next ones.

    A lease that cannot be read still is whose it was at the last look.
    """
    try:
        return within(DEADLINE, lambda: take_lease(run), f"{_describe_place(run)} was not renewed")
    except (CouldNotLook, OSError):
        if not by_record(run) and (last_lease := lease_last_seen(run.state)):
            _must_be_ours(run, last_lease, _path(run))
        raise


def other_holder(run: MonitoredRun) -> Lease | None:
    """The lease as it lies there, where another owner or another clone holds it; None where nobody
    does, or we do.
    """
    try:
        lease = (
            run.record.memory().lease if by_record(run) else read_lease(run.store.read(_path(run)))
        )
    except FileNotFoundError:
        return None
    except OSError:
        lease = lease_last_seen(run.state)
        if lease is None:
            raise
    return None if lease is None or _is_ours(run, lease) else lease


def is_watched_elsewhere(run: MonitoredRun) -> bool:
    """Whether another owner holds the lease and monitors the run, which never was ours: no launch
    and no handoff in the record names us.

    A lease that has stood still for so long that its owner may be gone is nobody's watch.
    """
    memory = run.record.memory()
    launchers = {each.by for each in memory.launchings.values()}
    if memory.handed or not launchers or launchers & {"", run.launcher.owner}:
        return False
    at = now()
    inputs = {**run.base_evidence(memory), Now: Now(at)}
    lease = gather([LeaseSeen], discover.sources(), inputs)[LeaseSeen]
    if isinstance(lease, Unavailable):
        return True  # as at the last look
    patience = max(MIN_LEASE, STALE * run.contract.babysit.cadence)
    return isinstance(lease, LeaseSeen) and at - lease.unchanged_since <= patience


def by_record(run: MonitoredRun) -> bool:
    """Whether the record's branch is the place of the lease."""
    return run.contract.babysit.lease == "record" or run.record.memory().lease is not None


def root_names_us(run: MonitoredRun) -> bool:
    """Whether the lease in the output root is this clone's, or was when it could be read last: who
    may push the record cannot write there.
    """
    try:
        lease = read_lease(run.store.read(_path(run)))
    except FileNotFoundError:
        return False
    except (HerorunError, OSError):
        lease = lease_last_seen(run.state)
    return lease is not None and lease.owner == run.launcher.owner and _is_ours(run, lease)


def hand_lease(run: MonitoredRun, owner: str) -> Lease:
    """Give the lease that we hold to another owner."""
    mine = take_lease(run)
    if by_record(run):
        return _write_on_record(run, mine.hand_to(owner))
    path = _path(run)
    if not run.store.swap(path, mine.bytes(), mine.hand_to(owner).bytes()):
        raise CouldNotLook(
            f"The lease {path} was changed meanwhile, so it was not handed to {owner}. Try again."
        )
    return mine.hand_to(owner)


def seize_lease(run: MonitoredRun, stale_lease: LeaseSeen) -> Lease:
    """Take over a lease that was seen stale, unless it moved meanwhile."""
    lease = run.record.memory().lease if by_record(run) else read_lease(run.store.read(_path(run)))
    if lease is None or (lease.owner, lease.fence, lease.beat) != (
        stale_lease.owner,
        stale_lease.fence,
        stale_lease.beat,
    ):
        raise Blocked(
            f"The lease of {stale_lease.owner} was renewed just now: that owner is alive, so the "
            "lease was not taken."
        )
    if lease.slug != run.slug:
        raise Blocked(
            f"The lease in {run.place.output_root} is for another run, {lease.slug}: give each "
            "run an output root of its own."
        )
    new_lease = lease.hand_to(run.launcher.owner, run.launcher.clone)
    if by_record(run):
        return _write_on_record(run, new_lease)
    if not run.store.swap(_path(run), lease.bytes(), new_lease.bytes()):
        raise Blocked(
            f"The lease of {stale_lease.owner} was renewed just now: that owner is alive, so the "
            "lease was not taken."
        )
    return new_lease


def _describe_place(run: MonitoredRun) -> str:
    return f"The lease {f'on {run.record.branch}' if by_record(run) else _path(run)}"


def _path(run: MonitoredRun) -> str:
    return f"{run.place.output_root}/{PATH}"


def _take_in_root(run: MonitoredRun) -> Lease:
    mine, path = _new(run), _path(run)
    try:
        data = _create_or_read(run, path, mine)
    except OSError as error:
        if error.errno in _REFUSAL_ERRORS and not run.record.memory().launchings:
            return _take_on_record(run)
        raise CouldNotLook(
            sentence(f"The lease {path} could not be written: {describe_error(error)}")
        ) from None
    return mine if data is None else _renew_in_root(run, path, data)


def _create_or_read(run: MonitoredRun, path: str, mine: Lease) -> bytes | None:
    """The lease that lies there; None where there was none, and ours was made.

    It is read first: a full disk refuses each write, and must not hide that another clone holds it.
    """
    with contextlib.suppress(FileNotFoundError):
        return run.store.read(path)
    try:
        run.store.create(path, mine.bytes())
    except FileExistsError:  # another process was faster
        return run.store.read(path)
    return None


def _renew_in_root(run: MonitoredRun, path: str, data: bytes) -> Lease:
    lease = read_lease(data)
    if lease is None:
        raise Blocked(
            f"{path} is not a lease file that this herorun can read; a newer one may have written "
            "it. Move it away only if no babysitter of another machine or clone uses this root."
        )
    _must_be_ours(run, lease, path)
    renewed_lease = lease.renew(run.launcher.clone)
    if not run.store.swap(path, data, renewed_lease.bytes()):
        raise CouldNotLook(f"The lease {path} was changed just now. Try again.")
    return renewed_lease


def _take_on_record(run: MonitoredRun) -> Lease:
    lease = run.record.memory().lease
    if lease is None:
        return _write_on_record(run, _new(run))
    _must_be_ours(run, lease, run.record.branch)
    return _write_on_record(run, lease.renew(run.launcher.clone))


def _write_on_record(run: MonitoredRun, lease: Lease) -> Lease:
    """Ours once the remote has it; if two write at once, the journal's reducer accepts one."""
    run.record.append(Leased(now(), lease.owner, lease.slug, lease.fence, lease.beat, lease.clone))
    push_result = run.record.push()
    current = run.record.memory().lease
    if current != lease:
        raise Blocked(
            f"The lease on {run.record.branch} is held by "
            f"{current.holder if current else 'another owner'}, who took it first."
        )
    if not push_result and run.record.remote:
        raise CouldNotLook(
            f"The lease on {run.record.branch} could not be pushed: {push_result.why}"
        )
    return lease


def _new(run: MonitoredRun) -> Lease:
    return Lease(run.launcher.owner, run.slug, clone=run.launcher.clone)


def _is_ours(run: MonitoredRun, lease: Lease) -> bool:
    me = run.launcher
    return may_take(without_lost_clone(lease, me.owner), me.owner, run.slug, me.clone)


def _must_be_ours(run: MonitoredRun, lease: Lease, place: str) -> None:
    if _is_ours(run, lease):
        return
    take = takeover_command(run.slug, run.contract.babysit.cadence)
    if (lease.owner, lease.slug) == (run.launcher.owner, run.slug):
        raise LeaseHeldElsewhere(
            f"{place} is held by {lease.holder}, another clone on this machine: run the command "
            "there. "
            f"To continue in this clone instead, end its babysitter there, then `{take}` here."
        )
    raise Blocked(
        f"{place} is held by {lease.owner} for {lease.slug}. Two owners of one output root would "
        "overwrite each other. To act from here, type "
        f"{elsewhere(f'herorun handoff {run.slug} --to {run.launcher.owner}')} there; or, if that "
        f"machine is gone, `{take}` here."
    )
