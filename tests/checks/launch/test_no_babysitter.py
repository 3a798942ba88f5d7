from dataclasses import replace
from datetime import timedelta

import pytest

from builders import NOON, a_contract, answer
from herorun.checks.launch.no_babysitter import no_babysitter
from herorun.core.evidence import Watch
from herorun.core.finding import Outcome
from wording import mentions


def a_watch(age):
    """The owner's lease, renewed so long ago; the cadence is 15 minutes."""
    return Watch(False, "dri@there", "tiny", lease_renewed=NOON - age)


def ask(watch=None, hero=None, **babysit):
    return answer(no_babysitter, a_contract(babysit=babysit, hero=hero), watch or Watch())


@pytest.mark.parametrize("owner", [None, "dri@here"])
def test_launch_starts_one_here(owner):
    assert mentions(ask(owner=owner).message, "starts", "15m")


def test_one_that_runs_here_is_enough():
    assert mentions(ask(Watch(True)).message, "already monitors")


def test_only_an_ordinary_run_may_decline():
    reason = "an hour's test"
    ordinary, hero = (ask(declined=reason, hero=hero) for hero in (None, True))

    assert (ordinary.outcome, hero.outcome) == (Outcome.PASS, Outcome.FAIL)
    assert reason in ordinary.message and reason in hero.message


@pytest.mark.parametrize(
    ("watch", "outcome"),
    [
        (Watch(), Outcome.FAIL),
        (Watch(True), Outcome.FAIL),
        (Watch(False, "dri@here", "tiny"), Outcome.FAIL),
        (Watch(False, "dri@there", "tiny"), Outcome.UNKNOWN),
        (a_watch(timedelta(minutes=4)), Outcome.PASS),
        (a_watch(timedelta(minutes=30)), Outcome.PASS),
        (a_watch(timedelta(minutes=31)), Outcome.FAIL),
        (a_watch(timedelta(days=3)), Outcome.FAIL),
        (replace(a_watch(timedelta(minutes=4)), lease_slug="other"), Outcome.FAIL),
    ],
)
def test_an_owner_elsewhere_must_have_been_seen(watch, outcome):
    verdict = ask(watch, owner="dri@there")

    assert verdict.outcome is outcome
    assert "dri@there" in verdict.message


def test_a_store_whose_clock_is_ahead_makes_no_age_below_zero():
    verdict = ask(a_watch(-timedelta(seconds=5)), owner="dri@there")
    assert verdict.outcome is Outcome.PASS and mentions(verdict.message, "0s ago")
