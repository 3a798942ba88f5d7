"""The verdict of the doctor: it says that all works only where nothing is broken or unseen."""

import pytest

from herorun.core.doctor_report import EXIT_CODES, DoctorPart, Fit, verdict


@pytest.mark.parametrize(
    ("fits", "expected", "code"),
    [
        ([], Fit.WORKS, 0),
        ([Fit.WORKS], Fit.WORKS, 0),
        ([Fit.WORKS, Fit.UNCHECKED], Fit.WORKS, 0),
        ([Fit.WORKS, Fit.UNSEEN], Fit.UNSEEN, 3),
        ([Fit.UNSEEN, Fit.WORKS, Fit.BROKEN], Fit.BROKEN, 1),
        ([Fit.BROKEN, Fit.WORKS], Fit.BROKEN, 1),
    ],
)
def test_the_worst_part_decides(fits: list[Fit], expected: Fit, code: int) -> None:
    answer = verdict(DoctorPart("git", f"part {n}", fit, "") for n, fit in enumerate(fits))
    assert answer is expected and EXIT_CODES[answer] == code
