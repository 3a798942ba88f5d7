from dataclasses import replace
from datetime import timedelta

import pytest

from builders import NOON, a_checkpoint, a_job, answer, answers
from herorun.checks.health.clock_skew import clock_skew
from herorun.core.check import Response, Topic
from herorun.core.evidence import Checkpoints, Job, LeaseSeen, Unavailable
from herorun.core.finding import Outcome


def ahead(seconds):
    return NOON + timedelta(seconds=seconds)


def saved(seconds):
    return Checkpoints((replace(a_checkpoint(100), modified=ahead(seconds)),))


def test_the_past_passes():
    assert answer(clock_skew).outcome is Outcome.PASS


@pytest.mark.parametrize(("seconds", "outcome"), [(60, Outcome.PASS), (61, Outcome.FAIL)])
def test_a_minute_is_no_network_delay(seconds, outcome):
    assert answer(clock_skew, saved(seconds)).outcome is outcome
    assert answer(clock_skew, a_job(started=ahead(seconds))).outcome is outcome
    assert answer(clock_skew, LeaseSeen("dri@here", "tiny", NOON, ahead(seconds))).outcome is outcome


def test_each_clock_is_named():
    verdicts = answers(clock_skew, saved(90), a_job(started=ahead(300)))

    assert [v.message for v in verdicts] == [
        "the scheduler's clock is 300 s ahead of ours",
        "the store's clock is 90 s ahead of ours",
    ]


def test_one_that_is_out_of_sight_does_not_hide_the_other():
    verdict = answer(clock_skew, {Job: Unavailable("squeue: time-out")}, saved(90))

    assert verdict.subject == "the store's clock"


def test_it_warns_about_the_monitor():
    assert (clock_skew.response, clock_skew.topic) == (Response.WARN, Topic.MONITOR)
