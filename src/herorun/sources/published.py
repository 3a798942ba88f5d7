"""Whether the commit can be fetched from the remote: reachable from a ref that it answers with now."""

import os
from fnmatch import fnmatchcase

from herorun.core.contract import Contract
from herorun.core.evidence import Nothing, Published, RecordState, Remotes, WorkTree
from herorun.system.git import Repository
from herorun.system.plumbing import delete_refs, fetch


def read_remotes(repository: Repository) -> Remotes:
    return Remotes(repository.remotes())


def read_published(
    repository: Repository, contract: Contract, tree: WorkTree, remotes: Remotes
) -> Published | Nothing:
    """Which of the contract's refs on the remote contain HEAD. A stale remote-tracking ref is not asked."""
    remote = contract.code.remote
    if remote not in remotes.urls:
        return Nothing(f"there is no remote called {remote}")
    answered = repository.remote_tips(remote)
    tips = {
        name: oid
        for name, oid in answered.items()
        if any(fnmatchcase(name, ref) for ref in contract.code.refs)
    }
    exact = tuple(sorted(name for name, oid in tips.items() if oid == tree.commit))
    if exact:
        return Published(remote, tree.commit, exact)
    known = {name: oid for name, oid in tips.items() if repository.has(oid)}
    inside = {name for name, oid in known.items() if repository.is_ancestor(tree.commit, oid)}
    if not inside and known.keys() != tips.keys():
        inside = _fetched(repository, remote, tree.commit, sorted(tips.keys() - known.keys()))
    return Published(remote, tree.commit, tuple(sorted(inside)))


def _fetched(repository: Repository, remote: str, commit: str, refs: list[str]) -> set[str]:
    """Fetch unknown tips into private refs of this process, ask them, and remove them again."""
    private = f"refs/herorun/probe/{os.getpid()}/"
    try:
        fetch(repository, remote, {ref: f"{private}{ref}" for ref in refs})
        found = repository.git(
            "for-each-ref", f"--contains={commit}", "--format=%(refname)", private
        ).text.split()
        return {name.removeprefix(private) for name in found}
    finally:
        delete_refs(repository, private)


def read_record_state(repository: Repository, contract: Contract, remotes: Remotes) -> RecordState:
    """Our record's commit here and on its remote."""
    commit = repository.resolve(contract.record_ref)
    remote = contract.record_remote
    if remote not in remotes.urls:
        return RecordState(commit, None)
    target = f"refs/heads/{contract.record_branch}"
    return RecordState(commit, repository.remote_tips(remote, target).get(target), remote)
