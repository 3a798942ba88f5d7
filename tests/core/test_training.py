"""A run is healthy only while evidence of its present instance, read now, shows that it trains."""

from dataclasses import replace
from datetime import timedelta

import pytest

from builders import MINUTE, NOON, ROOT, a_checkpoint, a_contract, a_job, a_receipt, some_metrics
from core.story import Story
from herorun.core.babysit.tick import critical_topics, exit_code
from herorun.core.contract import Contract
from herorun.core.evidence import (
    Checkpoints,
    FinalStep,
    Gaps,
    Job,
    JobLog,
    JobState,
    Metrics,
    Nothing,
    Receipt,
    Unavailable,
)
from herorun.core.finding import Waiver
from herorun.discover import checks as discovered_checks
from wording import mentions

CHECKS = {check.name: check for check in discovered_checks()}
HOUR = timedelta(hours=1)
BEFORE = NOON - 2 * HOUR  # before the instance was launched
OFTEN = {Contract: a_contract(checkpoints={"permanent_every": 20})}


def unread_evidence(kind):
    return {kind: Unavailable("403"), Gaps: Gaps((f"{kind.__name__}: 403",), 9)}


def saved_checkpoints(modified_at, step=100):
    return Checkpoints((replace(a_checkpoint(step), modified=modified_at),))


NO_RECEIPT = {Receipt: Nothing()}
# Evidence type and what is wrong with it -> what a look sees instead of a healthy run's.
TABLE = {
    ("job", "absent"): {Job: Nothing("no such job")},
    ("job", "unreadable"): unread_evidence(Job),
    ("job", "stale"): {Job: a_job(JobState.GONE)},
    ("job", "empty"): {Job: a_job(JobState.UNKNOWN)},
    ("job", "another run"): {Job: a_job(instance="other-7")},
    ("row", "absent"): {Metrics: Nothing("no metrics file yet")},
    ("row", "unreadable"): unread_evidence(Metrics),
    ("row", "stale"): {Metrics: some_metrics(advanced_at=NOON - 30 * MINUTE)},
    ("row", "slower than its pace"): {
        Metrics: some_metrics(advanced_at=NOON - 6 * MINUTE, pause=20.0)
    },
    ("row", "empty"): {Metrics: Nothing("no rows yet")},
    ("row", "another run"): {Metrics: some_metrics(advanced_at=BEFORE)},
    ("row", "in the future"): {Metrics: some_metrics(advanced_at=NOON + 8 * HOUR)},
    ("receipt", "absent"): NO_RECEIPT,
    ("receipt", "unreadable"): unread_evidence(Receipt),
    ("receipt", "stale"): {Receipt: a_receipt("tiny-0")},
    ("receipt", "empty"): unread_evidence(Receipt),
    ("receipt", "another run"): {Receipt: a_receipt("other-1")},
    ("receipt and row", "absent"): {**NO_RECEIPT, Metrics: Nothing()},
    ("log", "unreadable"): unread_evidence(JobLog),
    ("checkpoint", "absent"): {Checkpoints: Checkpoints(), **OFTEN},
    ("checkpoint", "unreadable"): unread_evidence(Checkpoints),
    ("checkpoint", "stale"): {Checkpoints: saved_checkpoints(NOON - 50 * MINUTE, 10), **OFTEN},
    ("checkpoint", "another run"): {Checkpoints: saved_checkpoints(BEFORE, 10), **OFTEN},
}


def look_ticks(*observations, **result):
    return list(Story(**result).ticks(observations, every=timedelta(0)))


def code(turn):
    firing = [alert.check for alert in turn.alerts.values() if alert.firing]
    return exit_code(turn.run, turn.monitor, critical_topics(firing, CHECKS), turn.awaited)


def test_a_critical_alert_about_the_monitor_is_unknown_and_one_about_the_run_is_wrong():
    assert exit_code("healthy", "fresh", critical_topics(["stale-monitor"], CHECKS), ()) == 3
    assert (
        exit_code("healthy", "fresh", critical_topics(["stale-monitor", "crashed"], CHECKS), ())
        == 1
    )
    assert exit_code("healthy", "fresh", critical_topics(["late-tick"], CHECKS), ()) == 0


def test_with_all_of_it_the_run_is_healthy():
    for turn in look_ticks({}, {}):
        assert (turn.run, code(turn), turn.awaited) == ("healthy", 0, ())


@pytest.mark.parametrize("missing", TABLE, ids=" ".join)
def test_without_one_kind_of_evidence_it_is_never_healthy(missing):
    for turn in look_ticks(TABLE[missing], TABLE[missing], TABLE[missing]):
        assert turn.run != "healthy" and code(turn) != 0
        assert turn.awaited


@pytest.mark.parametrize("missing", TABLE, ids=" ".join)
def test_evidence_that_comes_back_makes_it_healthy_again(missing):
    *_, last = look_ticks(TABLE[missing], {}, {})

    assert (last.run, code(last)) == ("healthy", 0)


def test_before_the_first_sign_it_is_starting_and_says_until_when():
    young = {
        Job: a_job(started=NOON - 5 * MINUTE),
        **NO_RECEIPT,
        Metrics: Nothing(),
        Checkpoints: Nothing(),
    }
    (turn,) = look_ticks(young)

    assert (turn.run, code(turn)) == ("starting", 3)
    assert [(each.evidence, each.until) for each in turn.awaited] == [
        ("row", NOON + 40 * MINUTE),
        ("receipt", None),
    ]


def test_a_row_that_the_file_system_dates_before_the_jobs_start_is_its_own():
    """A file's date is that of the clock's last interrupt, up to 10 ms back."""
    began = {Job: a_job(started=NOON), Metrics: some_metrics(advanced_at=NOON - MINUTE / 6000)}
    (turn,) = look_ticks(began)

    assert (turn.run, turn.awaited) == ("healthy", ())


def test_a_receipt_alone_is_a_beginning():
    (turn,) = look_ticks({Job: a_job(started=NOON - 5 * MINUTE), Metrics: Nothing()})

    assert (turn.run, [each.evidence for each in turn.awaited]) == ("starting", ["row"])


def test_after_the_start_up_budget_it_is_starting_no_longer():
    late = {Job: a_job(started=NOON - 50 * MINUTE), **NO_RECEIPT, Metrics: Nothing()}
    (turn,) = look_ticks(late)

    assert (turn.run, code(turn)) == ("degraded", 1)  # stalled-steps fires


@pytest.mark.parametrize("state", [JobState.PENDING, JobState.BUILDING])
def test_a_job_that_waits_for_its_hardware_is_starting(state):
    waiting = a_job(state, started=None, submitted=NOON - MINUTE)
    (turn,) = look_ticks({Job: waiting, Metrics: Nothing(), **NO_RECEIPT})

    assert (turn.run, code(turn)) == ("starting", 3)
    assert turn.awaited[0].until == NOON + 29 * MINUTE


@pytest.mark.parametrize(
    "sign", [{Checkpoints: saved_checkpoints(NOON - MINUTE, 20)}, {JobLog: JobLog(step=120)}]
)
def test_what_trains_without_rows_is_unknown_at_once(sign):
    """The job of a wrong path: its checkpoints advance, and nobody sees a row."""
    (turn, *_) = look_ticks({Job: a_job(started=NOON - 5 * MINUTE), Metrics: Nothing(), **sign})

    assert (turn.run, code(turn)) == ("unknown", 3)
    assert mentions(turn.awaited[0].message, "although")


def test_behind_the_final_step_the_end_is_awaited():
    evidence = {
        Metrics: some_metrics(200, advanced_at=NOON - 20 * MINUTE),
        FinalStep: FinalStep(200),
    }
    (turn,) = look_ticks({**evidence, Checkpoints: Checkpoints((a_checkpoint(200, ROOT),))})

    assert turn.run == "unknown" and mentions(turn.awaited[0].message, "waiting")
    assert turn.awaited[0].until == NOON + timedelta(hours=2, minutes=40)


@pytest.mark.parametrize(("age", "run"), [(15, "healthy"), (40, "degraded")])
def test_rows_that_pause_again_and_again_may_pause(age, run):
    (turn,) = look_ticks({Metrics: some_metrics(advanced_at=NOON - age * MINUTE, pause=600.0)})

    assert (turn.run, turn.awaited == ()) == (run, run == "healthy")


def test_a_person_may_accept_that_it_never_checks_in():
    waiver = Waiver("not-checked-in", "an image of another team", "@dri", NOON + HOUR)
    turns = look_ticks(NO_RECEIPT, NO_RECEIPT, waivers=[waiver])

    assert {(turn.run, code(turn)) for turn in turns} == {("healthy", 0)}


def test_an_ended_run_that_never_checked_in_is_no_good_end():
    ended_evidence = {Job: a_job(JobState.SUCCEEDED, ended=NOON), Metrics: some_metrics(200)}
    evidence = {**ended_evidence, Checkpoints: Checkpoints((a_checkpoint(200),))}

    (snapshot,), (unverified_tick,) = look_ticks(evidence), look_ticks({**evidence, **NO_RECEIPT})
    assert (snapshot.run, code(snapshot)) == ("finished", 0)
    assert (unverified_tick.run, code(unverified_tick)) == ("finished", 3)
