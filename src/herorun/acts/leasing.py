"""Owning a run: taking and renewing its lease."""

from herorun.core.errors import Blocked, CouldNotLook, in_words
from herorun.core.lease import PATH, Lease, may_take, read_lease
from herorun.workspace import Run


def take_lease(run: Run) -> Lease:
    """Own the run, or `Blocked` by whoever does. Renewing one's own lease is taking it."""
    mine = Lease(run.launcher.owner, run.slug)
    path = f"{run.place.output_root}/{PATH}"
    try:
        run.store.create(path, mine.bytes())
        return mine
    except FileExistsError:
        found = run.store.read(path)
    except OSError as error:
        raise CouldNotLook(f"The lease {path} could not be written: {in_words(error)}.") from None
    lease = read_lease(found)
    if lease is None or not may_take(lease, mine.owner, run.slug):
        holder = f"{lease.owner} for {lease.slug}" if lease else "something that is no lease"
        raise Blocked(
            f"{path} is held by {holder}. Two owners of one output root would overwrite each other."
        )
    renewed = lease.renewed()
    if not run.store.swap(path, found, renewed.bytes()):
        raise CouldNotLook(f"The lease {path} was changed at this very moment. Try again.")
    return renewed


def hand_lease(run: Run, owner: str) -> None:
    """Give the lease that we hold to the owner that the contract names."""
    mine = take_lease(run)
    path = f"{run.place.output_root}/{PATH}"
    if not run.store.swap(path, mine.bytes(), mine.handed(owner).bytes()):
        raise CouldNotLook(f"The lease {path} was changed at this very moment, and is not handed to {owner}.")
