"""Whether the edits that instances ran with can still be found: as a snapshot, here or on the
remote, or as a diff.
"""

from collections.abc import Mapping
from typing import Any

from herorun.core.contract import Contract
from herorun.core.evidence import LaunchedEdits, Nothing, RecordedEdits
from herorun.core.plan import snapshot_ref
from herorun.system.git import Repository


def read_recorded_edits(
    repository: Repository, contract: Contract, launch_edits: LaunchedEdits
) -> RecordedEdits | Nothing:
    """The recorded edits. A remote is queried only for those that this clone lacks."""
    if not launch_edits.patches and not launch_edits.unnamed:
        return Nothing("every instance ran a commit as it is")
    why = "it ran a checkout with uncommitted edits, and they are not recorded"
    missing = dict.fromkeys(launch_edits.unnamed, why)
    places = {}
    for instance, patch in launch_edits.patches.items():
        where = _where(repository, contract, patch)
        if where:
            places[instance] = where
        else:
            ref = snapshot_ref(contract.slug, str(patch["tree"]))
            missing[instance] = (
                f"its edits are neither in this clone, nor on the remote, nor in the record ({ref})"
            )
    return RecordedEdits(places, missing)


def _where(repository: Repository, contract: Contract, patch: Mapping[str, Any]) -> str:
    """Where the edits are; "" if they are nowhere."""
    commit, remote = str(patch["commit"]), contract.code.remote
    ref = snapshot_ref(contract.slug, str(patch["tree"]))
    if repository.has(commit):
        return f"commit {commit[:9]}"
    if remote in repository.remotes() and repository.remote_tips(remote, ref).get(ref) == commit:
        return f"{ref} on {remote}"
    return "a diff in the record" if _diff(repository, contract, str(patch["diff"])) else ""


def _diff(repository: Repository, contract: Contract, digest: str) -> bool:
    tip = repository.resolve(contract.record_ref)
    if tip is None:
        return False
    path = f".agents/logbooks/{contract.slug}.files/patch-{digest[7:19]}.diff"
    return repository.read(tip, [path])[path] is not None
