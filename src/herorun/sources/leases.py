"""Signs of life of the run's babysitter: the lease over time, and the loop's own heartbeat."""

import contextlib
import json
import os
from datetime import datetime
from pathlib import Path

from herorun.core.canonical_json import canonical
from herorun.core.contract import Contract
from herorun.core.evidence import Heartbeat, Launcher, LeaseSeen, Nothing, Now, RecordLease
from herorun.core.ports import Place, Store
from herorun.core.record.lease import PATH, Lease, is_held_by, read_lease
from herorun.core.untrusted_json import parse_time, read_json
from herorun.system.clock import uptime
from herorun.system.files import is_locked, lock_file, write_atomic
from herorun.system.git import Repository
from herorun.system.git.clones import LEASE_FILE, without_lost_clone


def read_lease_seen(
    place: Place, store: Store, launcher: Launcher, now: Now, record_lease: RecordLease | Nothing
) -> LeaseSeen | Nothing:
    """The lease, and since when it is unchanged. Each command of this machine records when it first
    read a beat, by the uptime, so that setting a clock cannot make a live lease look old.
    """
    if isinstance(record_lease, RecordLease):
        return _observe_lease(place, record_lease.lease, None, launcher, now)
    path = f"{place.output_root}/{PATH}"
    try:
        lease, modified_at = read_lease(store.read(path)), store.modified(path)
    except FileNotFoundError:
        return Nothing("no lease is held")
    if lease is None:
        return Nothing("the file in the lease's place is not a lease")
    return _observe_lease(place, lease, modified_at, launcher, now)


def _observe_lease(
    place: Place, lease: Lease, modified_at: datetime | None, launcher: Launcher, now: Now
) -> LeaseSeen:
    since, by_wall_clock = _unchanged_since(Path(place.state), lease, now.at)
    current = without_lost_clone(lease, launcher.owner)
    mine = is_held_by(current, launcher.owner, launcher.clone)
    return LeaseSeen(
        owner=lease.owner,
        slug=lease.slug,
        unchanged_since=since,
        modified=modified_at,
        mine=mine,
        fence=lease.fence,
        beat=lease.beat,
        clone=current.clone,
        by_wall_clock=by_wall_clock,
    )


def _unchanged_since(state: Path, lease: Lease, now: datetime) -> tuple[datetime, bool]:
    """Since when the lease is unchanged, and whether only the wall clock shows it. Records from
    before this machine's start do not count.
    """
    beat, clock = f"{lease.owner} {lease.slug} {lease.fence} {lease.beat}", uptime()
    try:
        document = read_json((state / LEASE_FILE).read_bytes())
        if document["beat"] == beat:
            if clock is None:
                return parse_time(document["since"]), True
            if since := clock.written_at(document, now):
                return since, False
    except (OSError, ValueError, KeyError, TypeError, OverflowError):
        pass  # a new beat, or an unreadable record: first read now
    note = {"beat": beat, "since": now, "lease": json.loads(lease.bytes())}
    note |= clock.note if clock else {}
    # on a full disk the beat counts as first read now, at every query; so it does after a loss of
    # power, as no note from before it counts
    with contextlib.suppress(OSError):
        if state.is_dir():
            write_atomic(
                state / LEASE_FILE, (canonical(note) + "\n").encode(), spare=True, sync=False
            )
    return now, clock is None


def read_heartbeat(repository: Repository, contract: Contract, place: Place, now: Now) -> Heartbeat:
    """The heartbeat of the loop that holds the babysitter's lock; without a file it has no time.
    Its age is by the uptime, as a lease's.
    """
    is_held, clock = is_locked(lock_file(repository.common, contract.slug, "babysitter")), uptime()
    try:
        document = read_json((Path(place.state) / "heartbeat.json").read_bytes())
        written_at = clock.written_at(document, now.at) if clock else None
        is_own = document.get("pid") == os.getpid()
        return Heartbeat(is_held, written_at or parse_time(document["at"]), is_own)
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return Heartbeat(is_held)  # missing or damaged: its time is unknown
