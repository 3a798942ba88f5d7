from builders import a_tree, answer
from herorun.checks.launch.replaced_objects import replaced_objects
from herorun.core.evidence import Unavailable, WorkTree
from herorun.core.finding import Outcome
from wording import mentions

OID = "3f2a9c1d0e4b5a697887766554433221100ffeed"


def test_a_repository_that_replaces_nothing_passes():
    assert answer(replaced_objects).outcome is Outcome.PASS


def test_each_replaced_object_is_named():
    verdict = answer(replaced_objects, a_tree(replaced=(OID, "info/grafts")))

    assert (verdict.outcome, verdict.subject) == (Outcome.FAIL, "refs/replace")
    assert mentions(verdict.message, "2 objects", "replaced", "3f2a9c1d0e4b", "info/grafts")
    assert verdict.details == (OID, "info/grafts")


def test_an_unread_tree_is_unknown():
    assert answer(replaced_objects, {WorkTree: Unavailable("no answer")}).outcome is Outcome.UNKNOWN
