"""The strings under the fields of a class, as descriptions for its JSON Schema.

pydantic's `use_attribute_docstrings` parses the source of every class when it is imported, which is
a tenth of a second for each command; only a schema needs them.
"""

import ast
import inspect
from collections.abc import Iterator
from itertools import pairwise
from textwrap import dedent
from typing import Any

from herorun.core.docstrings import unwrap


def field_docs(kind: type[Any]) -> dict[str, str]:
    """By the name of the field, inherited ones too."""
    bases = [base for base in reversed(kind.__mro__) if base.__module__.startswith("herorun.")]
    return {name: text for base in bases for name, text in _own(base)}


def _own(kind: type[Any]) -> Iterator[tuple[str, str]]:
    (body,) = ast.parse(dedent(inspect.getsource(kind))).body
    for statement, below in pairwise(getattr(body, "body", [])):
        match statement, below:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                yield name, unwrap(inspect.cleandoc(text))
