"""Submodules of a commit: where their objects are on this machine, and their files."""

import os
from collections.abc import Iterator
from pathlib import Path

from herorun.core.errors import CouldNotLook
from herorun.core.lazy_dataclass import dataclass
from herorun.system.git import Repository

_GITLINK = "160000"


@dataclass(frozen=True)
class SubmoduleCommit:
    """One commit of one repository inside another: the submodule that `path` names, from the
    outermost top.
    """

    path: str
    commit: str
    store: Path  # its git directory
    repository: Repository

    def env(self, work: Path) -> dict[str, str]:
        """For a git call about it: a submodule that is not checked out has a git directory and no
        work tree.
        """
        return {"GIT_DIR": str(self.store), "GIT_WORK_TREE": str(work)}


def all_files(repository: Repository, commit: str) -> list[str]:
    """Every file of a commit, those of its submodules included."""
    return [path for _, _, path in all_entries(repository, commit)]


def all_entries(repository: Repository, commit: str) -> list[tuple[str, str, str]]:
    """The same as `(mode, object, path)`."""
    rows = repository.entries(commit)
    entries = [row for row in rows if row[0] != _GITLINK]
    for inside in submodules(repository, commit, [row for row in rows if row[0] == _GITLINK]):
        below = (row for row in _list_submodule_files(inside) if row[0] != _GITLINK)
        entries += [(mode, oid, f"{inside.path}/{path}") for mode, oid, path in below]
    return entries


def submodules(
    repository: Repository, commit: str, rows: list[tuple[str, str, str]] | None = None
) -> Iterator[SubmoduleCommit]:
    """Every submodule of a commit, outer before inner; `CouldNotLook` if its commit is not on this
    machine.
    """
    outermost = SubmoduleCommit("", commit, repository.common, repository)
    yield from _walk_submodules(outermost, repository.entries(commit) if rows is None else rows)


def _walk_submodules(
    outer: SubmoduleCommit, rows: list[tuple[str, str, str]]
) -> Iterator[SubmoduleCommit]:
    links = {path: oid for mode, oid, path in rows if mode == _GITLINK}
    names = _read_gitmodules(outer) if links else {}
    for path, oid in links.items():
        inside = _submodule(outer, path, names.get(path, path), oid)
        yield inside
        yield from _walk_submodules(inside, _list_submodule_files(inside))


def _submodule(outer: SubmoduleCommit, path: str, name: str, oid: str) -> SubmoduleCommit:
    full = f"{outer.path}/{path}" if outer.path else path
    for store in _stores(outer, full, name):
        inside = SubmoduleCommit(full, oid, store, outer.repository)
        arguments = ("cat-file", "-e", f"{oid}^{{commit}}")
        if (
            outer.repository.git(
                *arguments, env=inside.env(outer.repository.top), ok=(0, 1, 128)
            ).code
            == 0
        ):
            return inside
    raise CouldNotLook(
        f"Commit {oid[:9]} of the submodule {full} is not on this machine: "
        "`git submodule update --init --recursive` fetches it."
    )


def _stores(outer: SubmoduleCommit, full: str, name: str) -> Iterator[Path]:
    """Git directories that may contain it: that of its checkout, and those in the outer one's
    `modules`.
    """
    checkout = outer.repository.top / full / ".git"
    if checkout.is_dir():
        yield checkout
    elif checkout.is_file():
        gitdir = (
            checkout.read_text(encoding="utf-8", errors="surrogateescape")
            .removeprefix("gitdir:")
            .strip()
        )
        yield Path(os.path.normpath(checkout.parent / gitdir))
    module_dir = outer.store / "modules" / name
    # the name comes from the commit: it must not lead to another repository
    leads_out = ".." in name.split("/")
    if module_dir.is_dir() and not leads_out:
        yield module_dir


def _read_gitmodules(outer: SubmoduleCommit) -> dict[str, str]:
    """Path -> name, from the commit's own `.gitmodules`."""
    arguments = ("config", "--blob", f"{outer.commit}:.gitmodules", "--list", "-z")
    answer = outer.repository.git(*arguments, env=outer.env(outer.repository.top), ok=(0, 1, 128))
    pairs = (record.partition("\n") for record in answer.text.split("\0") if answer.code == 0)
    return {
        value: key.removeprefix("submodule.").removesuffix(".path")
        for key, _, value in pairs
        if key.endswith(".path")
    }


def _list_submodule_files(inside: SubmoduleCommit) -> list[tuple[str, str, str]]:
    """`(mode, object, path)` of every file in it."""
    arguments = ("ls-tree", "-r", "-z", "--full-tree", inside.commit)
    answer = inside.repository.git(*arguments, env=inside.env(inside.repository.top))
    rows = (record.partition("\t") for record in answer.text.split("\0") if record)
    return [(facts.split(" ")[0], facts.split(" ")[2], path) for facts, _, path in rows]
