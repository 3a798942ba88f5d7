"""The row of a status that has the next command is labelled by what must come before it."""

import pytest

from herorun.output.questions import label_of_next, question_lines
from screens.states import STATES

NAME, LAUNCH = "escalate/relaunch/tiny-1/", "`herorun launch tiny`"


@pytest.mark.parametrize(
    ("kind", "following", "label"),
    [
        ("code-bug", "preflight", "after fix"),
        ("fixed-once", "preflight", "after fix"),
        ("gate", "preflight", "next"),  # it shows what there is to fix
        ("numeric", "preflight", "next"),
        ("person", "approve", "if yes"),
        ("numeric", "rollback", "roll back"),
    ],
)
def test_a_preflight_comes_after_the_fix_only_if_the_cause_is_known(
    kind: str, following: str, label: str
) -> None:
    command = f"herorun {following} tiny"
    status, _, _ = STATES["code-bug"]
    document = {**status.as_json(), "questions": [NAME + kind], "next": command}
    assert label_of_next(document) == label
    (line,) = question_lines(document)
    is_yes = following == "approve"
    assert (f"`{label}`" in line, f"`{command}`" in line, LAUNCH in line) == (
        is_yes,
        following == "preflight",
        following == "preflight",
    )
