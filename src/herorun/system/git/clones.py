"""Which clone on this machine holds a lease, and whether it is still there."""

from dataclasses import replace
from pathlib import Path

from herorun.core.canonical_json import canonical
from herorun.core.record.lease import Lease, read_lease
from herorun.core.untrusted_json import read_json

SEEN = "lease-seen.json"  # what a clone saw of the lease, in its state folder


def without_lost_clone(lease: Lease, owner: str) -> Lease:
    """The lease of a clone of this machine that was moved or deleted: nothing can run from there,
    so none is named.
    """
    if lease.owner == owner and lease.clone and not Path(lease.clone).is_dir():
        return replace(lease, clone="")
    return lease


def lease_last_seen(state: Path) -> Lease | None:
    """As it was at the last look that could read it; None where no look did, or an older version
    noted it.
    """
    try:
        note = read_json((state / SEEN).read_bytes())
        return read_lease(canonical(note["lease"]).encode())
    except (OSError, ValueError, KeyError, TypeError):
        return None
