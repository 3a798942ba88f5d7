"""A world is launched once, and copied for the other tests that begin with the same.

A launch takes a quarter of a second of CPU, and its record holds the paths of its world: those of
one process lie at one place, one after another. Only a world that was just begun is replaced by a
copy, in the same environment and with nothing patched; what the commands said is said again.
"""

import atexit
import contextlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import proposed

LASTS = 30.0  # seconds; a test may take what is in its world for new
MAX_WORLDS = 8  # worlds that are kept, the newest, of half a megabyte each
SERVERS = "services"  # the package of their fixtures
Listing = dict[str, tuple[int, int, int]]


@dataclass(frozen=True)
class LaunchedWorld:
    """A world as one of its tests left it at the end of its launch."""

    folder: Path
    environment: dict[str, str]
    out: str
    err: str
    commands: list[str]  # that the last call proposed
    began: float  # by the monotonic clock


_numbers = count()
_clean_worlds: dict[Path, Listing] = {}  # what lies in a world that a copy may replace
_worlds: dict[str, LaunchedWorld] = {}


def is_alone(test: Any) -> bool:
    """Whether a test has one story, patches nothing, and asks for no server, which may know a world
    by its name.
    """
    fixtures = test._fixtureinfo.name2fixturedefs
    modules = {each.func.__module__ for definitions in fixtures.values() for each in definitions}
    is_a_story = "story" in fixtures and "monkeypatch" not in fixtures
    return is_a_story and not any(name.partition(".")[0] == SERVERS for name in modules)


@contextlib.contextmanager
def place(memory: Path | None, is_shared: bool) -> Iterator[Path]:
    """An empty folder; a shared one is where that of the test before was."""
    folder = _of_this_process(memory)
    if not is_shared or folder.exists():
        with tempfile.TemporaryDirectory(
            prefix="herorun-", dir=memory, ignore_cleanup_errors=True
        ) as other:
            yield Path(other).resolve()
        return
    folder.mkdir(mode=0o700)
    _clean_worlds[folder] = {}
    try:
        yield folder
    finally:
        del _clean_worlds[folder]
        proposed.latest.pop(folder, None)  # else the next world there would be proposed it
        other_name = Path(f"{folder}.gone-{next(_numbers)}")
        with contextlib.suppress(OSError):  # what still writes there writes into no other world
            folder = folder.rename(other_name)
        shutil.rmtree(folder, ignore_errors=True)


@cache
def _of_this_process(memory: Path | None) -> Path:
    """A name that no other process takes."""
    folder = Path(tempfile.mkdtemp(prefix="herorun-", dir=memory)).resolve()
    folder.rmdir()
    return folder


def begin_world(home: Path) -> None:
    """A shared place holds a new world: as long as nothing of it changes, a copy may replace it."""
    if home in _clean_worlds:
        _clean_worlds[home] = _listing(home)


def make_or_copy(home: Path, what: str, make: Callable[[], int], lasts: float = LASTS) -> int:
    """Make the world into `what`, or put in its place a copy of one that was made into that. 0
    where that came about, as an exit code.
    """
    if not _clean_worlds.get(home) or _clean_worlds[home] != _listing(home):
        return make()
    world = _worlds.get(what)
    if (
        world is None
        or world.environment != _environment()
        or time.monotonic() - world.began > lasts
    ):
        return _make_and_keep(home, what, make)
    shutil.rmtree(home)
    copy_tree(str(world.folder), str(home))
    sys.stdout.write(world.out)
    sys.stderr.write(world.err)
    proposed.latest[home] = world.commands
    return 0


def _make_and_keep(home: Path, what: str, make: Callable[[], int]) -> int:
    began, environment = time.monotonic(), _environment()
    out, err = proposed.Ears(sys.stdout), proposed.Ears(sys.stderr)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        if code := make():
            return code
    folder = Path(f"{home}.kept-{next(_numbers)}")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name in [name for name in _worlds if name == what] or list(_worlds)[: 1 - MAX_WORLDS]:
        shutil.rmtree(_worlds.pop(name).folder)
    copy_tree(str(home), str(folder))
    texts = "".join(out.parts), "".join(err.parts)
    _worlds[what] = LaunchedWorld(folder, environment, *texts, proposed.latest.get(home, []), began)
    return 0


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}


def _listing(home: Path) -> Listing:
    """Whatever is written, made or removed shows."""
    listing, folders = Listing(), [str(home)]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                stat = entry.stat(follow_symlinks=False)
                listing[entry.path] = stat.st_ino, stat.st_mtime_ns, stat.st_size
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
    return listing


def copy_tree(source: str, target: str) -> None:
    """With the times and the modes of all files, in a third of shutil's time."""
    os.mkdir(target)
    with os.scandir(source) as entries:
        for entry in entries:
            path = f"{target}/{entry.name}"
            if entry.is_symlink():
                os.symlink(os.readlink(entry.path), path)
            elif entry.is_dir():
                copy_tree(entry.path, path)
            else:
                with open(entry.path, "rb", 0) as old, open(path, "xb", 0) as new:
                    new.write(old.read())
                _be_as(path, entry.stat())
    _be_as(target, os.stat(source))


def _be_as(path: str, stat: os.stat_result) -> None:
    os.chmod(path, stat.st_mode & 0o7777)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
