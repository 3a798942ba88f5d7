"""Packing what our own ref has added, so that a record of many small commits takes little room.

Every commit of a growing file is that whole file once more, until a pack keeps the difference alone. This is what
`git gc` would do, for our objects only: a pack is added, and of what it holds go the loose copies and the smaller
packs of ours that it replaces. The user's own packs and objects are never read for this, moved or deleted.
"""

import contextlib
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from herorun.system.files import sync_folder
from herorun.system.git import Repository

PACKING = 600.0  # seconds
_WINDOW = "--window=2"  # a file that only grows differs least from its next version: more candidates cost time and find no better
_NAME = re.compile(r"(pack-[0-9a-f]{40,64})?")
# One file for each pack, on one core, and all of it on the disk before anything else goes.
_SETTINGS = ("pack.packSizeLimit=0", "pack.threads=1", "core.fsync=all")


@dataclass(frozen=True)
class Pack:
    """A pack of ours."""

    name: str  # `pack-<hash>`
    tip: str  # the newest commit in it
    commits: int


def pack(repository: Repository, tip: str, packs: Sequence[Pack]) -> tuple[Pack, ...]:
    """Pack what `tip` has beyond `packs`, the oldest first; returns the packs that there are then.

    Packs that are not at least twice as large as what follows them are replaced together: of N commits there are
    never more than log2(N) packs, and each commit is packed so often at most. Where the repository has a multi-pack
    index, which names packs, none is replaced: whoever made it looks after them.
    """
    folder = repository.common / "objects" / "pack"
    packs = [each for each in packs if repository.has(each.tip)]
    since = packs[-1].tip if packs else None
    commits = int(repository.git("rev-list", "--count", *_range(tip, since)).text)
    if not commits:
        return tuple(packs)
    stays = len(packs)
    while stays and not (folder / "multi-pack-index").exists() and packs[stays - 1].commits < 2 * commits:
        stays -= 1
        commits += packs[stays].commits
    replaced = [each for each in packs[stays:] if _is_ours(folder, each)]
    loose = [oid for oid, _ in _listed(repository, tip, since) if _loose(repository, oid).exists()]
    wanted = {*loose, *(oid for each in replaced for oid in _held(repository, folder, each.name))}
    name = _written(repository, tip, packs[stays - 1].tip if stays else None, wanted)
    if not name:
        return (*packs[:stays], Pack("", tip, commits))  # all of it is packed already, by somebody else
    sync_folder(folder)
    held = _held(repository, folder, name)
    for oid in loose:
        if oid in held:
            _loose(repository, oid).unlink(missing_ok=True)
    for each in replaced:
        if each.name != name and _held(repository, folder, each.name) <= held:
            _remove(folder, each.name)
    return (*packs[:stays], Pack(name, tip, commits))


def _written(repository: Repository, tip: str, since: str | None, wanted: set[str]) -> str:
    """Make the pack; git finds differences between objects that it is told the same path of. Empty for nothing."""
    named = dict(_listed(repository, tip, since))
    lines = [f"{oid} {path}" for oid, path in named.items() if oid in wanted]
    lines += sorted(wanted - named.keys())  # of a line of commits that was given up
    if not lines:
        return ""
    told = "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")
    base = repository.common / "objects" / "pack" / "pack"
    asked = ("pack-objects", "--quiet", "--local", "--delta-base-offset", _WINDOW, str(base))
    return f"pack-{repository.git(*asked, stdin=told, timeout=PACKING, settings=_SETTINGS).text.strip()}"


def _listed(repository: Repository, tip: str, since: str | None) -> list[tuple[str, str]]:
    """`(object, path)` of all that `tip` has and `since` has not; what a partial clone lacks is left out."""
    asked = ("rev-list", "--objects", "--missing=allow-any")
    rows = repository.git(*asked, *_range(tip, since), timeout=PACKING).text.split("\n")
    return [(oid, path) for oid, _, path in (row.partition(" ") for row in rows) if oid]


def _range(tip: str, since: str | None) -> tuple[str, ...]:
    return (tip, f"^{since}") if since else (tip,)


def _held(repository: Repository, folder: Path, name: str) -> set[str]:
    """The objects that a pack's index names."""
    rows = repository.git("show-index", stdin=(folder / f"{name}.idx").read_bytes()).text.splitlines()
    return {row.split(" ")[1] for row in rows}


def _is_ours(folder: Path, each: Pack) -> bool:
    """Still there, and nobody has said that it is to stay."""
    names = {ending: folder / f"{each.name}{ending}" for ending in (".pack", ".idx", ".keep", ".promisor")}
    return bool(each.name) and [path.exists() for path in names.values()] == [True, True, False, False]


def _remove(folder: Path, name: str) -> None:
    """The index first, as git does it: a pack without one is not looked at."""
    for ending in (".idx", ".rev", ".bitmap", ".pack"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(folder / f"{name}{ending}")


def _loose(repository: Repository, oid: str) -> Path:
    return repository.common / "objects" / oid[:2] / oid[2:]


def rows_of(packs: Iterable[Pack]) -> list[list[object]]:
    """As JSON keeps them."""
    return [[each.name, each.tip, each.commits] for each in packs]


def packs_of(rows: object) -> list[Pack]:
    """From JSON; a ValueError for what is no list of packs, or names a file elsewhere."""
    packs = []
    for row in rows if isinstance(rows, list) else [None]:
        match row:
            case [str(name), str(tip), int(commits)] if _NAME.fullmatch(name) and tip.isalnum():
                packs.append(Pack(name, tip, commits))
            case _:
                raise ValueError(f"{str(row)[:40]!r} is no pack")
    return packs
