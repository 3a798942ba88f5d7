"""The kind of a work tree: its git directories, replaced objects, and whether its file system keeps
modes.
"""

from pathlib import Path

from herorun.core.lazy_dataclass import dataclass
from herorun.system.git import Repository


@dataclass(frozen=True)
class WorktreeFolders:
    git_dir: Path  # of this work tree
    common: Path  # shared by all linked work trees
    shallow: bool

    @property
    def is_linked(self) -> bool:
        return self.git_dir != self.common


def worktree_folders(folder: Path) -> WorktreeFolders:
    arguments = ("rev-parse", "--is-shallow-repository", "--absolute-git-dir", "--git-common-dir")
    answer = Repository(folder, folder).git(*arguments)
    shallow, git_dir, common = answer.text.rstrip("\n").split("\n")
    return WorktreeFolders(Path(git_dir).resolve(), (folder / common).resolve(), shallow == "true")


def list_replaced_objects(repository: Repository) -> tuple[str, ...]:
    """Objects that `git replace` replaces; and old-style grafts."""
    names: list[str] = []
    if not repository.lacks_below("refs/replace/"):
        listing = repository.git("for-each-ref", "--format=%(refname:lstrip=2)", "refs/replace/")
        names = listing.text.split()
    grafts = repository.common / "info" / "grafts"
    return (*names, *(("info/grafts",) if grafts.is_file() and grafts.stat().st_size else ()))


def keeps_modes(top: Path) -> bool:
    """Whether the file system stores executable modes: one that does not shows git's own files as
    executable too.
    """
    own = top / ".git"
    return not (own / "HEAD" if own.is_dir() else own).stat().st_mode & 0o100
