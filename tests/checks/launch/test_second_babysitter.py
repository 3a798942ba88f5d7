import pytest

from builders import ROOT, answer
from herorun.checks.launch.second_babysitter import second_babysitter
from herorun.core.evidence import Watch
from herorun.core.finding import Outcome

LEASE = f"{ROOT}/_herorun/lease.json"


@pytest.mark.parametrize(
    "watch",
    [Watch(), Watch(True), Watch(False, "dri@here", "tiny"), Watch(True, "dri@here", "tiny")],
)
def test_nobody_or_we_ourselves(watch):
    assert answer(second_babysitter, watch).outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("watch", "subject"),
    [
        (Watch(False, "dri@there", "tiny"), "dri@there"),
        (Watch(False, "eve@here", "tiny"), "eve@here"),
        (Watch(False, "dri@here", "other"), "dri@here"),
        (Watch(False, ""), LEASE),
    ],
)
def test_anybody_else_fails(watch, subject):
    verdict = answer(second_babysitter, watch)

    assert (verdict.outcome, verdict.subject) == (Outcome.FAIL, subject)
    assert LEASE in verdict.message


def test_it_stands_in_every_mode():
    assert second_babysitter.always
