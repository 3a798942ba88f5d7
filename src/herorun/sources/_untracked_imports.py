"""Files that are in no commit and that Python or the dynamic loader would load."""

import os
from collections.abc import Iterable, Iterator
from posixpath import dirname, join, normpath, relpath

from herorun.core.contract import Command
from herorun.core.lazy_regex import lazy_regex
from herorun.core.module_provenance import code_roots

_LOADABLE = lazy_regex(r"\.(pyw?|pyc|pyd|pth|dll|dylib|so(\.\d+)*)$")
_NOT_OURS = frozenset({"__pycache__", "site-packages", "node_modules", ".herorun", ".git"})
_ENVIRONMENT = ("pyvenv.cfg", "conda-meta")


def roots_of(command: Command, top: str) -> tuple[str, ...]:
    """Folders that are searched for modules, relative to the top: those of the command, and its
    `PYTHONPATH`.
    """
    scripts = (normpath(join(command.cwd, word)) for word in command.argv if word.endswith(".py"))
    path_entries = (
        join(command.cwd, entry) for entry in command.env.get("PYTHONPATH", "").split(":") if entry
    )
    inside = (
        relpath(path, top) if path.startswith("/") else normpath(path) for path in path_entries
    )
    further = ("" if path == "." else path for path in inside if not path.startswith(".."))
    return tuple(dict.fromkeys((*code_roots(command.argv, command.cwd, scripts), *further)))


def importable(top: str, ignored_files: Iterable[str], roots: Iterable[str]) -> list[str]:
    """The ignored paths that can be loaded; `name/` is a whole folder."""
    roots = tuple(roots)
    paths: list[str] = []
    for path in ignored_files:
        if path.endswith("/"):
            if not _NOT_OURS.intersection(path.split("/")) and _within(path.rstrip("/"), roots):
                paths += _loaded_below(top, path.rstrip("/"))
        elif _is_loadable(top, path) and _within(dirname(path), roots):
            paths.append(path)
    return paths


def led_out(top: str, links: Iterable[str], roots: Iterable[str]) -> list[str]:
    """Tracked links to modules outside the work tree: the commit contains their place, but not
    their content.
    """
    inside, roots = os.path.realpath(top) + os.sep, tuple(roots)
    return [
        path
        for path in links
        if not os.path.realpath(full := os.path.join(top, path)).startswith(inside)
        and os.path.exists(full)
        and _within(dirname(path), roots)
        and _is_loadable(top, path)
    ]


def _within(folder: str, roots: tuple[str, ...]) -> bool:
    """Whether a dotted name can reach the folder from a root: a namespace package needs no
    `__init__.py`.
    """
    return any(
        all(part.isidentifier() and part not in _NOT_OURS for part in parts)
        for root in roots
        if (parts := _parts_below(folder, root)) is not None
    )


def _parts_below(folder: str, root: str) -> list[str] | None:
    if folder == root:
        return []
    inside = folder.removeprefix(f"{root}/") if root else folder
    return inside.split("/") if inside != folder or not root else None


def _is_loadable(top: str, path: str) -> bool:
    if _LOADABLE.search(path):
        return True
    return (
        os.path.islink(full := os.path.join(top, path))
        and os.path.isdir(full)
        and _is_package(full)
    )


def _is_package(link: str) -> bool:
    """Whether a linked folder contains modules; a link to data is no code."""
    names = os.listdir(link)
    return not any(name in names for name in _ENVIRONMENT) and any(
        _LOADABLE.search(name) for name in names
    )


def _loaded_below(top: str, folder: str) -> Iterator[str]:
    """Modules in a folder and its subfolders, except virtual environments, caches and build
    output.
    """
    try:
        with os.scandir(os.path.join(top, folder)) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
    except PermissionError:
        return  # unreadable for us, so also for the job
    names = {entry.name for entry in entries}
    if names.intersection(_ENVIRONMENT) or _is_build(folder, names):
        return
    for entry in entries:
        path = f"{folder}/{entry.name}"
        if entry.is_dir(follow_symlinks=False):
            if entry.name.isidentifier() and entry.name not in _NOT_OURS:
                yield from _loaded_below(top, path)
        elif _is_loadable(top, path):
            yield path


def _is_build(folder: str, names: set[str]) -> bool:
    """Whether it is build output of setuptools: a copy that is never imported."""
    return folder.rpartition("/")[2] == "build" and any(
        n == "lib" or n.startswith("bdist.") for n in names
    )
