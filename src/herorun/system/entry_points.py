"""Which groups of entry points the installed packages offer, read from their files.

`importlib.metadata` gives the same answer, but takes 30 ms, half of them for its import, and nearly
always there are none. Here that answer takes 1 ms.
"""

import os
import sys
from functools import lru_cache
from importlib.machinery import PathFinder
from io import FileIO
from time import time
from types import ModuleType
from typing import Any

_FACTS = (".dist-info", ".egg-info")
SETTLE_SECONDS = 60  # seconds in which a package that is being installed gets all its files
_LOADER = "pydantic.plugin._loader"


def is_group_offered(group: str) -> bool:
    """Whether a package may offer something to the group; True also if only `importlib.metadata`
    can tell.
    """
    if any(hasattr(f, "find_distributions") for f in sys.meta_path if f is not PathFinder):
        return True
    return any(_offers(folder or os.curdir, group) for folder in dict.fromkeys(sys.path))


def _offers(folder: str, group: str) -> bool:
    try:
        own_groups = _groups(os.path.abspath(folder))
    except (FileNotFoundError, PermissionError):
        return False
    except OSError:  # an archive
        return True
    return folder.endswith(".egg") or group in own_groups


def _groups(folder: str) -> frozenset[str]:
    """The groups of a folder's packages. A command needs them some twenty times: they are read
    again only if the folder's time shows that a package was installed or removed, or may be at the
    moment.
    """
    folder_mtime = os.stat(folder).st_mtime
    if time() - folder_mtime < SETTLE_SECONDS:
        return _read_groups.__wrapped__(folder, folder_mtime)
    return _read_groups(folder, folder_mtime)


@lru_cache(maxsize=64)
def _read_groups(folder: str, folder_mtime: float) -> frozenset[str]:
    packages = [name for name in os.listdir(folder) if name.endswith(_FACTS)]
    lines = (line for name in packages for line in _entry_points(f"{folder}/{name}").splitlines())
    return frozenset(line.strip().strip("[]") for line in lines if line.lstrip().startswith("["))


def _entry_points(package: str) -> str:
    try:
        with FileIO(f"{package}/entry_points.txt") as file:  # half of what `open` takes
            return file.read().decode()
    except (FileNotFoundError, NotADirectoryError):
        return ""


class _PluginLoader(ModuleType):
    """Replaces the module by which pydantic searches for its plugins while no package offers one,
    because that module imports `importlib.metadata`.
    """

    def get_plugins(self) -> Any:
        return self._own().get_plugins() if is_group_offered("pydantic") else ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._own(), name)

    def _own(self) -> Any:
        from importlib import import_module

        if sys.modules.get(_LOADER) is self:
            del sys.modules[_LOADER]
        return import_module(_LOADER)


def skip_search_for_plugins() -> None:
    """Let pydantic search for plugins only if a package offers one. Only for herorun's own process
    (the command line), not the library.
    """
    sys.modules.setdefault(_LOADER, _PluginLoader(_LOADER))
