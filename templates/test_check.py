from builders import a_tree, answer
from herorun.checks.launch.detached_head import detached_head
from herorun.core.evidence import Unavailable, WorkTree
from herorun.core.finding import Outcome


def test_a_branch_passes():
    assert answer(detached_head, a_tree(branch="main")).outcome is Outcome.PASS


def test_a_detached_head_is_told():
    verdict = answer(detached_head, a_tree(branch=None))

    assert verdict.outcome is Outcome.FAIL
    assert "3f2a9c1d0" in verdict.message


def test_a_tree_that_could_not_be_read_is_unknown():
    assert answer(detached_head, {WorkTree: Unavailable("no git")}).outcome is Outcome.UNKNOWN
