"""An exact copy of a commit's files in a folder, without touching the user's index."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from herorun.core.lazy_regex import lazy_regex
from herorun.system.files import lives, node
from herorun.system.git import Repository
from herorun.system.git.submodules import submodules

_GITLINK = (0o160000).to_bytes(4, "big")  # the mode of a submodule, as the index holds it
_EXACT = ("core.autocrlf=false", "core.eol=lf", "submodule.recurse=false")
EXPORTING = 600.0  # seconds; a partial clone fetches what it lacks


def export(repository: Repository, commit: str, target: Path) -> Path:
    """Write an exact copy of a commit's files and of its submodules' to `target`, atomically.

    An existing folder is replaced. Attributes are the commit's, not those of the checkout; a
    `filter` among them, as LFS and git-crypt set, runs the command that this machine's own git
    configuration names for it, and nothing that comes with the commit. Where git-lfs is not
    installed, its pointers stay pointers; where a filter that is marked as required fails, or a
    submodule's commit is not here, nothing is exported and it is `CouldNotLook`.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with _private_folder(target.parent) as folder:
        copy, index = folder / "tree", folder / "index"
        _fill(repository, repository.common, commit, index, copy)
        if _GITLINK in index.read_bytes():  # may be a chance match: then no submodule is found
            for inside in submodules(repository, commit):
                index.unlink()
                _fill(repository, inside.store, inside.commit, index, copy / inside.path)
        shutil.rmtree(target, ignore_errors=True)
        os.rename(copy, target)
    return target


def _fill(repository: Repository, store: Path, commit: str, index: Path, work: Path) -> None:
    """Write a commit's files into a folder, through a separate index."""
    work.mkdir(exist_ok=True)
    env = {"GIT_DIR": str(store), "GIT_WORK_TREE": str(work), "GIT_INDEX_FILE": str(index)}
    repository.git("read-tree", commit, env=env, settings=_EXACT)
    repository.git(
        "checkout-index", "--all", "--force", env=env, settings=_EXACT, timeout=EXPORTING
    )


_PRIVATE = lazy_regex(r"\.export-([0-9a-f]{8})-(\d+)-\w+")  # where and by which process it was made


@contextlib.contextmanager
def _private_folder(parent: Path) -> Iterator[Path]:
    """A private folder, removed at the end, or by the next export if its process was killed."""
    for name in os.listdir(parent):
        match = _PRIVATE.fullmatch(name)
        if match and match[1] == node() and not lives(int(match[2])):
            shutil.rmtree(parent / name, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f".export-{node()}-{os.getpid()}-", dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
