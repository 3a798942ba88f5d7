"""Who monitors the run now: the lease, and the babysitter's lock on this machine."""

from datetime import datetime

from herorun.core.contract import Contract
from herorun.core.evidence import Launcher, Nothing, RecordLease, Watch
from herorun.core.ports import Place, Store
from herorun.core.record.lease import PATH, Lease, read_lease
from herorun.system.files import is_locked, lock_file
from herorun.system.git import Repository


def read_watch(
    repository: Repository,
    contract: Contract,
    place: Place,
    store: Store,
    launcher: Launcher,
    record_lease: RecordLease | Nothing,
) -> Watch:
    """Who monitors the run. A root that does not exist has no owner; an unreadable one raises."""
    has_babysitter = is_locked(lock_file(repository.common, contract.slug, "babysitter"))
    if isinstance(record_lease, RecordLease):
        return _watch_by_lease(has_babysitter, record_lease.lease, launcher)
    path = f"{place.output_root}/{PATH}"
    try:
        lease, renewed_at = read_lease(store.read(path)), store.modified(path)
    except FileNotFoundError:
        return Watch(has_babysitter)
    if lease is None:
        return Watch(has_babysitter, "")
    return _watch_by_lease(has_babysitter, lease, launcher, renewed_at)


def _watch_by_lease(
    has_babysitter: bool, lease: Lease, launcher: Launcher, renewed_at: datetime | None = None
) -> Watch:
    from herorun.system.git.clones import without_lost_clone

    current = without_lost_clone(lease, launcher.owner)
    return Watch(has_babysitter, current.owner, current.slug, current.clone, renewed_at)
