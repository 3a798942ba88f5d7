from dataclasses import replace
from datetime import timedelta

import pytest

from builders import (
    EVERY,
    MINUTE,
    NOON,
    a_checkpoint,
    a_contract,
    a_history,
    a_job,
    an_instance,
    answers,
    some_metrics,
)
from herorun.checks.health.stale_tracker_run import stale_tracker_run
from herorun.core.babysit.alert import Alert, AlertState, EngineMeasures
from herorun.core.babysit.alert_clock import advance
from herorun.core.check import Hold, Response
from herorun.core.evidence import (
    Cadence,
    Checkpoints,
    JobState,
    Metrics,
    Nothing,
    TrackerIdentity,
    TrackerState,
    Unavailable,
)
from herorun.core.finding import Finding, Outcome

SECOND = timedelta(seconds=1)
WANDB = a_contract(tracker={"kind": "wandb", "entity": "lab", "project": "hero", "path": None})
LONG = a_job(started=NOON - timedelta(days=1))


def stale(*changes, state=TrackerState.RUNNING, **result):
    identity = TrackerIdentity(state=state, id="tiny", **result)
    return [
        (v.outcome, v.subject) for v in answers(stale_tracker_run, WANDB, LONG, identity, *changes)
    ]


def test_a_run_that_moves_passes():
    assert stale(heartbeat="2026-01-01T11:59:00+00:00", last_step=99) == [(Outcome.PASS, "")]
    assert answers(stale_tracker_run)[0].outcome is Outcome.NOT_APPLICABLE


@pytest.mark.parametrize(
    "state", [TrackerState.FINISHED, TrackerState.CRASHED, TrackerState.FAILED]
)
def test_a_run_that_counts_as_over(state):
    assert stale(state=state) == [(Outcome.FAIL, "state")]


@pytest.mark.parametrize(
    ("signs", "verdict"),
    [
        ({}, (Outcome.NOT_APPLICABLE, "")),
        ({"heartbeat": (NOON - 40 * MINUTE).isoformat()}, (Outcome.NOT_APPLICABLE, "")),
        ({"heartbeat": (NOON - 5 * MINUTE).isoformat()}, (Outcome.FAIL, "state")),
        ({"wrote": True}, (Outcome.FAIL, "state")),
    ],
)
def test_one_that_counts_as_over_since_it_reported_is_judged_at_once(signs, verdict):
    """Before it reports, the state is how an earlier instance left the run."""
    start = NOON - 30 * MINUTE
    instance = an_instance(started=start, intended=start)
    written_at = NOON if signs.pop("wrote", False) else start - MINUTE
    rows = some_metrics(advanced_at=written_at)
    history = a_history(instances=(instance,))

    assert stale(a_job(started=start), rows, history, state=TrackerState.CRASHED, **signs) == [
        verdict
    ]


def test_a_run_that_reported_and_counts_as_running_again_ends_the_alert_at_once():
    start = NOON - 30 * MINUTE
    beat = (NOON - MINUTE).isoformat()
    alive = a_job(started=start)
    assert stale(alive, state=TrackerState.RUNNING, heartbeat=beat) == [(Outcome.PASS, "state")]

    identity = TrackerIdentity(state=TrackerState.RUNNING, id="tiny", heartbeat=beat)
    check = stale_tracker_run
    fields = {"since": NOON - 5 * MINUTE, "seen": NOON - MINUTE, "message": "m"}
    firing = Alert(check=check.name, subject="state", state=AlertState.FIRING, **fields)
    findings = [Finding(check.name, v) for v in answers(check, WANDB, alive, identity)]
    moment = EngineMeasures(now=NOON, cadence=EVERY, live=True)
    (alert,) = advance({firing.id: firing}, findings, {check.name: check}, moment).values()
    assert alert.state is AlertState.RESOLVED


@pytest.mark.parametrize(("cadence", "limit"), [(MINUTE, 15 * MINUTE), (EVERY, 45 * MINUTE)])
def test_a_heartbeat_that_stays_constant(cadence, limit):
    def after(age):
        return stale(Cadence(cadence), heartbeat=(NOON - age).isoformat())[0]

    assert after(limit) == (Outcome.PASS, "")
    assert after(limit + SECOND) == (Outcome.FAIL, "heartbeat")


def test_a_time_without_a_zone_is_not_judged():
    assert stale(heartbeat="2026-01-01T09:00:00+00:00") == [(Outcome.FAIL, "heartbeat")]
    assert stale(heartbeat="2026-01-01T09:00:00") == [(Outcome.PASS, "")]


def test_a_step_below_a_complete_checkpoint():
    def saved_checkpoints(step, age):
        return Checkpoints((replace(a_checkpoint(step), modified=NOON - age),))

    assert stale(saved_checkpoints(150, 46 * MINUTE), last_step=100) == [(Outcome.FAIL, "step")]
    assert stale(saved_checkpoints(150, 45 * MINUTE), last_step=100) == [(Outcome.PASS, "")]
    assert stale(saved_checkpoints(101, 46 * MINUTE), last_step=100) == [(Outcome.PASS, "")]


@pytest.mark.parametrize(
    ("up", "outcome"), [(45 * MINUTE, Outcome.NOT_APPLICABLE), (45 * MINUTE + SECOND, Outcome.FAIL)]
)
def test_a_start_may_take_45_minutes(up, outcome):
    job = a_job(started=NOON - up)
    assert stale(job, {Metrics: Nothing()}, state=TrackerState.CRASHED)[0][0] is outcome


def test_what_cannot_be_seen_is_unknown():
    assert stale(state=TrackerState.UNREACHABLE, why="503") == [(Outcome.UNKNOWN, "")]
    assert stale(a_job(JobState.GONE)) == [(Outcome.UNKNOWN, "")]


def test_it_warns_at_the_third_look():
    assert (stale_tracker_run.response, stale_tracker_run.hold) == (Response.WARN, Hold(ticks=3))


def ask_summary(at=NOON, step=99, loss=2.5, row=2.5):
    summary = {"_timestamp": at.timestamp(), "_step": step, "train/loss": loss}
    rows = some_metrics(100, advanced_at=NOON, last={"train/loss": row})
    return stale(rows, summary=summary)


def test_a_panel_that_stays_constant_while_the_rows_continue():
    assert ask_summary(at=NOON - 45 * MINUTE) == [(Outcome.PASS, "")]
    assert ask_summary(at=NOON - 46 * MINUTE) == [(Outcome.FAIL, "summary")]


def test_a_panel_that_shows_another_loss_at_the_same_step():
    assert ask_summary(row=2.502) == [(Outcome.PASS, "")]
    assert ask_summary(row=2.6) == [(Outcome.FAIL, "train/loss")]
    assert ask_summary(row=2.6, step=98) == [(Outcome.PASS, "")]


def test_without_rows_the_panel_is_not_judged():
    fields = {"_timestamp": 1.0, "_step": 99}
    assert stale({Metrics: Unavailable("503")}, summary=fields) == [(Outcome.PASS, "")]
