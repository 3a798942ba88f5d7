"""Packing what our own ref has added, so that a record of many small commits takes little room.

Every commit of a growing file stores the whole file again, until a pack keeps only the difference.
This does what `git gc` would do, for our objects only: it adds a pack, and removes our loose copies
and smaller packs that it replaces. The user's own packs and objects are never read for this, moved
or deleted.

A pack is made in a folder of its own, as git makes what it receives (`tmp_objdir-*`), and is named
before it is moved to the others: so the next packing finds and removes what a killed one has left.
"""

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex
from herorun.system.files import sync_folder
from herorun.system.git import Repository

PACKING = 600.0  # seconds
# a file that only grows differs least from its next version: more candidates cost time and find no
# better
_WINDOW = "--window=2"
_NAME = lazy_regex(r"(pack-[0-9a-f]{40,64})?")
# One file for each pack, on one core, and all of it on the disk before anything else goes.
_SETTINGS = ("pack.packSizeLimit=0", "pack.threads=1", "core.fsync=all")


@dataclass(frozen=True)
class Pack:
    """A pack of ours."""

    name: str  # `pack-<hash>`
    tip: str  # the newest commit in it
    commits: int  # 0 while it is being made


def pack(
    repository: Repository,
    slug: str,
    tip: str,
    packs: Sequence[Pack],
    note: Callable[[Sequence[Pack]], None],
) -> tuple[Pack, ...]:
    """Pack what `tip` has beyond `packs`, the oldest first; returns the packs that there are then.

    Packs that are not at least twice as large as what follows them are replaced together: of N
    commits there are never more than log2(N) packs, and each commit is packed so often at most.
    Where the repository has a multi-pack index, which names packs, none is replaced: the program
    that made it looks after them. `note` must keep what it gets: with that as `packs`, the next
    call cleans up after one that was killed.
    """
    folder = repository.common / "objects" / "pack"
    given_up = [each for each in packs if not each.commits]
    packs = [each for each in packs if each.commits and repository.has(each.tip)]
    since = packs[-1].tip if packs else None
    commits = int(repository.git("rev-list", "--count", *_range(tip, since)).text)
    if not commits:
        return tuple(packs)
    stays = _count_kept_packs(folder, packs, commits)
    commits += sum(each.commits for each in packs[stays:])
    older = [*packs[stays:], *given_up]
    older_packs = [each for each in older if _is_ours(folder, each)]
    loose = [
        oid
        for oid, _ in _list_new_objects(repository, tip, since)
        if _loose(repository, oid).exists()
    ]
    new_objects = {
        *loose,
        *(oid for each in older_packs for oid in _list_packed(repository, folder, each.name)),
    }
    with _temporary_objects(repository, slug) as temporary:
        name = _write_pack(
            repository, temporary, tip, packs[stays - 1].tip if stays else None, new_objects
        )
        if not name:
            # another process has packed all of it
            return (*packs[:stays], Pack("", tip, commits))
        note((*packs, *given_up, Pack(name, tip, 0)))
        _put(temporary / "pack", folder, name)
    _remove_packed(repository, folder, name, loose, older)
    return (*packs[:stays], Pack(name, tip, commits))


def _count_kept_packs(folder: Path, packs: Sequence[Pack], commits: int) -> int:
    """How many of the packs stay, from the oldest on, where `commits` more are packed."""
    stays = len(packs)
    if (folder / "multi-pack-index").exists():
        return stays
    while stays and packs[stays - 1].commits < 2 * commits:
        stays -= 1
        commits += packs[stays].commits
    return stays


def _remove_packed(
    repository: Repository, folder: Path, name: str, loose: Iterable[str], older: Iterable[Pack]
) -> None:
    """Remove what the pack of that name holds as well: loose objects, and older packs of ours."""
    objects = _list_packed(repository, folder, name)
    for oid in loose:
        if oid in objects:
            _loose(repository, oid).unlink(missing_ok=True)
    for each in older:
        if each.name != name and _is_spare(repository, folder, each, objects):
            _remove(folder, each.name)


@contextlib.contextmanager
def _temporary_objects(repository: Repository, slug: str) -> Iterator[Path]:
    """An empty store of objects that sees all others, within the repository's so that a pack can be
    moved from it.
    """
    from shutil import rmtree  # most commands pack nothing

    objects = repository.common / "objects"
    temporary = objects / f"tmp_objdir-herorun-{slug}"
    rmtree(temporary, ignore_errors=True)
    for folder in (temporary / "pack", temporary / "info"):
        folder.mkdir(parents=True)
    (temporary / "info" / "alternates").write_bytes(os.fsencode(objects) + b"\n")
    try:
        yield temporary
    finally:
        rmtree(temporary, ignore_errors=True)


def _write_pack(
    repository: Repository, temporary: Path, tip: str, since: str | None, new_objects: set[str]
) -> str:
    """Make the pack; git finds differences between objects that are given to it with the same path.
    Empty for nothing.
    """
    paths_by_oid = dict(_list_new_objects(repository, tip, since))
    lines = [f"{oid} {path}" for oid, path in paths_by_oid.items() if oid in new_objects]
    lines += sorted(new_objects - paths_by_oid.keys())  # of a line of commits that was given up
    if not lines:
        return ""
    text = "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")
    arguments = (
        "pack-objects",
        "--quiet",
        "--delta-base-offset",
        _WINDOW,
        str(temporary / "pack" / "pack"),
    )
    env = {"GIT_OBJECT_DIRECTORY": str(temporary)}
    answer = repository.git(*arguments, stdin=text, timeout=PACKING, settings=_SETTINGS, env=env)
    return f"pack-{answer.text.strip()}"


def _put(source: Path, folder: Path, name: str) -> None:
    """Among the others, the index last, as git does it: a pack without one is not looked at."""
    for path in sorted(source.glob(f"{name}.*"), key=lambda path: path.suffix == ".idx"):
        os.replace(path, folder / path.name)
    sync_folder(folder)


def _list_new_objects(repository: Repository, tip: str, since: str | None) -> list[tuple[str, str]]:
    """`(object, path)` of all that `tip` has and `since` has not; what a partial clone lacks is
    left out.
    """
    arguments = ("rev-list", "--objects", "--missing=allow-any")
    rows = repository.git(*arguments, *_range(tip, since), timeout=PACKING).text.split("\n")
    return [(oid, path) for oid, _, path in (row.partition(" ") for row in rows) if oid]


def _range(tip: str, since: str | None) -> tuple[str, ...]:
    return (tip, f"^{since}") if since else (tip,)


def _list_packed(repository: Repository, folder: Path, name: str) -> set[str]:
    """The objects that a pack's index names."""
    rows = repository.git(
        "show-index", stdin=(folder / f"{name}.idx").read_bytes()
    ).text.splitlines()
    return {row.split(" ")[1] for row in rows}


def _is_ours(folder: Path, each: Pack) -> bool:
    """Still there, and not marked to be kept."""
    if (folder / "multi-pack-index").exists():
        return False
    names = {
        ending: folder / f"{each.name}{ending}"
        for ending in (".pack", ".idx", ".keep", ".promisor")
    }
    return bool(each.name) and [path.exists() for path in names.values()] == [
        True,
        True,
        False,
        False,
    ]


def _is_spare(repository: Repository, folder: Path, each: Pack, objects: set[str]) -> bool:
    """All of it is held elsewhere; or it has no index, because its moving or its removal was cut
    off.
    """
    if not each.name or (folder / f"{each.name}.keep").exists():
        return False
    if not (folder / f"{each.name}.idx").exists():
        return True
    return _is_ours(folder, each) and _list_packed(repository, folder, each.name) <= objects


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
