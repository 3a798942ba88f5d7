"""Whether a clone on this machine is still there."""

from dataclasses import replace
from pathlib import Path

from herorun.core.lease import Lease


def without_lost_clone(lease: Lease, owner: str) -> Lease:
    """The lease of a clone of this machine that was moved or deleted: nobody can watch from there, so none is named."""
    if lease.owner == owner and lease.clone and not Path(lease.clone).is_dir():
        return replace(lease, clone="")
    return lease
