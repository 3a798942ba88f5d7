"""Finds herorun's own modules, of which a command imports some 400, in a third of the usual time.

Python searches for each module under every possible ending, and computes its paths again: 0.1 ms
each. Here a folder is listed once. Unusual cases are left to Python: stale or missing bytecode,
another place for it, an archive, or a file that was added later.
"""

import marshal
import os
import sys
from collections.abc import Sequence
from functools import cache
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import MAGIC_NUMBER
from types import CodeType, ModuleType
from typing import Any

_HEADER = 16  # bytes: the magic number, flags, the source's time and its size
_MAX_BYTES = 1 << 17  # bytes of bytecode that is read here
_TIME_CHECKED = bytes(4)  # the flags of bytecode that is checked by the source's time


class _OwnLoader(SourceFileLoader):
    def __init__(self, name: str, path: str, cache_path: str) -> None:
        super().__init__(name, path)
        self._cache_path = cache_path

    def get_code(self, fullname: str) -> CodeType | None:
        try:
            return self._cached_code() or super().get_code(fullname)
        except FileNotFoundError:
            message = f"{fullname} was there when this process began; another herorun was installed"
            raise ModuleNotFoundError(message, name=fullname) from None

    def _cached_code(self) -> CodeType | None:
        """The cached bytecode; None if only Python can decide whether it is valid."""
        try:
            data = _start_of(self._cache_path)
            source = os.stat(self.path)
        except OSError:
            return None
        times = (int(source.st_mtime), source.st_size)
        header = b"".join((each & 0xFFFFFFFF).to_bytes(4, "little") for each in times)
        if data[:_HEADER] != MAGIC_NUMBER + _TIME_CHECKED + header or len(data) == _MAX_BYTES:
            return None
        try:
            code: Any = marshal.loads(memoryview(data)[_HEADER:])
        except (EOFError, ValueError, TypeError):
            return None
        fits = isinstance(code, CodeType) and code.co_filename == self.path
        return code if fits else None


def _start_of(path: str) -> bytes:
    """In four calls of the system; a file object makes eight."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(file, _MAX_BYTES)
    finally:
        os.close(file)


class OwnModules:
    """A finder that comes before Python's own."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, own = name.rpartition(".")
        if package.partition(".")[0] != "herorun" or path is None or len(path) != 1:
            return None
        (folder,) = path
        names = _names_in(folder)
        if f"{own}.py" in names:
            return _spec(name, f"{folder}/{own}.py", f"{folder}/__pycache__/{own}")
        if own in names and "__init__.py" in _names_in(f"{folder}/{own}"):
            inside = f"{folder}/{own}"
            spec = _spec(name, f"{inside}/__init__.py", f"{inside}/__pycache__/__init__")
            spec.submodule_search_locations = [inside]
            return spec
        return None


def _spec(name: str, path: str, cache_path: str) -> ModuleSpec:
    cache_path = f"{cache_path}.{sys.implementation.cache_tag}.pyc"
    spec = ModuleSpec(name, _OwnLoader(name, path, cache_path), origin=path)
    spec.has_location, spec.cached = True, cache_path
    return spec


@cache
def _names_in(folder: str) -> frozenset[str]:
    try:
        return frozenset(os.listdir(folder))
    except OSError:
        return frozenset()


def find_own_modules() -> None:
    """Install the finder. Only for herorun's own process (the command line), not the library."""
    usual = sys.pycache_prefix is None and not sys.flags.optimize and os.sep == "/"
    if usual and not any(isinstance(each, OwnModules) for each in sys.meta_path):
        sys.meta_path.insert(0, OwnModules())
