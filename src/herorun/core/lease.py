"""The lease: one owner of a run at a time, with a fence number that only rises.

It lives at `<output_root>/_herorun/lease.json` and is changed by compare-and-swap. A lease is stale when the
observer saw the same fence and beat unchanged for two cadences of its own clock.
"""

import json
from dataclasses import dataclass, replace

from herorun.core.canonical import canonical

PATH = "_herorun/lease.json"


@dataclass(frozen=True)
class Lease:
    owner: str  # user@machine, never a process id
    slug: str
    fence: int = 1
    beat: int = 0

    def bytes(self) -> bytes:
        return (canonical(self) + "\n").encode()

    def renewed(self) -> "Lease":
        return replace(self, beat=self.beat + 1)

    def handed(self, owner: str) -> "Lease":
        """Another's: the fence rises, so that what the former owner still does is told apart."""
        return replace(self, owner=owner, fence=self.fence + 1, beat=0)


def read_lease(data: bytes) -> Lease | None:
    """None for a file that is no lease: it is then nobody's to overwrite."""
    try:
        found = json.loads(data)
        return Lease(str(found["owner"]), str(found["slug"]), int(found["fence"]), int(found["beat"]))
    except (ValueError, KeyError, TypeError):
        return None


def may_take(lease: Lease, owner: str, slug: str) -> bool:
    """Only its own owner, for its own run."""
    return lease.owner == owner and lease.slug == slug
