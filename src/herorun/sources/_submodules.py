"""What differs inside submodules, and whether their own remotes have the commits that the
superproject names.
"""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field, replace

from herorun.core.errors import CouldNotLook, describe_error
from herorun.core.evidence import Submodule
from herorun.core.lazy_dataclass import dataclass
from herorun.sources._assume_unchanged import hidden_edits
from herorun.sources._lfs_pointers import pointers
from herorun.sources._status import TreeStatus, read_status, show_path
from herorun.sources._untracked_imports import importable
from herorun.sources._worktree_kind import WorktreeFolders, worktree_folders
from herorun.system.git import Repository
from herorun.system.git.remote_refs import Probe, commits_among, containing

_AT_ONCE = 8
# seconds; a submodule whose remote does not answer must not delay the rest
ASKING = 20.0


@dataclass
class SubmoduleStatus:
    """The state of all submodules, nested ones too; paths are relative to the outermost top."""

    rows: list[Submodule] = field(default_factory=list)
    importable: list[str] = field(default_factory=list)
    pointers: list[str] = field(default_factory=list)


def insides(
    outer: TreeStatus, roots: Iterable[str], prefix: str = "", top: str = ""
) -> SubmoduleStatus:
    """Reads the status of each submodule: git's summary in the superproject depends on the
    submodule's settings.
    """
    links = outer.gitlinks
    result = SubmoduleStatus()
    if not links:
        return result
    top = top or str(outer.repository.top)
    with ThreadPoolExecutor(_AT_ONCE) as at_once:
        futures = [
            at_once.submit(
                _read_submodule, outer, path, links[path], roots=roots, prefix=prefix, top=top
            )
            for path in sorted(links)
        ]
    for each in (future.result() for future in futures):
        result.rows += each.rows
        result.importable += each.importable
        result.pointers += each.pointers
    return result


def _read_submodule(
    outer: TreeStatus, path: str, commit: str, *, roots: Iterable[str], prefix: str, top: str
) -> SubmoduleStatus:
    folder, full = outer.repository.top / path, f"{prefix}{path}"
    if not (folder / ".git").exists():
        return SubmoduleStatus(
            [
                Submodule(
                    path=show_path(full), commit=commit, published=None, why="it is not checked out"
                )
            ]
        )
    facts = worktree_folders(folder)
    repository = Repository(folder, facts.common)
    status = read_status(repository)
    has, why = check_publication(repository, commit)
    row = Submodule(
        path=show_path(full), commit=commit, checked_out=status.commit, published=has, why=why
    )
    row = replace(
        row, untracked=bool(status.untracked), modified=_has_modified_files(status, facts)
    )
    inner = insides(status, roots, f"{full}/", top)
    ignored_files = (f"{full}/{name}" for name in status.ignored)
    return SubmoduleStatus(
        [row, *inner.rows],
        [*importable(top, ignored_files, roots), *inner.importable],
        [*(f"{full}/{name}" for name in pointers(status, facts.common)), *inner.pointers],
    )


def _has_modified_files(status: TreeStatus, facts: WorktreeFolders) -> bool:
    """Whether its own tracked files are modified; a nested submodule has its own entry."""
    links = status.gitlinks
    differs = any(change.staged or change.path not in links for change in status.changes)
    return differs or bool(hidden_edits(status, facts.git_dir))


# --- what its remote has --------------------------------------------------------------------------


def check_publication(repository: Repository, commit: str) -> tuple[bool | None, str]:
    """Whether a branch or tag of the repository's own remote contains the commit, and why not;
    None: the query failed.
    """
    names = repository.git("remote").text.split()
    if not names:
        return False, "it has no remote"
    remote = "origin" if "origin" in names else names[0]
    try:
        if _remote_contains(repository, remote, commit):
            return True, ""
    except (CouldNotLook, OSError) as error:
        return None, describe_error(error)
    return False, f"no branch or tag of {remote} contains it"


def _remote_contains(repository: Repository, remote: str, commit: str) -> bool:
    heads_and_tags = repository.remote_tips(remote, "refs/heads/*", "refs/tags/*", timeout=ASKING)
    tips = {
        name: heads_and_tags.get(f"{name}^{{}}", oid)
        for name, oid in heads_and_tags.items()
        if not name.endswith("^{}")
    }
    if commit in tips.values():
        return True
    if (repository.common / "shallow").is_file():
        raise CouldNotLook("its clone is shallow: run `git fetch --unshallow` in it")
    local_commits = commits_among(repository, tips)
    if repository.has(commit) and containing(repository, commit, local_commits):
        return True
    with Probe(repository, remote, "submodule") as probe:
        further = (
            probe.fetch(sorted(tips.keys() - local_commits.keys()))
            if tips.keys() - local_commits.keys()
            else {}
        )
        return repository.has(commit) and bool(containing(repository, commit, further))
