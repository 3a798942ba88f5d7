"""The files of this repository's modules. Paths are relative to the repository's top, with
slashes.
"""

import os
from collections.abc import Collection, Iterable, Iterator
from posixpath import dirname, join, normpath

from herorun.core.code.impact import folders_above
from herorun.core.code.python_imports import ImportStatement

_INSTALL_FOLDERS = ("site-packages", "dist-packages", "node_modules", ".venv", "venv")


class Modules:
    """Finds files by module name, in the folders that Python would search, in order.

    `changed_files` are files that differ from HEAD: a deleted one is also found.
    """

    def __init__(self, top: str, roots: Iterable[str], changed_files: Collection[str] = ()) -> None:
        self.top = top
        self.roots = tuple(dict.fromkeys(self._root(root) for root in roots))
        self._changed_files = frozenset(changed_files)
        self._folders = {folder for path in changed_files for folder in folders_above(path)}
        self._answers: dict[tuple[str, tuple[str, ...]], tuple[str, ...]] = {}

    def _root(self, folder: str) -> str:
        """A folder relative to the repository's top; outside the repository it begins with `..`."""
        path = os.path.relpath(os.path.normpath(os.path.join(self.top, folder)), self.top)
        return "" if path == "." else path

    def files(self, one_import: ImportStatement, by: str) -> Iterable[str]:
        """The files that one import of the file `by` runs; none if it is not of this repository."""
        if one_import.path:
            file = self.inside(one_import.path, dirname(by)) or self.inside(one_import.path, "")
            return (file,) if file else ()
        parts = tuple(part for part in one_import.module.split(".") if part)
        if one_import.level:
            base = normpath(join(dirname(by) or ".", *[".."] * (one_import.level - 1)))
            return (*self._packages(base), *self._under(base, parts, one_import.names))
        roots = (dirname(by), *self.roots) if one_import.names or parts else ()
        return next(
            filter(None, (self._under(root, parts, one_import.names) for root in roots)), ()
        )

    def module(self, name: str) -> tuple[str, ...]:
        """The files of `python -m name`, the one that is run last."""
        parts = tuple(name.split("."))
        for root in self.roots:
            files = self._walk(root, parts)
            main = normpath(join(root, *parts, "__main__.py"))
            if files or self.is_file(main):
                return (*files, main) if self.is_file(main) else files
        return ()

    def inside(self, name: str, folder: str) -> str | None:
        """A path as it is written, relative to a folder, if it is a file of this repository."""
        absolute = os.path.normpath(os.path.join(self.top, folder, name))
        if os.path.isabs(name) and not absolute.startswith(self.top + os.sep):
            absolute = os.path.realpath(absolute)  # the repository may be reached by a link
        path = os.path.relpath(absolute, self.top) if absolute.startswith(self.top + os.sep) else ""
        return path if path and not is_installed_package(path) and self.is_file(path) else None

    def is_file(self, path: str) -> bool:
        return path in self._changed_files or os.path.isfile(os.path.join(self.top, path))

    def _under(self, root: str, parts: tuple[str, ...], names: tuple[str, ...]) -> tuple[str, ...]:
        if root.startswith(".."):
            return ()
        files = [*self._walk(root, parts)]
        if files and not files[-1].endswith("__init__.py"):
            return tuple(files)  # a module: the names are in it
        for name in names:
            if name != "*":
                files += self._walk(root, (*parts, name))
        return tuple(dict.fromkeys(files))

    def _walk(self, root: str, parts: tuple[str, ...]) -> tuple[str, ...]:
        key = (root, parts)
        if key not in self._answers:
            self._answers[key] = tuple(self._steps(root, parts))
        return self._answers[key]

    def _steps(self, root: str, parts: tuple[str, ...]) -> Iterator[str]:
        folder = root
        for part in parts:
            step = normpath(join(folder, part))
            if is_installed_package(step):
                return
            package, module = f"{step}/__init__.py", f"{step}.py"
            if self.is_file(package):
                yield package
            elif self.is_file(module):
                yield module
                return
            elif step not in self._folders and not os.path.isdir(os.path.join(self.top, step)):
                return
            folder = step

    def _packages(self, folder: str) -> Iterator[str]:
        """The `__init__.py` of a folder and of the packages around it."""
        while not folder.startswith("..") and self.is_file(
            init := normpath(join(folder, "__init__.py"))
        ):
            yield init
            if folder in ("", "."):
                return
            folder = dirname(folder) or "."


def is_installed_package(path: str) -> bool:
    """Whether the path is among installed packages, which are not this repository's code."""
    return any(part in _INSTALL_FOLDERS for part in path.split("/"))
