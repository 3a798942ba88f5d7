"""Who watches the run now: the lease, and the babysitter's lock on this machine."""

from herorun.core.contract import Contract
from herorun.core.evidence import Nothing, RecordLease, Watch
from herorun.core.lease import PATH, read_lease
from herorun.core.ports import Place, Store
from herorun.system.files import is_locked, lock_file
from herorun.system.git import Repository


def read_watch(
    repository: Repository, contract: Contract, place: Place, store: Store, recorded: RecordLease | Nothing
) -> Watch:
    """A root that does not exist is nobody's; one that cannot be read raises."""
    here = is_locked(lock_file(repository.common, contract.slug, "babysitter"))
    if isinstance(recorded, RecordLease):
        return Watch(here, recorded.lease.owner, recorded.lease.slug)
    try:
        data = store.read(f"{place.output_root}/{PATH}")
    except FileNotFoundError:
        return Watch(here)
    lease = read_lease(data)
    return Watch(here, lease.owner, lease.slug) if lease else Watch(here, "")
