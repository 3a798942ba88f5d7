"""The output of one `status --porcelain=v2` and one `ls-files -v -s` of a work tree, as bytes
separated by NUL.
"""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field

from herorun.core.errors import CouldNotLook
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex
from herorun.system.git import Repository
from herorun.system.process import ProcessResult

FILES = frozenset({"100644", "100755"})
QUIET = {"GIT_NO_LAZY_FETCH": "1"}  # a partial clone must not begin a download because of our query
# Regardless of the user's settings, modes count, and so does every part of a file's stat.
STRICT = (
    "core.fileMode=true",
    "core.trustctime=true",
    "core.checkStat=default",
)
_STATUS = (
    "status",
    "--porcelain=v2",
    "-z",
    "--branch",
    "--untracked-files=all",
    "--ignored=matching",
    "--ignore-submodules=none",
    "--no-renames",
)
_FLAGGED_PATH = lazy_regex(rb"\0([a-zS]) \d{6} [0-9a-f]+ \d\t([^\0]+)")
_GITLINK = lazy_regex(rb"\0\S 160000 ([0-9a-f]+) \d\t([^\0]+)")
_LINK = lazy_regex(rb"\0\S 120000 [0-9a-f]+ \d\t([^\0]+)")
_CONTROL = {n: f"\\x{n:02x}" for n in (*range(32), 127)} | {9: "\\t", 10: "\\n", 13: "\\r"}


@dataclass(frozen=True)
class PathChange:
    """One tracked path that differs. Modes are those in HEAD, the index and on the disk."""

    path: str
    staged: bool
    modified: bool
    modes: tuple[str, str, str] = ("", "", "")
    in_head: str = ""  # the object of this path in HEAD


@dataclass(frozen=True, kw_only=True)
class TreeStatus:
    """Both outputs for one work tree. Paths are git's, which name files on the disk."""

    repository: Repository
    commit: str | None = None
    branch: str | None = None
    changes: list[PathChange] = field(default_factory=list)
    untracked: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)  # a folder ends with a slash
    index: bytes = b"\0"  # as `ls-files -v -s -z` lists it, a NUL before each record

    @property
    def flagged_paths(self) -> Iterator[tuple[str, str]]:
        """`(tag, path)` of files that `status` does not check: lower case is assume-unchanged, S
        skip-worktree.
        """
        return ((tag.decode(), text(path)) for tag, path in _FLAGGED_PATH.findall(self.index))

    @property
    def gitlinks(self) -> dict[str, str]:
        """Path -> commit of the submodules, as HEAD names them."""
        links = {text(path): oid.decode() for oid, path in _GITLINK.findall(self.index)}
        for change in self.changes:
            if change.modes[0] == "160000":
                links[change.path] = change.in_head
            elif change.path in links and change.staged:
                del links[change.path]  # HEAD has no submodule there yet
        return links

    @property
    def links(self) -> list[str]:
        """Tracked symbolic links."""
        return [text(path) for path in _LINK.findall(self.index)]

    def files(self, name: str) -> list[str]:
        """Tracked files of that base name, in any folder."""
        matches = re.findall(
            rb"\t((?:[^\0]*/)?" + re.escape(name.encode()) + rb")(?=\0)", self.index
        )
        return [text(path) for path in matches]

    @property
    def paths(self) -> list[str]:
        """Every tracked path."""
        return [record.partition("\t")[2] for record in text(self.index).split("\0") if record]


def read_status(repository: Repository, *settings: str) -> TreeStatus:
    """Run both commands in parallel; `settings` override the strict ones."""
    with ThreadPoolExecutor(1) as pool:
        listing = pool.submit(repository.git, "ls-files", "-v", "-s", "-z", env=QUIET)
        status = repository.git(*_STATUS, env=QUIET, settings=(*STRICT, *settings))
        _must_be_complete(status)
        return parse_status(repository, status.text, b"\0" + listing.result().out)


def _must_be_complete(status: ProcessResult) -> None:
    """Raise if a folder could not be opened: git only warns, and continues as if it were empty."""
    for line in status.err.decode("utf-8", "backslashreplace").splitlines():
        if "could not open directory" in line:
            raise CouldNotLook(
                f"`git status` {line.removeprefix('warning: ')}: what lies there is unknown."
            )


def parse_status(repository: Repository, status: str, index: bytes = b"\0") -> TreeStatus:
    commit: str | None = None
    branch: str | None = None
    changes: list[PathChange] = []
    records = status.split("\0")
    for record in records:
        match record[:2]:
            case "# ":
                word, _, value = record[2:].partition(" ")
                if word == "branch.oid":
                    commit = None if value == "(initial)" else value
                elif word == "branch.head":
                    branch = None if value == "(detached)" else value
            case "1 ":
                changes.append(_change(record))
            case "u ":
                changes.append(PathChange(record.split(" ", 10)[10], False, True))
    untracked_files = [record[2:] for record in records if record.startswith("? ")]
    ignored_files = [record[2:] for record in records if record.startswith("! ")]
    return TreeStatus(
        repository=repository,
        commit=commit,
        branch=branch,
        changes=changes,
        untracked=untracked_files,
        ignored=ignored_files,
        index=index,
    )


def _change(record: str) -> PathChange:
    _, states, _, head, index, disk, in_head, _, path = record.split(" ", 8)
    return PathChange(path, states[0] != ".", states[1] != ".", (head, index, disk), in_head)


def text(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")


def show_path(path: str) -> str:
    """A path as one readable line: bytes that are not UTF-8 or would break the line are escaped."""
    if path.isascii() and path.isprintable():
        return path
    readable = path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return readable.translate(_CONTROL)
