"""The work tree's fingerprint, from one `status --porcelain=v2` and one `ls-files -v -s`.

Further queries are made only if these two show a need.
"""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from herorun.core.contract import Contract
from herorun.core.errors import WrongUse
from herorun.core.evidence import WorkTree
from herorun.sources._assume_unchanged import hidden_edits
from herorun.sources._lfs_pointers import pointers
from herorun.sources._mode_only_changes import likeness
from herorun.sources._settings import hiding_settings
from herorun.sources._status import read_status, show_path
from herorun.sources._submodules import insides
from herorun.sources._untracked_imports import importable, led_out, roots_of
from herorun.sources._worktree_kind import keeps_modes, list_replaced_objects, worktree_folders
from herorun.system.git import Repository


def read_work_tree(repository: Repository, contract: Contract) -> WorkTree:
    """HEAD and everything that differs from it. `WrongUse` for a branch without commits."""
    with ThreadPoolExecutor(3) as pool:
        place = pool.submit(worktree_folders, repository.top)
        other = pool.submit(list_replaced_objects, repository)
        settings_future = pool.submit(hiding_settings, repository)
        status = read_status(repository)
    commit = status.commit
    if commit is None:
        raise WrongUse(f"{repository.top} has no commit yet: commit the training code first.")
    facts, settings = place.result(), settings_future.result()
    if _ignores_modes(settings, repository.top):
        status = read_status(repository, "core.fileMode=false")
    roots = roots_of(contract.command, str(repository.top))
    alike, inside = likeness(status), insides(status, roots)
    top = str(repository.top)
    loose = [*importable(top, status.ignored, roots), *led_out(top, status.links, roots)]
    return WorkTree(
        commit=commit,
        branch=show_path(status.branch) if status.branch else None,
        staged=_show_paths(change.path for change in status.changes if change.staged),
        unstaged=_show_paths(change.path for change in status.changes if change.modified),
        untracked=_show_paths(status.untracked),
        hidden=_show_paths(hidden_edits(status, facts.git_dir)),
        importable=_show_paths([*loose, *inside.importable]),
        mode_only=_show_paths(alike.mode_only),
        eol_only=_show_paths(alike.eol_only),
        submodules=tuple(inside.rows),
        pointers=_show_paths([*pointers(status, facts.common), *inside.pointers]),
        replaced=other.result(),
        shallow=facts.shallow,
        linked=facts.is_linked,
        settings=settings,
    )


def _ignores_modes(settings: tuple[str, ...], top: Path) -> bool:
    """Whether modes are ignored: herorun compares them despite `core.fileMode=false`, unless the
    file system has none.
    """
    return any(setting.startswith("core.fileMode=") for setting in settings) and not keeps_modes(
        top
    )


def _show_paths(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(show_path(path) for path in paths)
