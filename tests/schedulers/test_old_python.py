"""What travels to a box is understood by a Python as old as it may be."""

import ast
import sys
from pathlib import Path

import pytest

from herorun.schedulers._logs import READING
from herorun.schedulers._ssh.request import ACTING
from herorun.stores._ssh import DIGESTING, THERE
from herorun.system.remote_file import _THERE
from herorun.system.remote_programs import PROBE_PROGRAM, PROCESSES
from herorun.system.remote_python import MIN_VERSION

SENT_PROGRAMS = (ACTING, READING, PROBE_PROGRAM, PROCESSES, THERE, DIGESTING, _THERE)
FILES = sorted({name: path for each in SENT_PROGRAMS for name, path in each.files}.items())


@pytest.mark.parametrize(("name", "path"), FILES, ids=[name for name, _ in FILES])
def test_it_has_no_newer_syntax_and_imports_the_standard_library_alone(
    name: str, path: str
) -> None:
    tree = ast.parse(Path(path).read_text(), feature_version=MIN_VERSION)
    assert "annotations" in [
        alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names
    ]
    travel = dict(FILES)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("herorun"):
            homes = {f"{node.module}.{alias.name}" for alias in node.names}
            assert node.module in travel or homes <= travel.keys()
        for module in (
            [node.module]
            if isinstance(node, ast.ImportFrom)
            else [a.name for a in getattr(node, "names", [])]
        ):
            if isinstance(node, ast.Import | ast.ImportFrom):
                assert str(module).split(".")[0] in {
                    "__future__",
                    "herorun",
                    "_sha2",  # of Python 3.12
                    *sys.stdlib_module_names,
                }
