"""The snapshot of an approved dirty tree."""

from herorun.core.code.impact import blocking_changes, list_ignored_files
from herorun.core.contract import Contract, ContractFile
from herorun.core.evidence import (
    ImportClosure,
    Nothing,
    Now,
    Snapshot,
    Unavailable,
    Waivers,
    WorkTree,
)
from herorun.system.git import Repository
from herorun.system.git.worktree_snapshot import MEGABYTE, take_snapshot


def read_snapshot(
    repository: Repository,
    contract: Contract,
    file: ContractFile,
    tree: WorkTree,
    closure: ImportClosure | Nothing | Unavailable,
    waivers: Waivers,
    now: Now,
) -> Snapshot | Nothing:
    """Made only if a waiver of dirty-tree is valid and something differs that can change the
    training.

    Its objects are written to the repository's object store; git removes unreferenced ones later.
    """
    if not any(w.check == "dirty-tree" and now.at < w.expires for w in waivers.waivers):
        return Nothing("no waiver of dirty-tree applies")
    if not blocking_changes(contract, file, tree, closure):
        return Nothing("nothing that can change the training differs from the commit")
    cap = contract.code.snapshot_max_mb * MEGABYTE
    taken_snapshot = take_snapshot(repository, tree.commit, list_ignored_files(tree), cap)
    return taken_snapshot or Nothing("no file of the commit differs from it")
