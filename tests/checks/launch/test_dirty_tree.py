import pytest

from builders import a_tree, answer
from herorun.checks.launch.dirty_tree import dirty_tree
from herorun.core.evidence import Unavailable, WorkTree
from herorun.core.finding import Outcome


def test_a_clean_tree_passes():
    assert answer(dirty_tree).message == "clean at 3f2a9c1d0"


@pytest.mark.parametrize(
    ("kind", "word"),
    [("staged", "staged"), ("unstaged", "modified"), ("untracked", "untracked"), ("hidden", "hidden")],
)
def test_every_kind_of_change_is_named(kind, word):
    verdict = answer(dirty_tree, a_tree(**{kind: ("train.py",)}))

    assert verdict.outcome is Outcome.FAIL
    assert verdict.message == f"1 uncommitted change on 3f2a9c1d0: train.py ({word})"
    assert verdict.details == (f"train.py ({word})",)


def test_many_files_are_counted_in_the_message_and_listed_in_the_details():
    verdict = answer(dirty_tree, a_tree(untracked=tuple(f"{n}.py" for n in range(9))))

    assert verdict.message.startswith("9 uncommitted changes")
    assert verdict.message.endswith("and 6 more")
    assert len(verdict.details) == 9


def test_an_unread_tree_is_unknown():
    verdict = answer(dirty_tree, {WorkTree: Unavailable("git status: no answer within 60 s")})

    assert verdict.outcome is Outcome.UNKNOWN
    assert "60 s" in verdict.message
