"""The lease: one owner of a run at a time, with a fence number that only rises.

It is the file `<output_root>/_herorun/lease.json`, changed by compare-and-swap; if that cannot be
written, it is in the record, where the push that the remote accepts counts. A lease is stale when
the observer saw the same fence and beat unchanged for two cadences of its own clock.

It names the clone too: two clones of one user on one machine have a state folder, an issue page and
a lock each, so they are two owners.
"""

from dataclasses import replace
from datetime import datetime, timedelta
from math import ceil

from herorun.core.lazy_dataclass import dataclass

PATH = "_herorun/lease.json"
STALE = 2  # cadences


@dataclass(frozen=True)
class Lease:
    owner: str  # user@machine, never a process id
    slug: str
    fence: int = 1
    beat: int = 0
    # main work tree on that machine; empty: not known, so the next one of that owner takes it
    clone: str = ""

    @property
    def holder(self) -> str:
        """For people: `ana@box`, with the clone where it is known."""
        return f"{self.owner} in {self.clone}" if self.clone else self.owner

    def bytes(self) -> bytes:
        from herorun.core.canonical_json import canonical  # `explain` needs the type alone

        return (canonical(self) + "\n").encode()

    def renew(self, clone: str = "") -> "Lease":
        return replace(self, beat=self.beat + 1, clone=clone or self.clone)

    def hand_to(self, owner: str, clone: str = "") -> "Lease":
        """Another's: the fence rises, so that what the former owner still does is recognised."""
        return replace(self, owner=owner, fence=self.fence + 1, beat=0, clone=clone)


def read_lease(data: bytes) -> Lease | None:
    """None for a file that is no lease: it must not be overwritten."""
    from herorun.core.untrusted_json import read_json, whole_number

    try:
        document = read_json(data)
        fence, beat = whole_number(document["fence"]), whole_number(document["beat"])
        return Lease(
            str(document["owner"]),
            str(document["slug"]),
            fence,
            beat,
            str(document.get("clone", "")),
        )
    except (ValueError, KeyError, TypeError):
        return None


def may_take(lease: Lease, owner: str, slug: str, clone: str = "") -> bool:
    """Only its own owner, in its own clone, for its own run."""
    return is_held_by(lease, owner, clone) and lease.slug == slug


def is_held_by(lease: Lease, owner: str, clone: str = "") -> bool:
    """A clone that is not named on one side is no difference: older versions named none."""
    return lease.owner == owner and (not lease.clone or not clone or lease.clone == clone)


def follows(lease: Lease, current: Lease | None) -> bool:
    """Whether a lease that the record brings counts: a beat of the holder, or the very next fence.

    Of two that took the same fence the remote keeps the first, and the other one fails.
    """
    if current is None:
        return True
    if lease.fence == current.fence:
        return may_take(current, lease.owner, lease.slug, lease.clone)
    return lease.fence == current.fence + 1


def stale_at(unchanged_since: datetime, cadence: timedelta) -> datetime:
    """When a lease that does not move may be taken over."""
    return unchanged_since + STALE * cadence


def takeover_wait(cadence: timedelta) -> str:
    """How long to watch a lease that nobody has watched yet, as a value of `handoff --take --wait`:
    whole minutes, with one to spare.

    >>> [takeover_wait(timedelta(seconds=seconds)) for seconds in (20, 900, 3_600)]
    ['2m', '31m', '121m']
    """
    minutes = ceil(STALE * cadence.total_seconds() / 60)
    return f"{minutes + 1}m"


def takeover_command(slug: str, cadence: timedelta) -> str:
    """What takes a run over whose owner is gone: it first watches the lease.

    >>> takeover_command("tiny", timedelta(minutes=15))
    'herorun handoff tiny --take --wait 31m'
    """
    return f"herorun handoff {slug} --take --wait {takeover_wait(cadence)}"
