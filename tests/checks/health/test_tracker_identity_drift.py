from datetime import timedelta

import pytest

from builders import MINUTE, NOON, a_contract, a_history, a_job, a_receipt, answer, answers
from herorun.checks.health.tracker_identity_drift import tracker_identity_drift
from herorun.core.check import Response
from herorun.core.evidence import JobLog, JobState, Metrics, Nothing, TrackerIdentity, TrackerState
from herorun.core.finding import Outcome
from wording import mentions

WANDB = a_contract(tracker={"kind": "wandb", "entity": "lab", "project": "hero", "path": None})


def an_identity(state=TrackerState.RUNNING, **fields):
    return TrackerIdentity(state=state, **{"id": "tiny", "display_name": "tiny", **fields})


def drift(*changes):
    return [(v.outcome, v.subject) for v in answers(tracker_identity_drift, WANDB, *changes)]


def test_the_recorded_identity_passes():
    assert drift(an_identity(), JobLog(runs=("lab/hero/tiny",))) == [(Outcome.PASS, "")]


AS_ADMITTED = (("tracker-id", "pass", "as admitted"),)


@pytest.mark.parametrize(
    ("receipt", "outcome"),
    [
        (a_receipt(items=AS_ADMITTED), Outcome.PASS),
        (a_receipt(items=(("tracker-id", "unknown", "not shown"),)), Outcome.NOT_APPLICABLE),
        (a_receipt("tiny-9", items=AS_ADMITTED), Outcome.NOT_APPLICABLE),
        ({type(a_receipt()): Nothing()}, Outcome.NOT_APPLICABLE),
    ],
)
def test_a_tracker_that_knows_no_ids_is_judged_by_the_receipt_alone(receipt, outcome):
    assert answer(tracker_identity_drift, receipt).outcome is outcome


@pytest.mark.parametrize(
    ("run", "subject"),
    [("lab/hero/other", "id"), ("lab/scratch/tiny", "project"), ("eve/hero/tiny", "entity")],
)
def test_another_run_in_the_jobs_own_log(run, subject):
    assert drift(an_identity(), JobLog(runs=("lab/hero/tiny", run))) == [(Outcome.FAIL, subject)]


def link_verdicts(server, contract=WANDB, url="https://wandb.ai/lab/hero/runs/tiny"):
    log = JobLog(runs=("lab/hero/tiny",), server=server)
    return [
        (v.outcome, v.subject)
        for v in answers(tracker_identity_drift, contract, an_identity(url=url), log)
    ]


def test_a_log_that_links_to_another_server():
    assert link_verdicts("https://wandb.ai") == [(Outcome.PASS, "")]
    assert link_verdicts("https://wandb.example.org") == [(Outcome.FAIL, "url")]
    assert link_verdicts("https://wandb.example.org", url="") == [(Outcome.PASS, "")]
    assert link_verdicts("") == [(Outcome.PASS, "")]


def test_a_server_may_have_the_other_name_that_the_contract_gives_it():
    inside = {"command": {"env": {"WANDB_BASE_URL": "http://wandb.inside:8080"}}}
    contract = a_contract(
        tracker={"kind": "wandb", "entity": "lab", "project": "hero", "path": None}, **inside
    )

    assert link_verdicts("http://wandb.inside:8080", contract) == [(Outcome.PASS, "")]
    assert link_verdicts("http://wandb.other:8080", contract) == [(Outcome.FAIL, "url")]


def test_another_display_name():
    (verdict,) = answers(tracker_identity_drift, WANDB, an_identity(display_name="tiny-copy"))

    assert (verdict.outcome, verdict.subject) == (Outcome.FAIL, "name")
    assert mentions(verdict.message, "display", "tiny-copy")


@pytest.mark.parametrize("state", [TrackerState.ABSENT, TrackerState.DELETED])
def test_a_run_that_is_not_there_while_the_job_reports(state):
    assert drift(an_identity(state)) == [(Outcome.FAIL, "id")]
    assert drift(an_identity(state), a_job(JobState.FAILED)) == [(Outcome.PASS, "")]


@pytest.mark.parametrize(
    ("up", "outcome"),
    [(45 * MINUTE, Outcome.PASS), (45 * MINUTE + timedelta(seconds=1), Outcome.FAIL)],
)
def test_before_the_first_row_a_start_may_take_45_minutes(up, outcome):
    job = a_job(started=NOON - up)

    assert drift(an_identity(TrackerState.ABSENT), job, {Metrics: Nothing()})[0][0] is outcome


@pytest.mark.parametrize(
    "reported_state", [a_history(rows=7), JobLog(runs=("lab/hero/tiny",))], ids=["rows", "log"]
)
def test_a_run_that_was_there_is_missed_at_once(reported_state):
    job = a_job(started=NOON - 5 * MINUTE)

    missing = drift(an_identity(TrackerState.ABSENT), job, {Metrics: Nothing()}, reported_state)
    assert missing == [(Outcome.FAIL, "id")]


def test_a_job_that_refused_to_train_reports_under_no_identity():
    items = (("tracker-id", "fail", "is other, but tiny was admitted"),)
    receipt = a_receipt(outcome="fail", items=items)

    assert drift(an_identity(), receipt) == [(Outcome.NOT_APPLICABLE, "")]


def test_a_tracker_that_does_not_answer_is_unknown():
    assert drift(an_identity(TrackerState.UNREACHABLE, why="503")) == [(Outcome.UNKNOWN, "id")]


def test_it_is_reported_at_once_and_holds_a_relaunch_back():
    assert tracker_identity_drift.response is Response.ESCALATE
    assert tracker_identity_drift.vetoes_relaunch
