"""The Python projects of a repository, by their `pyproject.toml`: commands, source folders,
workspace members.
"""

import os
from collections.abc import Iterator
from glob import glob
from pathlib import Path
from posixpath import join, normpath
from typing import Any

from herorun.core.untrusted_toml import parse_toml
from herorun.system.files import read_regular

MAX_BYTES = 4 << 20  # bytes of a pyproject.toml


def projects(
    top: str, cwd: str, unresolved_paths: list[str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """`(folder, pyproject.toml)` of the top, the working directory, and the members of their
    workspaces.
    """
    for folder in dict.fromkeys(("", cwd)):
        project = _project(top, folder, unresolved_paths)
        if project is None:
            continue
        yield folder, project
        for member in _members(top, folder, project):
            inner = _project(top, member, unresolved_paths)
            if inner is not None:
                yield member, inner


def _project(top: str, folder: str, unresolved_paths: list[str]) -> dict[str, Any] | None:
    path = join(folder, "pyproject.toml")
    try:
        return parse_toml(read_regular(Path(top, path), MAX_BYTES).decode())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        unresolved_paths.append(
            f"{path}: {error.strerror if isinstance(error, OSError) else error}"
        )
        return None


def table_or_empty(data: Any, *keys: str) -> dict[str, Any]:
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data if isinstance(data, dict) else {}


def source_folders(project: dict[str, Any]) -> list[str]:
    """The folders of a project's packages, relative to the project."""
    where = table_or_empty(project, "tool", "setuptools", "packages", "find").get("where")
    mapped_root = table_or_empty(project, "tool", "setuptools", "package-dir").get("")
    stated_folders = [*(where if isinstance(where, list) else ()), mapped_root]
    return ["src", ".", *(each for each in stated_folders if isinstance(each, str))]


def _members(top: str, folder: str, project: dict[str, Any]) -> Iterator[str]:
    """Folders of this repository that are projects, by a workspace or a path dependency."""
    stated_folders = table_or_empty(project, "tool", "uv", "workspace").get("members")
    patterns = (
        [each for each in stated_folders if isinstance(each, str)]
        if isinstance(stated_folders, list)
        else []
    )
    sources = table_or_empty(project, "tool", "uv", "sources").values()
    patterns += [str(each["path"]) for each in sources if isinstance(each, dict) and "path" in each]
    for pattern in patterns:
        for member in glob(os.path.join(folder, pattern), root_dir=top):
            path = normpath(member)
            if not path.startswith((".", "/")) and path != normpath(folder):
                yield path
