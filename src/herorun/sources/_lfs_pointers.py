"""Files that contain a Git LFS pointer instead of their content, here or in the copy that the job
would get.
"""

from collections.abc import Iterator
from pathlib import Path

from herorun.sources._status import TreeStatus
from herorun.system.git import Repository

_POINTER = b"version https://git-lfs.github.com/spec/v1"
_MAX_BYTES = 1024  # bytes; a pointer is shorter
_TRIPLE = 3  # `check-attr -z` answers path, attribute, value


def pointers(status: TreeStatus, common: Path) -> list[str]:
    """The files with pointers. Queries git for attributes only if some `.gitattributes` mentions
    LFS.

    `git lfs install --skip-smudge` leaves pointers wherever git writes files: the copy has them
    even if `git lfs pull` has fetched the content here.
    """
    top = status.repository.top
    attribute_files = [top / name for name in status.files(".gitattributes")] + [
        common / "info" / "attributes"
    ]
    if not any(_is_own_file(path) and b"lfs" in path.read_bytes() for path in attribute_files):
        return []
    skips = _skips(status.repository)
    return [path for path in _list_lfs_paths(status) if skips or _is_pointer(top / path)]


def _is_own_file(path: Path) -> bool:
    """Whether it is a regular file: git does not read a `.gitattributes` that is a link, which may
    lead anywhere.
    """
    return path.is_file() and not path.is_symlink()


def _skips(repository: Repository) -> bool:
    filter_command = (
        repository.config("filter.lfs.process") or repository.config("filter.lfs.smudge") or ""
    )
    return "--skip" in filter_command.split()


def _list_lfs_paths(status: TreeStatus) -> Iterator[str]:
    path_list = "".join(f"{path}\0" for path in status.paths).encode("utf-8", "surrogateescape")
    answer = status.repository.git("check-attr", "-z", "--stdin", "filter", stdin=path_list)
    parts = answer.text.split("\0")
    for path, value in zip(parts[::_TRIPLE], parts[2::_TRIPLE], strict=False):
        if value == "lfs":
            yield path


def _is_pointer(path: Path) -> bool:
    if path.is_symlink() or not path.is_file() or path.stat().st_size > _MAX_BYTES:
        return False
    return path.read_bytes().startswith(_POINTER)
