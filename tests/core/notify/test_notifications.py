"""What is told without any alert: what the run reached, its end, and one digest a day."""

from datetime import timedelta

import pytest

from builders import FINAL, NOON, a_checkpoint, a_history, a_job, healthy, some_metrics
from herorun.core.babysit.actions import Tell
from herorun.core.babysit.alert import Alert, AlertState
from herorun.core.check import Gate
from herorun.core.evidence import (
    Checkpoints,
    FinalStep,
    History,
    Job,
    JobLog,
    JobState,
    Metrics,
    Unavailable,
)
from herorun.core.health.run_health import RunHealth
from herorun.core.notify.notifications import news, progress
from herorun.core.recovery.policy import Ledger, RecoveryPolicy
from wording import mentions

START_TIME = a_history().current.started


def news_of(health=RunHealth.HEALTHY, days=0.0, ledger=None, policy=None, alerts=(), **evidence):
    """The news of a run that has just been launched and has nothing to show yet."""
    bare = {
        **healthy(Gate.HEALTH),
        Metrics: some_metrics(0, advanced_at=NOON),
        Checkpoints: Checkpoints(),
        **{kinds[name]: value for name, value in evidence.items()},
    }
    at = START_TIME + timedelta(days=days)
    return news(
        health,
        bare,
        alerts,
        policy or RecoveryPolicy(),
        ledger or Ledger(instance="tiny-1", start_step=-1),
        at,
    )


kinds = {
    "metrics": Metrics,
    "saved": Checkpoints,
    "job": Job,
    "history": History,
    "final": FinalStep,
    "log": JobLog,
}


def keys(value):
    return [tell.key.removeprefix("tell/tiny-1/") for tell in value]


def test_the_end_is_reported_once_and_alone():
    (tell,) = news_of(
        RunHealth.FINISHED,
        3.0,
        metrics=some_metrics(FINAL),
        saved=Checkpoints((a_checkpoint(FINAL),)),
    )

    message = f"~{FINAL}/{FINAL}; next: `herorun seal tiny`"
    assert tell == Tell("tell/tiny-1/finished", "tiny-1 finished", message)
    assert news_of(RunHealth.FINISHED, ledger=Ledger(done=frozenset({tell.key}))) == []


def test_no_seal_is_proposed_while_an_alert_fires():
    alert = Alert(
        check="not-finite",
        subject="loss",
        since=NOON,
        seen=NOON,
        state=AlertState.FIRING,
        message="nan",
    )
    (tell,) = news_of(RunHealth.FINISHED, alerts=[alert])
    assert "`herorun status tiny`" in tell.why and "seal" not in tell.why


@pytest.mark.parametrize(
    ("step", "start", "expectation"), [(0, -1, []), (1, -1, ["first-step"]), (100, 100, [])]
)
def test_the_first_step_is_the_first_after_the_start(step, start, expectation):
    ledger = Ledger(instance="tiny-1", start_step=start)
    assert keys(news_of(metrics=some_metrics(step, advanced_at=NOON), ledger=ledger)) == expectation


def test_rows_of_an_instance_before_are_no_first_step():
    assert news_of(metrics=some_metrics(50, advanced_at=START_TIME - timedelta(hours=1))) == []


def test_each_tracker_run_that_the_log_names_is_reported_once_with_its_link(notice):
    log = JobLog(runs=("lab/hero/t1", "lab/hero/t2"), server="https://wandb.ai")
    first, second = news_of(log=log)

    assert (first.key, first.why) == (
        "tell/tiny-1/run-lab.hero.t1",
        "https://wandb.ai/lab/hero/runs/t1",
    )
    assert first.title == notice and "lab/hero/t1" in first.title
    before = Ledger(
        done=frozenset({first.key.replace("tiny-1", "tiny-0")}), instance="tiny-1", start_step=-1
    )
    assert news_of(log=log, ledger=before) == [second]


@pytest.mark.parametrize(
    "log", [JobLog(runs=("lab/hero/t1",)), JobLog(runs=("a/b/<c>",), server="https://x")]
)
def test_what_is_no_link_is_not_told(log):
    assert news_of(log=log) == []


def test_the_first_complete_checkpoint_of_the_run():
    saved_checkpoints = Checkpoints((a_checkpoint(10), a_checkpoint(20)))
    (tell,) = news_of(saved=saved_checkpoints)
    assert (tell.key, tell.why) == ("tell/tiny-1/first-checkpoint", a_checkpoint(10).path)
    half = Checkpoints((a_checkpoint(10, problem="no metadata.json"),))
    assert news_of(saved=half) == []


def test_a_checkpoint_that_was_there_before_is_not_the_runs():
    checkpoint = a_checkpoint(10)
    history = a_history(foreign=frozenset({checkpoint.path}))
    assert news_of(saved=Checkpoints((checkpoint,)), history=history) == []


def test_a_milestone_is_reported_when_its_permanent_checkpoint_is_complete():
    policy = RecoveryPolicy(milestones=(20, 30))
    ledger = Ledger(done=frozenset({"tell/tiny-1/first-checkpoint"}), instance="tiny-1")
    saved_checkpoints = Checkpoints((a_checkpoint(20), a_checkpoint(30, temporary=True)))
    assert keys(news_of(saved=saved_checkpoints, policy=policy, ledger=ledger)) == ["milestone-20"]


def test_the_final_step_of_a_job_that_still_runs():
    ledger = Ledger(done=frozenset({"tell/tiny-1/first-step"}), instance="tiny-1")
    assert keys(news_of(metrics=some_metrics(FINAL, advanced_at=NOON), ledger=ledger)) == [
        "final-step"
    ]


def test_what_an_ended_job_reached_its_end_tells():
    ended_job = a_job(JobState.FAILED)
    assert news_of(RunHealth.DOWN, metrics=some_metrics(50, advanced_at=NOON), job=ended_job) == []


def test_what_an_instance_before_told_is_not_told_again():
    before = Ledger(done=frozenset({"tell/tiny-0/first-step"}), instance="tiny-1", start_step=-1)
    assert news_of(metrics=some_metrics(1, advanced_at=NOON), ledger=before) == []


@pytest.mark.parametrize(("days", "count"), [(0.99, 0), (1.0, 1), (1.9, 1)])
def test_a_digest_every_24_hours(days, count):
    assert len(news_of(days=days)) == count


def test_each_day_is_a_key_of_its_own():
    assert {key for day in (1.1, 1.5, 2.1) for key in keys(news_of(days=day))} == {"day-1", "day-2"}


def test_the_digest_says_how_it_goes():
    metrics = some_metrics(
        100, advanced_at=START_TIME + timedelta(hours=10), last={"tokens_per_s": 1234.5}
    )
    ledger = Ledger(done=frozenset({"tell/tiny-1/first-step", "tell/tiny-1/first-checkpoint"}))
    fires = Alert(
        check="loss-spike", subject="", since=NOON, seen=NOON, state=AlertState.FIRING, message="up"
    )
    (tell,) = news_of(
        days=1.0,
        metrics=metrics,
        saved=Checkpoints((a_checkpoint(90),)),
        ledger=ledger,
        alerts=[fires],
    )
    pace, saved_line = "10 steps/h, tokens_per_s 1234.5", a_checkpoint(90).path
    assert mentions(tell.why, "healthy", f"~100/{FINAL}", pace, saved_line, "firing", fires.check)


def test_the_digest_of_a_blind_day_guesses_nothing():
    dark = Unavailable("503")
    (tell,) = news_of(RunHealth.UNKNOWN, days=1.0, metrics=dark, saved=dark, job=dark)
    assert mentions(tell.why, "unknown", f"{FINAL}", "fires")


def test_before_a_launch_there_is_no_news():
    assert news_of(RunHealth.UNKNOWN, days=9, history=a_history(0)) == []


@pytest.mark.parametrize(
    ("step", "final", "text"),
    [
        (4600, 5155, "~4600/5155"),
        (4600, None, "~4600/unknown"),
        (None, 5155, "~unknown/5155"),
        (0, 10**6, "~0/1000000"),
    ],
)
def test_progress_is_exact(step, final, text):
    assert progress(step, final) == text
