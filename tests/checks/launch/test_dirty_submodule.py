import pytest

from builders import COMMIT, a_tree, answer, answers
from herorun.checks.launch.dirty_submodule import dirty_submodule
from herorun.core.evidence import Submodule, Unavailable, WorkTree
from herorun.core.finding import Outcome
from wording import mentions

OTHER = "b" * 40


def a_submodule(**changes):
    return a_tree(
        submodules=(
            Submodule(**{"path": "lib", "commit": COMMIT, "checked_out": COMMIT, **changes}),
        )
    )


def test_without_submodules_there_is_nothing_to_ask():
    assert answer(dirty_submodule).outcome is Outcome.NOT_APPLICABLE


def test_one_that_is_as_the_commit_names_it_passes():
    verdict = answer(dirty_submodule, a_submodule())

    assert (verdict.outcome, verdict.subject) == (Outcome.PASS, "lib")


@pytest.mark.parametrize(
    ("changes", "facts"),
    [
        ({"modified": True}, ["uncommitted"]),
        ({"untracked": True}, ["untracked"]),
        ({"checked_out": OTHER}, ["bbbbbbbbb", "3f2a9c1d0"]),
        ({"checked_out": None}, ["not checked", "3f2a9c1d0"]),
        ({"checked_out": OTHER, "modified": True}, ["bbbbbbbbb", "3f2a9c1d0", "uncommitted"]),
    ],
)
def test_what_differs_is_reported(changes, facts):
    verdict = answer(dirty_submodule, a_submodule(**changes))

    assert (verdict.outcome, verdict.subject) == (Outcome.FAIL, "lib")
    assert mentions(verdict.message, "lib", *facts)


def test_whether_it_is_published_is_another_question():
    assert answer(dirty_submodule, a_submodule(published=False)).outcome is Outcome.PASS


def test_each_has_its_own_answer():
    rows = (
        Submodule(path="a", commit=COMMIT, checked_out=COMMIT),
        Submodule(path="b", commit=COMMIT, checked_out=COMMIT, untracked=True),
    )
    first, second = answers(dirty_submodule, a_tree(submodules=rows))

    assert (first.outcome, second.outcome) == (Outcome.PASS, Outcome.FAIL)


def test_an_unread_tree_is_unknown():
    assert answer(dirty_submodule, {WorkTree: Unavailable("no answer")}).outcome is Outcome.UNKNOWN
