"""Edits that `git status` was told not to see, found through a private copy of the index."""

import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from herorun.sources._status import QUIET, STRICT, TreeStatus, parse_status
from herorun.system.git import Repository


def hidden_edits(looked: TreeStatus, git_dir: Path) -> list[str]:
    """Files that differ behind assume-unchanged or skip-worktree; one that a sparse checkout left
    out does not.
    """
    top = looked.repository.top
    wanted = [
        path
        for tag, path in looked.flagged
        if tag not in "Ss" or os.path.lexists(os.path.join(top, path))
    ]
    if not wanted:
        return []
    with TemporaryDirectory(prefix="herorun-index-") as folder:
        index = os.path.join(folder, "index")
        # with its time: git doubts entries as young as their index
        shutil.copy2(git_dir / "index", index)
        return _edited(looked.repository, wanted, QUIET | {"GIT_INDEX_FILE": index})


def _edited(repository: Repository, wanted: list[str], env: dict[str, str]) -> list[str]:
    asked = b"".join(path.encode("utf-8", "surrogateescape") + b"\0" for path in wanted)
    for word in ("--no-assume-unchanged", "--no-skip-worktree"):
        repository.git("update-index", word, "-z", "--stdin", stdin=asked, env=env, settings=STRICT)
    status = ("status", "--porcelain=v2", "-z", "--untracked-files=no", "--ignore-submodules=all")
    answer = repository.git(*status, "--no-renames", env=env, settings=STRICT)
    edited = {
        change.path for change in parse_status(repository, answer.text).changes if change.modified
    }
    return [path for path in wanted if path in edited]
