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


@pytest.mark.parametrize(
    ("command", "fix", "label"),
    [
        ("herorun relaunch tiny", "the DRI, @dri, decides: `herorun relaunch tiny`", "if yes"),
        ("herorun relaunch tiny", "nothing", "next"),
        ("herorun preflight tiny", "the DRI, @dri, decides: `herorun preflight tiny`", "next"),
        ("herorun handoff tiny --take && herorun relaunch tiny", "", "if gone"),
        ("herorun seal tiny", "", "to seal"),
    ],
)
def test_what_the_dri_decides_or_another_clone_must_do_is_no_advice(
    command: str, fix: str, label: str
) -> None:
    document = STATES["code-bug"][0].as_json()
    (alert, *_) = document["alerts"]
    document |= {"questions": [], "next": command, "alerts": [{**alert, "fix": fix}]}
    assert label_of_next(document) == label
