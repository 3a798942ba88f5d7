"""A dirty tree as a commit, made in a separate index: HEAD, the index, files, refs and settings are
unchanged.

The same content on the same commit gives the same snapshot, no matter who makes it and when.
"""

import contextlib
import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from herorun.core.errors import CouldNotLook, WrongUse
from herorun.core.evidence import Snapshot
from herorun.system.files import scratch_folder
from herorun.system.git import Repository

MEGABYTE = 1_000_000
_WHO = {
    f"GIT_{role}_{part}": value
    for role in ("AUTHOR", "COMMITTER")
    for part, value in (("NAME", "herorun"), ("EMAIL", "herorun@localhost"))
}
_MESSAGE = b"The work tree as it was approved and run\n"
_POINTER = b"version https://git-lfs.github.com/spec/v1\n"
_SETTINGS = (
    "core.splitIndex=false",
    "core.safecrlf=false",
    "add.ignoreErrors=false",
    "i18n.commitEncoding=UTF-8",
)
_AS_SET = tuple(word for setting in _SETTINGS for word in ("-c", setting))
_STATUS = (
    "status",
    "--porcelain=v2",
    "-z",
    "--untracked-files=all",
    "--ignore-submodules=none",
    "--no-renames",
)
_DIFF = (
    # zlib versions compress differently
    *("-c", "core.compression=0", "-c", "core.looseCompression=0"),
    *(
        "diff-tree",
        "-r",
        "-p",
        "--binary",
        "--full-index",
        "--no-renames",
        "--no-ext-diff",
        "--no-textconv",
        "-U3",
    ),
    *(
        "--no-color",
        "--src-prefix=a/",
        "--dst-prefix=b/",
        "--diff-algorithm=myers",
        "--no-indent-heuristic",
    ),
    *("--inter-hunk-context=0", "--submodule=short", "--ignore-submodules=none"),
)
_NO_SETTINGS = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_COUNT": "0",
    "GIT_CONFIG_PARAMETERS": "",
}


def take_snapshot(
    repository: Repository, head: str, ignored_paths: Sequence[str], cap: int
) -> Snapshot | None:
    """Everything that differs from HEAD, and the `ignored_paths`, as a commit on top of HEAD. None:
    nothing does.

    Above `cap` bytes nothing is stored: the snapshot then has only the number of bytes, and no
    commit.
    """
    with _own_index(repository) as index:
        paths = [*_changed_paths(repository, index), *ignored_paths]
        size = sum(_size(repository.top / path) for path in paths)
        if size > cap:
            return Snapshot("", "", "", tuple(show_path(path) for path in paths), size)
        _add(repository, index, ignored_paths)
        tree = repository.git(*_AS_SET, "write-tree", env=index).text.strip()
    if tree == tree_of(repository, head):
        return None
    return describe_snapshot(repository, head, _commit(repository, head, tree))


def from_diff(repository: Repository, head: str, diff: bytes) -> str:
    """The snapshot's commit, rebuilt from its canonical diff against `head`, in a separate
    index.
    """
    with scratch_folder(prefix="herorun-index-") as folder:
        index = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
        repository.git(*_AS_SET, "read-tree", head, env=index)
        apply = ("apply", "--cached", "--binary", "--whitespace=nowarn", "-")
        repository.git(*_AS_SET, *apply, stdin=diff, env=index)
        tree = repository.git(*_AS_SET, "write-tree", env=index).text.strip()
    return _commit(repository, head, tree)


def describe_snapshot(repository: Repository, head: str, commit: str) -> Snapshot:
    """A snapshot by its commit: its identity, and what in it should not be published."""
    from herorun.core.redaction.scan import find_exposed_lines

    rows = _diff_snapshot(repository, head, commit)
    blobs = repository.blobs(sorted({oid for _, old, new in rows for oid in (old, new) if oid}))
    contents = [
        (show_path(path), blobs.get(old, b""), blobs.get(new, b"")) for path, old, new in rows
    ]
    elsewhere = next((path for path, _, after in contents if after.startswith(_POINTER)), None)
    if elsewhere:
        raise WrongUse(
            f"{elsewhere} is kept by Git LFS, which a snapshot cannot push: commit and push it."
        )
    secrets = [
        place
        for path, before, after in contents
        for place in find_exposed_lines(path, before, after)
    ]
    return Snapshot(
        commit,
        tree_of(repository, commit),
        "sha256:" + hashlib.sha256(canonical_diff(repository, head, commit)).hexdigest(),
        tuple(path for path, _, _ in contents),
        sum(len(after) for _, _, after in contents),
        tuple(secrets),
    )


def canonical_diff(repository: Repository, head: str, commit: str) -> bytes:
    """The binary diff, made in an empty repository with our objects, so that no setting or
    attribute affects it.
    """
    kind = repository.git("rev-parse", "--show-object-format").text.strip()
    with scratch_folder(prefix="herorun-diff-") as folder:
        bare = Path(folder)
        (bare / "HEAD").write_text("ref: refs/heads/none\n")
        (bare / "refs").mkdir()
        (bare / "objects").mkdir()
        version = "" if kind == "sha1" else f"[extensions]\nobjectFormat = {kind}\n"
        (bare / "config").write_text(f"[core]\nrepositoryFormatVersion = 1\nbare = true\n{version}")
        objects = {"GIT_DIR": folder, "GIT_OBJECT_DIRECTORY": str(repository.common / "objects")}
        return repository.git(*_DIFF, head, commit, env={**_NO_SETTINGS, **objects}).out


def tree_of(repository: Repository, commit: str) -> str:
    return repository.git(
        "rev-parse", "--verify", "--end-of-options", f"{commit}^{{tree}}"
    ).text.strip()


def show_path(path: str) -> str:
    """A path as people can read it; bytes that are not UTF-8 are shown as escapes."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


@contextlib.contextmanager
def _own_index(repository: Repository) -> Iterator[dict[str, str]]:
    """A copy of the index in which every file counts, without assume-unchanged and skip-worktree
    marks.
    """
    theirs = repository.top / repository.git("rev-parse", "--git-path", "index").text.removesuffix(
        "\n"
    )
    with scratch_folder(prefix="herorun-index-") as folder:
        ours = Path(folder) / "index"
        with contextlib.suppress(FileNotFoundError):
            from shutil import copy2

            copy2(
                theirs, ours
            )  # with its time: git distrusts entries that are as new as their index
        index = {"GIT_INDEX_FILE": str(ours)}
        listing = repository.git("ls-files", "-v", "-z", env=index).text.split("\0")
        marked_paths = [(record[0], record[2:]) for record in listing if record]
        # Files that a sparse checkout left out are not on disk, and stay as in HEAD.
        skipped_paths = [
            path
            for mark, path in marked_paths
            if mark in "Ss" and os.path.lexists(repository.top / path)
        ]
        _unmark(
            repository,
            index,
            "--no-assume-unchanged",
            [path for mark, path in marked_paths if mark.islower()],
        )
        _unmark(repository, index, "--no-skip-worktree", skipped_paths)
        yield index


def _unmark(
    repository: Repository, index: Mapping[str, str], how: str, paths: Sequence[str]
) -> None:
    if paths:
        repository.git(
            *_AS_SET, "update-index", how, "-z", "--stdin", stdin=_join_paths(paths), env=index
        )


def _changed_paths(repository: Repository, index: Mapping[str, str]) -> list[str]:
    """The paths that differ from HEAD. Raises for a repository inside this one, whose edits no
    commit of this one can contain.
    """
    paths = []
    for record in repository.git(*_AS_SET, *_STATUS, env=index).text.split("\0"):
        fields = record.split(" ", {"1": 8, "u": 10, "?": 1}.get(record[:1], 0))
        path = fields[-1]
        if record.startswith("? ") and path.endswith("/"):
            raise WrongUse(
                f"{show_path(path)} is a git repository of its own: move it elsewhere, or ignore "
                "it."
            )
        if record[:2] in ("1 ", "u ") and fields[2][0] == "S" and fields[2][2:] != "..":
            raise WrongUse(
                f"The submodule {show_path(path)} has edits inside: commit and push them there."
            )
        paths += [path] if len(fields) > 1 and record[0] in "1u?" else []
    return paths


def _size(path: Path) -> int:
    """Bytes on disk; a deleted file and a submodule's folder add none."""
    try:
        return 0 if path.is_dir() and not path.is_symlink() else path.lstat().st_size
    except FileNotFoundError:
        return 0


def _add(repository: Repository, index: Mapping[str, str], ignored_paths: Sequence[str]) -> None:
    repository.git(*_AS_SET, "add", "--all", "--sparse", env=index)
    missing = [path for path in ignored_paths if not os.path.lexists(repository.top / path)]
    if missing:
        raise CouldNotLook(f"{missing[0]} is gone, or its name cannot be read: try again.")
    if ignored_paths:
        pathspec = ("--pathspec-from-file=-", "--pathspec-file-nul")
        repository.git(
            *_AS_SET,
            "add",
            "--force",
            "--sparse",
            *pathspec,
            stdin=_join_paths(ignored_paths),
            env=index,
        )


def _commit(repository: Repository, head: str, tree: str) -> str:
    """Commit with the parent's date: the present time would give the same content another
    commit.
    """
    lines = repository.git("cat-file", "commit", head).text.splitlines()
    seconds = next(line.split(" ")[-2] for line in lines if line.startswith("committer "))
    dates = {"GIT_AUTHOR_DATE": f"{seconds} +0000", "GIT_COMMITTER_DATE": f"{seconds} +0000"}
    argv = (*_AS_SET, "commit-tree", tree, "-p", head)
    return repository.git(*argv, stdin=_MESSAGE, env={**_WHO, **dates}).text.strip()


def _diff_snapshot(repository: Repository, head: str, commit: str) -> list[tuple[str, str, str]]:
    """`(path, object before, object after)` of every file that differs; empty for none, and for a
    submodule's commit.
    """
    argv = (
        "diff-tree",
        "-r",
        "-z",
        "--raw",
        "--no-abbrev",
        "--no-renames",
        "--ignore-submodules=none",
    )
    records = repository.git(*argv, head, commit).text.split("\0")[:-1]
    rows = []
    for facts, path in zip(records[::2], records[1::2], strict=True):
        modes, oids = facts[1:].split(" ")[:2], facts.split(" ")[2:4]
        old, new = (
            oid if mode.startswith(("100", "120")) else ""
            for mode, oid in zip(modes, oids, strict=True)
        )
        rows.append((path, old, new))
    return rows


def _join_paths(paths: Sequence[str]) -> bytes:
    return "".join(f"{path}\0" for path in paths).encode("utf-8", "surrogateescape")
