"""The lease: one owner of a run at a time, with a fence number that only rises.

It lives at `<output_root>/_herorun/lease.json` and is changed by compare-and-swap; where that cannot be written, in the
record, where the push that the remote takes counts. A lease is stale when the observer saw the same fence and beat
unchanged for two cadences of its own clock.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from herorun.core.canonical import canonical
from herorun.core.outside import read_json, whole_number

PATH = "_herorun/lease.json"
STALE = 2  # cadences


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
        found = read_json(data)
        fence, beat = whole_number(found["fence"]), whole_number(found["beat"])
        return Lease(str(found["owner"]), str(found["slug"]), fence, beat)
    except (ValueError, KeyError, TypeError):
        return None


def may_take(lease: Lease, owner: str, slug: str) -> bool:
    """Only its own owner, for its own run."""
    return lease.owner == owner and lease.slug == slug


def follows(lease: Lease, held: Lease | None) -> bool:
    """Whether a lease that the record brings counts: a beat of the holder, or the very next fence.

    Of two that took the same fence the one that the remote took first stands before the other, which thereby fails.
    """
    if held is None:
        return True
    if lease.fence == held.fence:
        return (lease.owner, lease.slug) == (held.owner, held.slug)
    return lease.fence == held.fence + 1


def stale_at(unchanged_since: datetime, cadence: timedelta) -> datetime:
    """When a lease that does not move may be taken over."""
    return unchanged_since + STALE * cadence
