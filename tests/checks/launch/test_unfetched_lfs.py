from builders import a_tree, answer
from herorun.checks.launch.unfetched_lfs import unfetched_lfs
from herorun.core.evidence import Unavailable, WorkTree
from herorun.core.finding import Outcome
from wording import mentions


def test_a_tree_without_pointers_passes():
    assert answer(unfetched_lfs).outcome is Outcome.PASS


def test_pointers_are_counted_and_named():
    verdict = answer(unfetched_lfs, a_tree(pointers=tuple(f"w{n}.bin" for n in range(5))))

    assert verdict.outcome is Outcome.FAIL
    assert mentions(verdict.message, "5 files", "LFS", "w0.bin", "w1.bin", "w2.bin", "2 more")
    assert len(verdict.details) == 5


def test_an_unread_tree_is_unknown():
    assert answer(unfetched_lfs, {WorkTree: Unavailable("no answer")}).outcome is Outcome.UNKNOWN


def test_pointers_that_cannot_change_the_training_pass():
    verdict = answer(unfetched_lfs, a_tree(pointers=("docs/logo.png", "tests/data/x.bin")))

    assert verdict.outcome is Outcome.PASS
    assert verdict.details == ("docs/logo.png", "tests/data/x.bin")


def test_only_those_that_can_are_named():
    verdict = answer(unfetched_lfs, a_tree(pointers=("docs/logo.png", "model/tokenizer.bin")))

    assert verdict.outcome is Outcome.FAIL
    assert verdict.details == ("model/tokenizer.bin",)
