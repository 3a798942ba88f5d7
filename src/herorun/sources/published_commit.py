"""Whether the commit can be fetched from the remote: whether a ref that the remote lists now
contains it.
"""

from collections.abc import Mapping
from dataclasses import replace

from herorun.core.contract import Contract
from herorun.core.evidence import Nothing, Published, RecordState, Remotes, RemoteTips, WorkTree
from herorun.system.git import Repository
from herorun.system.git.remote_refs import (
    RECORDS,
    Probe,
    changed_files,
    commits_ahead,
    commits_among,
    containing,
    is_ref_named,
    query_tips,
)

_SHALLOW = "this clone is shallow, so ancestry cannot be asked: run `git fetch --unshallow`"


def read_remotes(repository: Repository) -> Remotes:
    return Remotes(repository.remotes())


def read_remote_tips(
    repository: Repository, contract: Contract, remotes: Remotes
) -> RemoteTips | Nothing:
    """The remote's refs now. A source of its own, so that it runs while the work tree is read."""
    remote = contract.code.remote
    if remote not in remotes.urls:
        return Nothing(f"there is no remote called {remote}")
    return RemoteTips(remote, query_tips(repository, remote))


def read_published(
    repository: Repository, contract: Contract, tree: WorkTree, remote_tips: RemoteTips
) -> Published:
    """Which refs of the remote contain HEAD, and how far HEAD is behind its branch's ref.

    Remote-tracking refs, which may be stale, are not used. Refs are fetched only if the remote has
    a tip that this clone lacks and the answer depends on it.
    """
    remote, tips = remote_tips.remote, remote_tips.by_ref
    named_tips = {name: oid for name, oid in tips.items() if is_ref_named(name, contract.code.refs)}
    others = {
        name: oid
        for name, oid in tips.items()
        if name not in named_tips and not name.startswith(RECORDS)
    }
    own = _branch_refs(repository, remote, tree)
    if tree.shallow:
        return _by_tips(remote, tree, named_tips, others, own)
    with Probe(repository, remote, contract.slug) as probe:
        inside = _refs_with_head(probe, tree, named_tips, own)
        if inside:
            return _measure_distance(repository, remote, tree, inside, own)
        elsewhere = containing(repository, tree.commit, commits_among(repository, others))
        return Published(
            remote=remote, commit=tree.commit, refs=(), elsewhere=tuple(sorted(elsewhere))
        )


def _branch_refs(repository: Repository, remote: str, tree: WorkTree) -> tuple[str, ...]:
    """The branch's refs on the remote: the one of its name, or else its upstream."""
    if tree.branch is None:
        return ()
    branch = f"refs/heads/{tree.branch}"
    answer = repository.git(
        "for-each-ref", "--format=%(upstream:remotename) %(upstream:remoteref)", branch
    )
    where, _, upstream = answer.text.strip().partition(" ")
    return (branch, upstream) if where == remote and upstream not in ("", branch) else (branch,)


def _refs_with_head(
    probe: Probe, tree: WorkTree, named_tips: Mapping[str, str], own: tuple[str, ...]
) -> dict[str, str]:
    """The refs that contain HEAD. The branch's own are always tested, the rest until one contains
    it.
    """
    local_commits = commits_among(probe.repository, named_tips)
    missing = [ref for ref in own if ref in named_tips and ref not in local_commits]
    if missing:
        local_commits |= probe.fetch(missing)
    inside = containing(probe.repository, tree.commit, local_commits)
    unknown = sorted(named_tips.keys() - local_commits.keys())
    if not inside and unknown:
        inside = containing(probe.repository, tree.commit, probe.fetch(unknown))
    return inside


def _measure_distance(
    repository: Repository,
    remote: str,
    tree: WorkTree,
    inside: Mapping[str, str],
    own: tuple[str, ...],
) -> Published:
    """The distance from the branch's ref; otherwise from a ref whose tip is HEAD; otherwise from
    the one that is least ahead.
    """
    exact = sorted(name for name, tip in inside.items() if tip == tree.commit)
    published_commit = Published(remote=remote, commit=tree.commit, refs=tuple(sorted(inside)))
    first = [*(ref for ref in own if ref in inside), *exact]
    if first:
        ref = first[0]
        behind = commits_ahead(repository, tree.commit, inside[ref])
    else:
        behind, ref = min(
            (commits_ahead(repository, tree.commit, tip), name) for name, tip in inside.items()
        )
    files = changed_files(repository, tree.commit, inside[ref])
    return replace(published_commit, ref=ref, tip=inside[ref], behind=behind, behind_files=files)


def _by_tips(
    remote: str,
    tree: WorkTree,
    named_tips: Mapping[str, str],
    others: Mapping[str, str],
    own: tuple[str, ...],
) -> Published:
    """What a shallow clone can show: the refs whose tip is HEAD."""
    exact = tuple(sorted(name for name, tip in named_tips.items() if tip == tree.commit))
    elsewhere = tuple(sorted(name for name, tip in others.items() if tip == tree.commit))
    first = next((ref for ref in own if ref in named_tips), None)
    if not exact or (first and named_tips[first] != tree.commit):
        return Published(
            remote=remote, commit=tree.commit, refs=exact, elsewhere=elsewhere, why_not=_SHALLOW
        )
    ref = first or exact[0]
    return Published(
        remote=remote, commit=tree.commit, refs=exact, elsewhere=elsewhere, ref=ref, tip=tree.commit
    )


def read_record_state(repository: Repository, contract: Contract, remotes: Remotes) -> RecordState:
    """The record's commit here and on its remote."""
    commit = repository.resolve(contract.record_ref)
    remote = contract.record_remote
    if remote not in remotes.urls:
        return RecordState(commit, None)
    target = f"refs/heads/{contract.record_branch}"
    return RecordState(commit, repository.remote_tips(remote, target).get(target), remote)
