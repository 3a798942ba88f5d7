"""The row of a status that has the next command is labelled by what must come before it."""

import pytest

from commands.answers import ask
from herorun.output.questions import label_of_next, question_lines
from screens.states import STATES
from stories import SLUG, Story

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
    ("command", "dri_decides", "label"),
    [
        ("herorun relaunch tiny", True, "if yes"),
        ("herorun relaunch tiny", False, "next"),
        ("herorun preflight tiny", True, "next"),
        ("herorun handoff tiny --take && herorun relaunch tiny", True, "if gone"),
        ("herorun seal tiny", False, "to seal"),
    ],
)
def test_what_the_dri_decides_or_another_clone_must_do_is_no_advice(
    command: str, dri_decides: bool, label: str
) -> None:
    document = STATES["code-bug"][0].as_json()
    document |= {"questions": [], "next": command, "dri_decides": dri_decides}
    assert label_of_next(document) == label


def test_the_dri_decides_about_a_success_that_came_too_early(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    story.sign(babysit={"recovery": "relaunch"})
    story.run_first_job("exit 0")
    document = ask(story, capsys, "status", SLUG, "--json").document
    alert_checks = {alert["check"] for alert in document["alerts"]}
    assert document["run"] == "down" and document["dri_decides"] and "ended-short" in alert_checks
    assert label_of_next(document) == "if yes"
