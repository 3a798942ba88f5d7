"""shared-root."""

import pytest

from builders import ROOT, TEMPORARY, answers
from herorun.checks.launch.shared_root import shared_root
from herorun.core.evidence import OtherRoots
from wording import mentions


def test_roots_of_its_own_pass() -> None:
    verdicts = answers(shared_root, OtherRoots({"other": ("/data/other", f"{ROOT}-2")}))
    assert [(v.subject, v.outcome) for v in verdicts] == [(ROOT, "pass"), (TEMPORARY, "pass")]


@pytest.mark.parametrize("theirs", [TEMPORARY, f"{TEMPORARY}/", f"{TEMPORARY}/checkpoints"])
def test_a_temporary_root_that_was_copied_along_fails(theirs: str) -> None:
    verdicts = answers(shared_root, OtherRoots({"other": ("/data/other", theirs)}))
    assert [(v.subject, v.outcome) for v in verdicts] == [(ROOT, "pass"), (TEMPORARY, "fail")]
    assert mentions(verdicts[1].message, f"{TEMPORARY}", "overlaps", f"{theirs}")


def test_a_root_around_this_one_fails() -> None:
    assert {v.outcome for v in answers(shared_root, OtherRoots({"other": ("/data",)}))} == {"fail"}


def test_another_name_for_a_root_of_its_own_fails() -> None:
    real = {"/data/link": TEMPORARY}
    verdicts = answers(shared_root, OtherRoots({"other": ("/data/link",)}, real))
    assert [(v.subject, v.outcome) for v in verdicts] == [(ROOT, "pass"), (TEMPORARY, "fail")]
    assert mentions(verdicts[1].message, "/data/link", "other", "links")
    around = answers(shared_root, OtherRoots({"other": ("/else",)}, {ROOT: "/else/here"}))
    assert [v.outcome for v in around] == ["fail", "pass"]
