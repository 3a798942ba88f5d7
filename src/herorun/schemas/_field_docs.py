"""The strings under the fields of a class, as descriptions for its JSON Schema.

pydantic's `use_attribute_docstrings` parses the source of every class when it is imported, which is
a tenth of a second for each command; only a schema needs them.
"""

import ast
import inspect
import sys
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any

from herorun.core.docstrings import unwrap


def field_docs(kind: type[Any]) -> dict[str, str]:
    """By the name of the field, inherited ones too."""
    bases = [base for base in reversed(kind.__mro__) if base.__module__.startswith("herorun.")]
    return {name: text for base in bases for name, text in _own(base)}


def _own(kind: type[Any]) -> Iterator[tuple[str, str]]:
    for statement, below in pairwise(_classes_of(kind.__module__)[kind.__name__].body):
        match statement, below:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                yield name, unwrap(inspect.cleandoc(text))


@cache
def _classes_of(module: str) -> dict[str, ast.ClassDef]:
    """A module is parsed once for all of its classes."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
