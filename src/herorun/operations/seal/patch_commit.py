"""The seal commit of a run from a dirty tree: its edits as a commit with its own tag, so that every
clone gets them.

It is the approved snapshot, verified again. If that is lost, the commit is rebuilt from the diff in
the record, in a separate index. The same content gives the same commit.
"""

from collections.abc import Mapping
from typing import Any

from herorun.core.decode import decode
from herorun.core.errors import Blocked, CouldNotLook
from herorun.core.evidence import Instance
from herorun.core.journal import Memory
from herorun.core.plan import Patch
from herorun.operations.launch.snapshot import admitted_snapshot
from herorun.operations.seal.tag import local_tag, remote_tag
from herorun.record import MAX_BYTES
from herorun.runs import Run
from herorun.system.git.plumbing import push
from herorun.system.git.tags import annotated_tag
from herorun.system.git.worktree_snapshot import from_diff


def keep_edits(run: Run, memory: Memory) -> dict[str, str]:
    """Tag the seal commits, here and on the remote; returns them by instance. Idempotent."""
    patches = memory.edits.patches
    commits = {
        each.name: _commit(run, each, patches[each.name])
        for each in memory.instances
        if each.name in patches
    }
    found_commits = {name: commit for name, commit in commits.items() if commit}
    for name, commit in found_commits.items():
        _tag(run, name, str(patches[name]["tree"]), commit)
    return found_commits


def _commit(run: Run, instance: Instance, patch_value: Mapping[str, Any]) -> str | None:
    """The commit with the edits; None if they are lost, which a person accepted at the gate."""
    try:
        admitted_snapshot(run, instance.commit, {"patch": {"value": patch_value}})
        return str(patch_value["commit"])
    except Blocked:
        return _rebuild_commit(run, instance, decode(Patch, patch_value))


def _rebuild_commit(run: Run, instance: Instance, patch: Patch) -> str | None:
    path = f"{run.record.files_path}/patch-{patch.diff[7:19]}.diff"
    tip = run.record.tip
    data = run.repository.read(tip, [path], MAX_BYTES)[path] if tip else None
    if data is None:
        return None
    commit = from_diff(run.repository, instance.commit, data)
    if commit != patch.commit:
        raise Blocked(
            f"The diff of {instance.name} in the record makes commit {commit[:9]}, not the "
            f"approved {patch.commit[:9]}: `herorun verify {run.slug}` checks the record."
        )
    return commit


def _tag(run: Run, instance: str, tree: str, commit: str) -> None:
    """Create and push the tag, create-only: one tag for all instances with the same edits."""
    tag, remote = f"herorun/{run.slug}/edits-{tree[:12]}", run.contract.code.remote
    message = (
        f"The work tree of hero run {run.slug}, as it was approved and run (first as {instance})\n"
    )
    oid = annotated_tag(run.repository, tag, commit, message)
    if run.repository.resolve(f"refs/tags/{tag}") != commit:
        raise Blocked(
            f"This clone has another tag {tag}, which herorun never moves: `git show {tag}` shows "
            "who made it."
        )
    if remote not in run.repository.remotes():
        return
    remote_oid = remote_tag(run, tag)
    if remote_oid is None:
        push(run.repository, remote, oid, f"refs/tags/{tag}", None)
    elif remote_oid != local_tag(run, tag) and not _same_commit(run, tag, commit):
        raise Blocked(
            f"{remote} has another tag {tag}, which herorun never moves: find out who pushed it."
        )


def _same_commit(run: Run, tag: str, commit: str) -> bool:
    """Whether the remote's tag, perhaps of another clone, points at the same commit."""
    ref = f"refs/tags/{tag}^{{}}"
    tip = run.repository.remote_tips(run.contract.code.remote, ref).get(ref)
    if tip is None:
        raise CouldNotLook(f"{run.contract.code.remote} does not say what its tag {tag} points at.")
    return tip == commit
