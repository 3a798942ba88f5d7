"""bundle-mismatch."""

from dataclasses import replace

from builders import COMMIT, answer
from herorun.checks.launch.bundle_mismatch import bundle_mismatch
from herorun.core.check import AtRelaunch
from herorun.core.evidence import Bundle
from wording import mentions

GOOD = Bundle(
    name="code.tar",
    commit=COMMIT,
    tree="sha256:c0de",
    identity="code.tar sha256:1",
    admitted="code.tar sha256:1",
    compared=3,
)


def test_a_run_without_a_bundle_is_not_asked() -> None:
    assert answer(bundle_mismatch).outcome == "n/a"


def test_a_bundle_of_the_commits_files_passes() -> None:
    assert answer(bundle_mismatch, GOOD).outcome == "pass"


def test_each_file_that_differs_is_named() -> None:
    verdict = answer(
        bundle_mismatch, replace(GOOD, changed=("train.py",), extra=("x.py",), missing=("y.py",))
    )

    assert (verdict.outcome, verdict.subject) == ("fail", "code.tar")
    assert mentions(verdict.message, "code.tar", f"{COMMIT:.9}", "train.py", "x.py", "y.py")
    assert verdict.details == ("changed: train.py", "extra: x.py", "missing: y.py")


def test_at_a_relaunch_the_content_is_that_which_was_admitted() -> None:
    verdict = answer(bundle_mismatch, replace(GOOD, identity="code.tar sha256:2"))

    assert (verdict.outcome, bundle_mismatch.at_relaunch) == ("fail", AtRelaunch.BLOCK)
    assert mentions(verdict.message, "content", "code.tar", "sha256:2", "sha256:1")


def test_a_named_code_tree_is_compared() -> None:
    assert (
        answer(
            bundle_mismatch, Bundle(name="tree:sha256:c0de", commit=COMMIT, tree="sha256:c0de")
        ).outcome
        == "pass"
    )
    assert (
        answer(
            bundle_mismatch, Bundle(name="tree:sha256:dead", commit=COMMIT, tree="sha256:c0de")
        ).outcome
        == "fail"
    )


def test_a_bundle_that_nobody_can_read_is_unknown() -> None:
    assert answer(bundle_mismatch, Bundle(name="git:abc")).outcome == "unknown"
    assert answer(bundle_mismatch, Bundle(name="image-7")).outcome == "unknown"
