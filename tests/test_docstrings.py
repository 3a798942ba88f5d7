"""The examples in docstrings show what the functions return."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

SRC = Path(__file__).parents[1] / "src"
MODULES = [
    ".".join(path.relative_to(SRC).with_suffix("").parts)
    for path in sorted(SRC.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("module", MODULES)
def test_an_example_prints_what_it_says(module: str) -> None:
    failure_count, example_count = doctest.testmod(import_module(module))
    assert example_count and not failure_count
