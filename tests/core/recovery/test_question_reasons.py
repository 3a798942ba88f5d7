"""A status says in words why herorun asks about a relaunch."""

import ast
import inspect
from collections.abc import Iterator

from herorun.core.recovery import decision
from herorun.core.recovery.diagnosis import LOST_TEMPORARY, ROOT_BACK, ROOT_GONE
from herorun.core.recovery.question_reasons import QUESTION_REASONS


def kinds_of_objections() -> Iterator[str]:
    for node in ast.walk(ast.parse(inspect.getsource(decision))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "RelaunchObjection":
            yield from (str(each.value) for each in node.args[:1] if isinstance(each, ast.Constant))


def test_every_objection_has_a_reason_in_words() -> None:
    kinds = {*kinds_of_objections(), *decision.FINAL, *LOST_TEMPORARY, ROOT_GONE, ROOT_BACK}
    assert {"repeated", "veto", "tries"} <= kinds  # found in the source
    assert kinds | {"gate"} == set(QUESTION_REASONS)
