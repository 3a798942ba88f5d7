from datetime import timedelta

import pytest

from builders import MINUTE, NOON, TEMPORARY, a_contract, a_crashed_job, answer
from herorun.checks.health.expiring_source import expiring_source
from herorun.core.check import Topic
from herorun.core.evidence import Nothing, RecoverySource
from herorun.core.finding import Outcome

PATH = f"{TEMPORARY}/step-90"
HOUR, SECOND = 60 * MINUTE, timedelta(seconds=1)


def source(remaining=None, **result):
    return RecoverySource(
        PATH,
        90,
        NOON + remaining if remaining is not None else None,
        "the folder ttl=14d",
        **result,
    )


def test_one_that_nothing_deletes_passes():
    assert answer(expiring_source).outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("remaining", "outcome"), [(24 * HOUR, Outcome.PASS), (24 * HOUR - SECOND, Outcome.FAIL)]
)
def test_a_day_before_where_nobody_makes_a_newer_one(remaining, outcome):
    assert answer(expiring_source, a_crashed_job(), source(remaining)).outcome is outcome


@pytest.mark.parametrize(
    ("remaining", "outcome"), [(45 * MINUTE, Outcome.PASS), (45 * MINUTE - SECOND, Outcome.FAIL)]
)
def test_three_save_intervals_before_while_it_runs(remaining, outcome):
    verdict = answer(expiring_source, source(remaining))

    assert (verdict.outcome, verdict.subject) == (outcome, PATH)


@pytest.mark.parametrize(
    ("remaining", "outcome"), [(HOUR, Outcome.PASS), (HOUR - SECOND, Outcome.FAIL)]
)
def test_an_hour_before_where_no_interval_is_stated(remaining, outcome):
    unstated_contract = a_contract(checkpoints={"temporary_every": None})

    assert answer(expiring_source, unstated_contract, source(remaining)).outcome is outcome


def test_what_nobody_could_ask_is_unknown():
    assert answer(expiring_source, source(unknown="403")).outcome is Outcome.UNKNOWN
    assert (
        answer(expiring_source, {RecoverySource: Nothing("no checkpoint")}).outcome
        is Outcome.NOT_APPLICABLE
    )


def test_an_ended_job_does_not_mute_it():
    assert expiring_source.topic is Topic.JOB
