"""The approved dirty tree of a launch: stored on the remote before anything runs from it, and found
again later.

Its ref is created once and never moved, here and on the remote. The record only names it: what is
found must be exactly that commit, tree and diff.
"""

from collections.abc import Mapping
from typing import Any

from herorun.core.babysit.action_key import Verb, write_key
from herorun.core.errors import CouldNotLook
from herorun.core.event import Done, Launching
from herorun.core.evidence import Nothing, Snapshot
from herorun.core.plan import Patch, Plan, snapshot_ref
from herorun.runs import Run
from herorun.runs.recorded_plan import must_be, snapshot_again
from herorun.system.clock import now
from herorun.system.git.plumbing import move_ref, push
from herorun.system.git.worktree_snapshot import canonical_diff, describe_snapshot

SMALL = 256_000  # bytes of a diff that is stored next to the record


def ref_of(run: Run, patch: Patch) -> str:
    return snapshot_ref(run.slug, patch.tree)


def keep_snapshot(run: Run, plan: Plan, launching: Launching) -> None:
    """Store the edits where every clone can find them, and record that. Idempotent."""
    patch, key = plan.patch.value, write_key(Verb.SNAPSHOT, launching.instance)
    if patch is None or key in run.record.memory().done:
        return
    ref, remote = ref_of(run, patch), run.contract.code.remote
    local_commit = run.repository.resolve(ref)
    if local_commit is None:
        move_ref(run.repository, ref, patch.commit, None)
    must_be(patch, local_commit or patch.commit, f"{ref} in this clone")
    if remote in run.repository.remotes():
        _push(run, patch, remote)
    else:
        remote = "this clone only"
    lines = {
        "Status": f"the approved edits of {launching.instance} are kept",
        "Evidence": f"{ref} on {remote}: commit {patch.commit}, {patch}",
        "Decision": "run them",
        "Next": "submit",
    }
    run.record.append(Done(now(), key, 1, f"{launching.instance}: approved edits kept", lines, ref))


def _push(run: Run, patch: Patch, remote: str) -> None:
    """Push the snapshot, create-only. An existing ref is not changed, and must be the same."""
    ref = ref_of(run, patch)
    remote_commit = run.repository.remote_tips(remote, ref).get(ref)
    if remote_commit is None:
        try:
            push(run.repository, remote, patch.commit, ref, None)
            return
        except CouldNotLook as error:
            remote_commit = run.repository.remote_tips(remote, ref).get(ref)
            if remote_commit is None:
                raise CouldNotLook(f"the approved edits could not be pushed: {error}") from None
    must_be(patch, remote_commit, f"{ref} on {remote}")


def admitted_snapshot(run: Run, commit: str, plan: Mapping[str, Any]) -> Snapshot | Nothing:
    """The snapshot that a launch was admitted with, as the record names it; found and verified."""
    return snapshot_again(run.repository, run.slug, run.contract.code.remote, commit, plan)


def stored_diff(run: Run, plan: Plan) -> dict[str, bytes]:
    """The diff for people, stored next to the record, if it is small and contains no secret."""
    patch = plan.patch.value
    if patch is None or describe_snapshot(run.repository, plan.commit.value, patch.commit).secrets:
        return {}
    diff = canonical_diff(run.repository, plan.commit.value, patch.commit)
    return {f"patch-{patch.diff[7:19]}.diff": diff} if len(diff) <= SMALL else {}
