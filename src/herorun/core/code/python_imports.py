"""Which modules a Python file names: import statements anywhere in it, and the calls that import by
a literal name.
"""

import ast
from collections.abc import Iterator

from herorun.core.lazy_dataclass import dataclass

_BY_MODULE = ("import_module", "__import__", "run_module")
_BY_PATH = ("run_path",)
_CALLS = tuple(name.encode() for name in (*_BY_MODULE, *_BY_PATH))


@dataclass(frozen=True)
class ImportStatement:
    """`from ..a.b import c`: two levels up, module a.b, name c. A file that is run by its path is a
    `path`.
    """

    module: str = ""
    level: int = 0
    names: tuple[str, ...] = ()
    path: str = ""


def imported_by(source: bytes) -> list[ImportStatement]:
    """Everything that the source imports; text that is no Python is a SyntaxError or ValueError."""
    tree = ast.parse(source)
    imports = [
        one for statement in _statements(tree.body) for one in _imports_of_statement(statement)
    ]
    if any(call in source for call in _CALLS):  # walking every expression takes longer than parsing
        imports += [
            one
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
            for one in _find_call_imports(node)
        ]
    return imports


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        yield statement
        for field in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(statement, field, []))
        for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            yield from _statements(part.body)


def _imports_of_statement(statement: ast.stmt) -> Iterator[ImportStatement]:
    match statement:
        case ast.Import(names=names):
            for name in names:
                yield ImportStatement(name.name)
        case ast.ImportFrom(module=module, names=names, level=level):
            yield ImportStatement(module or "", level, tuple(name.name for name in names))


def _find_call_imports(call: ast.Call) -> Iterator[ImportStatement]:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    literal = call.args[0] if call.args else None
    if not isinstance(literal, ast.Constant) or not isinstance(literal.value, str):
        return
    if name in _BY_MODULE:
        module = literal.value.lstrip(".")
        yield ImportStatement(module, len(literal.value) - len(module))
    elif name in _BY_PATH:
        yield ImportStatement(path=literal.value)
