"""Finds the repository around a folder. GitPython is used only for cases that git's own answer
leaves open.
"""

import shlex
from functools import lru_cache
from pathlib import Path

from herorun.core.errors import WrongUse
from herorun.core.lazy_regex import lazy_regex
from herorun.system.git.repository import Repository
from herorun.system.git.run import LOCAL, complaint, environment
from herorun.system.process import run

_WORKTREE_LINK = lazy_regex(r"gitdir: (.+)/worktrees/[^/]+")
_DISTRUSTED_FOLDER = lazy_regex(r"in repository at '([^'\n]+)'")


def find_repository(start: Path) -> Repository:
    """The repository around a folder; `WrongUse` if there is none, or it is unusable."""
    if not start.exists():
        raise WrongUse(f"{start} does not exist.")
    return _repository_above(start.absolute())  # absolute, so that messages hold in any folder


@lru_cache(maxsize=256)
def _repository_above(start: Path) -> Repository:
    """Cached: a babysitter of a thousand runs needs it a thousand times in each round.

    Importing GitPython takes longer than git's answer, so it is used only for cases that git's
    answer leaves open.
    """
    argv = ("git", "rev-parse", "--show-toplevel", "--git-common-dir")
    answer = run(argv, LOCAL, cwd=str(start if start.is_dir() else start.parent), env=environment())
    if answer.code:
        raise WrongUse(_why_not(start, complaint(answer)))
    lines = answer.text.splitlines()
    top, common = lines if len(lines) == 2 else _with_line_breaks(start)
    return Repository(Path(top).resolve(), (start / common).resolve())


def _with_line_breaks(start: Path) -> tuple[str, str]:
    """The two folders, for a name with a line break."""
    from git import Repo

    with Repo(start, search_parent_directories=True) as repo:
        return str(repo.working_tree_dir), str(repo.common_dir)


def _is_bare(start: Path) -> bool:
    from git import Repo
    from git.exc import GitError

    try:
        with Repo(start, search_parent_directories=True) as repo:
            return repo.bare
    except (GitError, ValueError, OSError):
        return False


def _lost_main_repository(start: Path) -> tuple[Path, Path] | None:
    """The linked work tree around a folder, and the missing main one that it names; None
    otherwise.
    """
    top = next((each for each in (start, *start.parents) if (each / ".git").exists()), None)
    try:
        match = _WORKTREE_LINK.fullmatch((top / ".git").read_text().strip()) if top else None
    except (OSError, ValueError):
        return None
    if top is None or match is None or (top / match[1]).exists():
        return None
    folder = (top / match[1]).resolve()
    return top, folder.parent if folder.name == ".git" else folder


def _why_not(start: Path, complaint: str) -> str:
    if "dubious ownership" in complaint:
        match = _DISTRUSTED_FOLDER.search(complaint)
        top = match[1] if match else start
        return (
            f"git does not trust {top}, because another user owns it. If you do: "
            f"`git config --global --add safe.directory {shlex.quote(str(top))}`."
        )
    if places := _lost_main_repository(start):
        work_tree, main = places
        return (
            f"{work_tree} is a linked work tree of {main}, which is not there: from where that "
            f"repository is now, run `git worktree repair {shlex.quote(str(work_tree))}`."
        )
    if _is_bare(start):
        return f"{start} is in a bare git repository: run herorun in a work tree."
    return (
        f"{start} is not in a git repository: run herorun in the repository of the training code, "
        "or name it with -C."
    )
