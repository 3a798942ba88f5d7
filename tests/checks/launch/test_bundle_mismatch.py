"""bundle-mismatch."""

from builders import COMMIT, answer
from herorun.checks.launch.bundle_mismatch import bundle_mismatch
from herorun.core.evidence import Bundle


def test_a_run_without_a_bundle_is_not_asked() -> None:
    assert answer(bundle_mismatch).outcome == "n/a"


def test_a_bundle_of_the_commit_passes() -> None:
    assert answer(bundle_mismatch, Bundle("code.tar", COMMIT)).outcome == "pass"
    assert answer(bundle_mismatch, Bundle("git:abc", COMMIT[:9])).outcome == "pass"


def test_a_bundle_of_another_commit_fails() -> None:
    verdict = answer(bundle_mismatch, Bundle("code.tar", "0" * 40))
    assert (verdict.outcome, verdict.subject) == ("fail", "code.tar")


def test_a_bundle_that_does_not_say_is_unknown() -> None:
    assert answer(bundle_mismatch, Bundle("code.tar")).outcome == "unknown"
