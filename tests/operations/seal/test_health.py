"""Which alerts and unknown answers stand in the way of a seal."""

from types import SimpleNamespace
from typing import Any

import pytest

from builders import MINUTE, NOON, a_job
from herorun import discover
from herorun.core.babysit.alert import Alert, AlertState
from herorun.core.check import Gate
from herorun.core.evidence import HealthAssessment, Job, JobState
from herorun.core.finding import Finding, Waiver, failed, passed, unknown
from herorun.operations.seal import health

CHECKS = {check.name: check for check in discover.checks(Gate.HEALTH)}
CRITICAL, WARNING, INFO, MONITOR = "loss-spike", "loss-drift", "stopped-short", "monitor-blind"


def an_alert(check: str, state: AlertState, **changes: Any) -> Alert:
    fields = {"subject": "", "since": NOON - MINUTE, "seen": NOON, "message": "m"}
    return Alert(check=check, state=state, **{**fields, **changes})


def assess_health(
    monkeypatch: pytest.MonkeyPatch,
    alerts: tuple[Alert, ...] = (),
    ended_alerts: tuple[Alert, ...] = (),
    findings: tuple[Finding, ...] = (),
    recorded_alerts: tuple[Alert, ...] = (),
    open_alerts: tuple[Alert, ...] = (),
    acked_keys: tuple[str, ...] = (),
    waivers: tuple[Waiver, ...] = (),
    job: Job | None = None,
) -> HealthAssessment:
    tick = SimpleNamespace(
        at=NOON, alerts={a.id: a for a in alerts}, ended=ended_alerts, findings=findings
    )
    memory = SimpleNamespace(
        alerts={a.id: a for a in recorded_alerts},
        unacknowledged_alerts=open_alerts,
        acked=acked_keys,
    )
    run: Any = SimpleNamespace(
        slug="tiny", waivers=waivers, record=SimpleNamespace(memory=lambda: memory)
    )
    evidence = {Job: job or a_job()}
    monkeypatch.setattr(health, "evaluate", lambda run: (tick, evidence))
    monkeypatch.setattr(health, "rules_of", lambda run: SimpleNamespace(by_name=CHECKS))
    read = health.gather_health(run)
    assert read[Job] is evidence[Job]
    assessment = read[HealthAssessment]
    assert isinstance(assessment, HealthAssessment)
    return assessment


@pytest.mark.parametrize(
    ("check", "state", "observations", "counts"),
    [
        (CRITICAL, AlertState.FIRING, NOON, True),
        (WARNING, AlertState.FIRING, NOON, True),
        (INFO, AlertState.FIRING, NOON, False),
        (CRITICAL, AlertState.RESOLVED, NOON, False),
        (CRITICAL, AlertState.PENDING, NOON, True),
        (CRITICAL, AlertState.PENDING, NOON - MINUTE, False),
        (WARNING, AlertState.PENDING, NOON, False),
        (MONITOR, AlertState.PENDING, NOON, False),
        (MONITOR, AlertState.FIRING, NOON, True),
    ],
)
def test_what_fires_counts_and_what_is_critical_and_fails_now(
    monkeypatch: pytest.MonkeyPatch, check: str, state: AlertState, observations: Any, counts: bool
) -> None:
    assessment = assess_health(monkeypatch, alerts=(an_alert(check, state, seen=observations),))
    assert assessment.alerts == (((check, "m"),) if counts else ())


def test_an_alert_of_the_record_is_named_by_its_key_and_a_new_one_by_its_subject(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    old = an_alert(CRITICAL, AlertState.FIRING)
    new = an_alert(WARNING, AlertState.FIRING, subject="train/loss")
    assessment = assess_health(monkeypatch, alerts=(old, new), recorded_alerts=(old,))
    assert assessment.alerts == ((old.key, "m"), (f"{WARNING}[train/loss]", "m"))


def test_a_blind_monitor_is_an_unknown_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    pending = an_alert(MONITOR, AlertState.PENDING)
    other = an_alert(CRITICAL, AlertState.PENDING)
    late = an_alert("full-disk", AlertState.PENDING, seen=NOON - MINUTE)
    assessment = assess_health(monkeypatch, alerts=(pending, other, late))
    assert assessment.unseen == ((MONITOR, "m"),)


@pytest.mark.parametrize(
    ("finding", "state", "counts"),
    [
        (Finding("stalled-steps", unknown("why")), JobState.RUNNING, True),
        (Finding("stalled-steps", unknown("why")), JobState.SUCCEEDED, False),
        (Finding(CRITICAL, unknown("why")), JobState.SUCCEEDED, True),
        (Finding(INFO, unknown("why")), JobState.RUNNING, False),
        (Finding(CRITICAL, passed("why")), JobState.RUNNING, False),
        (Finding(CRITICAL, failed("why")), JobState.RUNNING, False),
        (
            Finding(CRITICAL, unknown("why"), Waiver(CRITICAL, "r", "@dri", NOON + MINUTE)),
            JobState.RUNNING,
            False,
        ),
    ],
)
def test_an_answer_that_is_missing_counts_unless_the_end_of_the_job_mutes_it(
    monkeypatch: pytest.MonkeyPatch, finding: Finding, state: JobState, counts: bool
) -> None:
    assessment = assess_health(monkeypatch, findings=(finding,), job=a_job(state))
    assert assessment.unseen == (((finding.check, "why"),) if counts else ())


ENDED_ALERT = an_alert(CRITICAL, AlertState.ENDED, subject="loss")
SIGNED_WAIVER = Waiver(CRITICAL, "r", "@dri", NOON + MINUTE)


@pytest.mark.parametrize(
    ("changes", "counts"),
    [
        ({"ended_alerts": (ENDED_ALERT,)}, True),
        ({"open_alerts": (ENDED_ALERT,)}, True),
        ({"open_alerts": (ENDED_ALERT,), "ended_alerts": (ENDED_ALERT,)}, True),
        ({"ended_alerts": (ENDED_ALERT,), "acked_keys": (ENDED_ALERT.key,)}, False),
        ({"ended_alerts": (an_alert(INFO, AlertState.ENDED),)}, False),
        ({"ended_alerts": (an_alert("of-a-plug-in", AlertState.ENDED),)}, True),
        ({"ended_alerts": (ENDED_ALERT,), "waivers": (SIGNED_WAIVER,)}, False),
        ({"ended_alerts": (ENDED_ALERT,), "waivers": (Waiver(CRITICAL, "r", "@dri", NOON),)}, True),
        (
            {
                "ended_alerts": (ENDED_ALERT,),
                "waivers": (Waiver(CRITICAL, "r", "@dri", NOON + MINUTE, "x"),),
            },
            True,
        ),
    ],
)
def test_an_alert_that_ended_unresolved_counts_until_a_person_has_answered(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], counts: bool
) -> None:
    assessment = assess_health(monkeypatch, **changes)
    alerts = changes.get("ended_alerts") or changes["open_alerts"]
    assert [key for key, _ in assessment.alerts] == ([alerts[0].key] if counts else [])


def test_an_alert_that_is_open_again_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    again = an_alert(CRITICAL, AlertState.FIRING, subject="loss")
    assert again.key == ENDED_ALERT.key
    assessment = assess_health(monkeypatch, alerts=(again,), open_alerts=(ENDED_ALERT,))
    assert [key for key, _ in assessment.alerts] == [f"{CRITICAL}[loss]"]


def test_an_ended_alert_says_how_to_acknowledge_it(monkeypatch: pytest.MonkeyPatch) -> None:
    ((_, message),) = assess_health(monkeypatch, ended_alerts=(ENDED_ALERT,)).alerts
    assert f"herorun ack tiny '{CRITICAL}[loss]'" in message
