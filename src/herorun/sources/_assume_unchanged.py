"""Edits that `git status` is set to ignore, found through a private copy of the index."""

import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from herorun.sources._status import QUIET, STRICT, TreeStatus, parse_status
from herorun.system.git import Repository


def hidden_edits(status: TreeStatus, git_dir: Path) -> list[str]:
    """Files with hidden edits, by assume-unchanged or skip-worktree; a file that a sparse checkout
    left out has none.
    """
    top = status.repository.top
    candidates = [
        path
        for tag, path in status.flagged_paths
        if tag not in "Ss" or os.path.lexists(os.path.join(top, path))
    ]
    if not candidates:
        return []
    with TemporaryDirectory(prefix="herorun-index-") as folder:
        index = os.path.join(folder, "index")
        # with its time: git distrusts entries that are as new as their index
        shutil.copy2(git_dir / "index", index)
        return _list_edited_files(status.repository, candidates, QUIET | {"GIT_INDEX_FILE": index})


def _list_edited_files(
    repository: Repository, candidates: list[str], env: dict[str, str]
) -> list[str]:
    path_list = b"".join(path.encode("utf-8", "surrogateescape") + b"\0" for path in candidates)
    for word in ("--no-assume-unchanged", "--no-skip-worktree"):
        repository.git(
            "update-index", word, "-z", "--stdin", stdin=path_list, env=env, settings=STRICT
        )
    status = ("status", "--porcelain=v2", "-z", "--untracked-files=no", "--ignore-submodules=all")
    answer = repository.git(*status, "--no-renames", env=env, settings=STRICT)
    edited_files = {
        change.path for change in parse_status(repository, answer.text).changes if change.modified
    }
    return [path for path in candidates if path in edited_files]
