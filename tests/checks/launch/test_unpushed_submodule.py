import pytest

from builders import COMMIT, a_tree, answer
from herorun.checks.launch.unpushed_submodule import unpushed_submodule
from herorun.core.evidence import Submodule, Unavailable, WorkTree
from herorun.core.finding import Outcome


def a_submodule(**changes):
    return a_tree(
        submodules=(
            Submodule(**{"path": "lib", "commit": COMMIT, "checked_out": COMMIT, **changes}),
        )
    )


def test_without_submodules_there_is_nothing_to_ask():
    assert answer(unpushed_submodule).outcome is Outcome.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({}, Outcome.PASS),
        ({"published": False}, Outcome.FAIL),
        ({"published": None, "why": "no route to host"}, Outcome.UNKNOWN),
        ({"published": None, "checked_out": None}, Outcome.NOT_APPLICABLE),
        ({"checked_out": "b" * 40, "modified": True}, Outcome.PASS),
    ],
)
def test_the_commit_that_head_names_is_what_counts(changes, outcome):
    verdict = answer(unpushed_submodule, a_submodule(**changes))

    assert (verdict.outcome, verdict.subject) == (outcome, "lib")


def test_the_reason_is_reported():
    text = "no branch or tag of origin contains it"
    assert text in answer(unpushed_submodule, a_submodule(published=False, why=text)).message
    assert (
        "no route"
        in answer(unpushed_submodule, a_submodule(published=None, why="no route")).message
    )


def test_an_unread_tree_is_unknown():
    assert (
        answer(unpushed_submodule, {WorkTree: Unavailable("no answer")}).outcome is Outcome.UNKNOWN
    )
