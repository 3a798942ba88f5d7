from dataclasses import replace
from datetime import timedelta

import pytest

from builders import (
    EVERY,
    NOON,
    a_checkpoint,
    a_history,
    a_job,
    an_instance,
    answer,
    answers,
    some_metrics,
)
from herorun.checks.health.clock_skew import clock_skew
from herorun.core.check import Response, Topic
from herorun.core.evidence import (
    Checkpoints,
    Job,
    JobLog,
    LeaseSeen,
    Metrics,
    Nothing,
    Unavailable,
)
from herorun.core.finding import Outcome
from wording import mentions


def ahead(seconds):
    return NOON + timedelta(seconds=seconds)


def saved_checkpoints(seconds):
    return Checkpoints((replace(a_checkpoint(100), modified=ahead(seconds)),))


RENEWED_LEASE = LeaseSeen(
    owner="dri@here", slug="tiny", unchanged_since=NOON, modified=NOON, mine=True
)


def worst(*changes):
    """The first verdict that fails, else any."""
    verdicts = answers(clock_skew, *changes)
    return next((v for v in verdicts if v.outcome is Outcome.FAIL), verdicts[0])


def test_the_past_passes():
    assert {v.outcome for v in answers(clock_skew)} == {Outcome.PASS}


@pytest.mark.parametrize("unread_evidence", [Nothing("no such source"), Unavailable("time-out")])
@pytest.mark.parametrize(
    ("sources", "clock"),
    [
        ((Job,), "scheduler"),
        ((Checkpoints, LeaseSeen), "store"),
        ((JobLog,), "log"),
        ((Metrics,), "tracker"),
    ],
)
def test_a_clock_that_was_not_read_gets_no_verdict(sources, clock, unread_evidence):
    read = (JobLog(changed_at=NOON), RENEWED_LEASE)
    assert any(clock in v.subject for v in answers(clock_skew, *read))
    verdicts = answers(clock_skew, *read, dict.fromkeys(sources, unread_evidence))
    assert verdicts and not any(clock in v.subject for v in verdicts)


@pytest.mark.parametrize("unread_evidence", [Nothing("no such source"), Unavailable("time-out")])
def test_without_another_clock_there_is_no_pass(unread_evidence):
    sources = dict.fromkeys((Job, Checkpoints, LeaseSeen, JobLog, Metrics), unread_evidence)
    assert answer(clock_skew, sources).outcome is Outcome.NOT_APPLICABLE


@pytest.mark.parametrize(("seconds", "outcome"), [(60, Outcome.PASS), (61, Outcome.FAIL)])
def test_a_minute_is_no_network_delay(seconds, outcome):
    assert worst(saved_checkpoints(seconds)).outcome is outcome
    assert worst(a_job(started=ahead(seconds))).outcome is outcome
    assert (
        worst(
            LeaseSeen(owner="dri@here", slug="tiny", unchanged_since=NOON, modified=ahead(seconds)),
        ).outcome
        is outcome
    )


def test_each_clock_is_named(notice):
    verdicts = answers(clock_skew, saved_checkpoints(90), a_job(started=ahead(300)))

    assert "\n".join(v.subject for v in verdicts) == notice
    assert mentions(verdicts[0].message, verdicts[0].subject, "5m", "ahead")
    assert mentions(verdicts[1].message, verdicts[1].subject, "1m30s", "ahead")


def test_one_that_is_out_of_sight_does_not_hide_the_other():
    verdict = worst({Job: Unavailable("squeue: time-out")}, saved_checkpoints(90))

    assert mentions(verdict.subject, "store", "clock")


def behind(seconds):
    """Of the launch of the current instance."""
    return an_instance().intended - timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("seconds", "outcome"), [(60, Outcome.PASS), (61, Outcome.FAIL), (90_000, Outcome.PASS)]
)
def test_what_is_dated_before_its_launch_reports_a_clock_that_is_behind(seconds, outcome):
    assert worst(a_job(started=behind(seconds))).outcome is outcome
    assert worst(a_job(started=None, submitted=behind(seconds))).outcome is outcome
    assert worst(JobLog(changed_at=behind(seconds))).outcome is outcome
    assert worst(some_metrics(advanced_at=behind(seconds))).outcome is outcome


def test_a_clock_that_is_behind_is_named(notice):
    verdict = worst(JobLog(changed_at=behind(90)))

    assert verdict.subject == notice
    assert mentions(verdict.message, verdict.subject, "least", "1m30s", "behind")


def test_times_of_an_earlier_instance_show_nothing():
    """They give no verdict: a pass would end the alert that the same times opened."""
    rows = some_metrics(advanced_at=behind(300), instance="tiny-1")
    current = a_job(instance="tiny-2")
    for changes in (
        (rows, a_history(2), current),
        (a_job(instance="tiny-0", started=behind(300)),),
    ):
        subjects = {verdict.subject for verdict in answers(clock_skew, *changes, RENEWED_LEASE)}
        read = {"the store's clock", "the scheduler's clock", "the tracker's clock"}
        assert len(subjects & read) == 2
    assert worst(rows).outcome is Outcome.FAIL


@pytest.mark.parametrize(
    ("observations", "seconds", "mine", "outcome"),
    [
        (NOON, 61, True, Outcome.FAIL),
        (NOON, 60, True, Outcome.PASS),
        (NOON - EVERY, 61, True, Outcome.PASS),  # an older beat: the last turn wrote none
        (NOON, 61, False, Outcome.PASS),
    ],
)
def test_our_own_beat_is_not_older_than_the_turn_that_wrote_it(
    observations, seconds, mine, outcome
):
    written_at = NOON - EVERY - timedelta(seconds=seconds)

    assert (
        worst(
            LeaseSeen(
                owner="dri@here",
                slug="tiny",
                unchanged_since=observations,
                modified=written_at,
                mine=mine,
            ),
        ).outcome
        is outcome
    )


def test_a_beat_that_the_last_turn_could_not_see_or_renew_shows_nothing():
    old = LeaseSeen(
        owner="dri@here",
        slug="tiny",
        unchanged_since=NOON,
        modified=NOON - EVERY - timedelta(seconds=300),
        mine=True,
    )
    assert worst(old, a_history(last_tick_whole=False)).outcome is Outcome.PASS
    assert worst(old, a_history()).outcome is Outcome.FAIL


def test_it_warns_about_the_monitor():
    assert (clock_skew.response, clock_skew.topic) == (Response.WARN, Topic.MONITOR)


def test_rows_that_came_new_and_are_dated_before_the_last_look_report_any_instance():
    relaunched_history = a_history(2)
    verdict = worst(relaunched_history, some_metrics(behind=5 * 3600.0))

    assert mentions(verdict.message, "least", "5h")
    assert worst(relaunched_history, some_metrics()).outcome is Outcome.PASS
