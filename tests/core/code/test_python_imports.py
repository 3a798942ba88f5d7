"""What a file of Python imports, and which files and packages it names."""

import ast

import pytest

from herorun.core.code.mentions import JobProgram, foreign_imports
from herorun.core.code.python_imports import imported_by

NESTED_IMPORTS = """
try:
    import a
except ImportError:
    import b
match x:
    case 1:
        import c
if x:
    pass
else:
    from . import d
"""


def test_a_nested_import_is_one_too() -> None:
    assert [(one.module, one.level) for one in imported_by(NESTED_IMPORTS.encode())][:3] == [
        ("a", 0),
        ("b", 0),
        ("c", 0),
    ]


@pytest.mark.parametrize(
    ("call", "module", "level"),
    [
        ('importlib.import_module("a.b")', "a.b", 0),
        ('importlib.import_module("..c", __name__)', "c", 2),
        ("importlib.import_module(name)", None, None),
    ],
)
def test_an_import_by_a_call(call: str, module: str | None, level: int | None) -> None:
    imports = [(one.module, one.level) for one in imported_by(f"import importlib\n{call}".encode())]
    assert imports[1:] == ([] if module is None else [(module, level)])


def test_a_package_of_others_is_named_and_an_own_one_is_not() -> None:
    files = {"src/train.py": b"import os, model, fla\nfrom .layer import x\n", "src/model.py": b""}
    assert foreign_imports(files, frozenset({"os"})) == ["fla"]


def test_only_names_with_the_suffix_are_named() -> None:
    program = JobProgram({"train.py": ast.parse('a = "x.json"\nb = "x.yaml"\nc = f"{a}.json"')})
    names = [(each.value, each.line) for each in program.files(".json")]
    assert names == [("x.json", 1), (None, 3)]
