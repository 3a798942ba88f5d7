"""The verdict of the doctor: it says that all works only where nothing is broken or unseen."""

import pytest

from herorun.core.doctor_report import EXIT_CODES, DoctorPart, Fit, verdict


@pytest.mark.parametrize(
    ("fits", "expectation", "code"),
    [
        ([], Fit.OK, 0),
        ([Fit.OK], Fit.OK, 0),
        ([Fit.OK, Fit.SKIPPED], Fit.OK, 0),
        ([Fit.OK, Fit.UNKNOWN], Fit.UNKNOWN, 3),
        ([Fit.UNKNOWN, Fit.OK, Fit.FAILED], Fit.FAILED, 1),
        ([Fit.FAILED, Fit.OK], Fit.FAILED, 1),
    ],
)
def test_the_worst_part_decides(fits: list[Fit], expectation: Fit, code: int) -> None:
    answer = verdict(DoctorPart("git", f"part {n}", fit, "") for n, fit in enumerate(fits))
    assert answer is expectation and EXIT_CODES[answer] == code
