"""Which clone on this machine holds a lease, and whether it is still there."""

from dataclasses import replace
from pathlib import Path

from herorun.core.canonical_json import canonical
from herorun.core.record.lease import Lease, read_lease
from herorun.core.untrusted_json import read_json

LEASE_FILE = "lease-seen.json"  # a clone's record of the lease, in its state folder


def without_lost_clone(lease: Lease, owner: str) -> Lease:
    """The lease without its clone's path, if that clone of this machine was moved or deleted:
    nothing can run from there.
    """
    if lease.owner == owner and lease.clone and not Path(lease.clone).is_dir():
        return replace(lease, clone="")
    return lease


def lease_last_seen(state: Path) -> Lease | None:
    """The lease as last read; None if it was never read, or only by an older version."""
    try:
        note = read_json((state / LEASE_FILE).read_bytes())
        return read_lease(canonical(note["lease"]).encode())
    except (OSError, ValueError, KeyError, TypeError):
        return None
