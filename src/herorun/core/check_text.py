"""What `herorun explain` prints of a check, read from its file.

Importing a check imports the evidence that it needs: pydantic and half of the core, for a page of
text that stands in the file.
"""

import ast
import re
from inspect import cleandoc

from herorun.core.check import Gate, Response
from herorun.core.docstrings import unwrap
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex

_FILE = lazy_regex(
    r'"""(?P<doc>(?:[^"\\]|"(?!""))+)""".*\n@check\(\s*Gate\.(?P<gate>[A-Z]+)\b',
    re.DOTALL,
)


@dataclass(frozen=True)
class CheckText:
    name: str
    gate: Gate
    response: Response
    always: bool
    doc: str  # as `Check.doc`


def parse_check_text(source: str, name: str) -> CheckText | None:
    """None where the file does not hold one plain `@check(Gate.X, Response.Y)` of that name: only
    importing it tells.
    """
    module = ast.parse(source)
    functions = [
        (node, call)
        for node in module.body
        if isinstance(node, ast.FunctionDef)
        for call in node.decorator_list
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "check"
    ]
    if len(functions) != 1 or functions[0][0].name != name.replace("-", "_"):
        return None
    function, call = functions[0]
    own = ast.get_docstring(function) or ""
    always = [word.value for word in call.keywords if word.arg == "always"]
    try:
        gate, response = map(ast.unparse, call.args)
        return CheckText(
            name,
            Gate[gate.removeprefix("Gate.")],
            Response[response.removeprefix("Response.")],
            bool(always and ast.literal_eval(always[0])),
            unwrap(own if "\nWhy: " in own else ast.get_docstring(module) or ""),
        )
    except (KeyError, ValueError):
        return None


@dataclass(frozen=True)
class CheckLine:
    """A check in the list of all."""

    name: str
    gate: Gate
    problem: str  # as `Check.problem`


def parse_check_line(source: str, name: str) -> CheckLine | None:
    """The same check in a tenth of the time: its file is not parsed, but searched."""
    match = _FILE.match(source)
    is_plain = source.count("\n@check(") == 1 and "\n    Why: " not in source
    if match is None or not is_plain or match["gate"] not in Gate.__members__:
        return None
    if f"\ndef {name.replace('-', '_')}(" not in source[match.start("gate") :]:
        return None
    problem = unwrap(cleandoc(match["doc"])).partition("\n")[0]
    return CheckLine(name, Gate[match["gate"]], problem)
