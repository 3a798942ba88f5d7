"""What changed in the code since the newest instance was launched."""

from herorun.core.errors import CouldNotLook
from herorun.core.evidence import CodeChange, Nothing, PriorLaunch, Snapshot, Unavailable, WorkTree
from herorun.system.git import Repository
from herorun.system.git.remote_refs import changed_files


def read_code_change(
    repository: Repository,
    prior: PriorLaunch,
    tree: WorkTree,
    snapshot: Snapshot | Nothing | Unavailable,
) -> CodeChange | Nothing:
    """The files that differ between the code of that instance and the code that would run now;
    Nothing before a first launch.

    For an approved dirty tree its snapshot is compared, not HEAD.
    """
    if isinstance(snapshot, Unavailable):
        raise CouldNotLook(snapshot.why)
    patch = prior.plan.get("patch") or {}
    before = str(patch.get("commit") or prior.plan["commit"])
    after = snapshot.commit if isinstance(snapshot, Snapshot) else tree.commit
    if not repository.has(before):
        raise CouldNotLook(
            f"Commit {before[:9]}, which {prior.instance} was launched from, is not in this "
            "clone: fetch it."
        )
    tracker = prior.plan.get("tracker") or {}
    files = changed_files(repository, before, after)
    return CodeChange(prior.instance, before, after, files, str(tracker.get("id") or ""))
