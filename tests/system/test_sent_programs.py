"""What is sent to another machine runs there without herorun."""

import ast
import sys
from pathlib import Path

import pytest

import herorun
from herorun.schedulers import _logs
from herorun.schedulers._ssh import request
from herorun.stores import _ssh
from herorun.system import remote_file, remote_programs
from herorun.system.remote_python import RemoteProgram

PROGRAMS = {
    f"{module.__name__}.{name}": value
    for module in (_logs, request, _ssh, remote_file, remote_programs)
    for name, value in vars(module).items()
    if isinstance(value, RemoteProgram)
}


def imports_of(path: str) -> set[str]:
    """The modules that a file imports anywhere; of a package, its modules."""
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {_module_of(node.module or "", alias.name) for alias in node.names}
    return names


def _module_of(module: str, name: str) -> str:
    folder = Path(herorun.__file__).parent.parent / module.replace(".", "/")
    return f"{module}.{name}" if (folder / "__init__.py").exists() else module


STDLIB = {*sys.stdlib_module_names, "_sha2"}  # the last of Python 3.12


def test_every_program_that_is_sent_is_known() -> None:
    assert len(PROGRAMS) >= 7


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_sent_file_imports_the_standard_library_and_the_files_before_it(name: str) -> None:
    earlier: set[str] = set()
    for module, path in PROGRAMS[name].files:
        missing = {
            each
            for each in imports_of(path)
            if each.partition(".")[0] not in STDLIB and each not in earlier
        }
        assert not missing, f"{module} is sent, and {missing} is not"
        earlier.add(module)
