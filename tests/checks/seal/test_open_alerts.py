from builders import answer, answers
from herorun.checks.seal.open_alerts import open_alerts
from herorun.core.evidence import HealthAssessment, Sealing, Unavailable
from herorun.core.finding import Outcome
from herorun.core.seal.kinds import SealKind

END_ALERT_ID = "failed-when-done[tiny-1]@2026-01-01T11:00:00Z"
SPIKE_ALERT_ID = "loss-spike[loss from step 412]@2026-01-01T11:00:00Z"


def test_no_open_alert_passes():
    assert answer(open_alerts).outcome is Outcome.PASS


def test_each_open_alert_is_its_own_subject():
    verdicts = answers(
        open_alerts,
        HealthAssessment(
            ((SPIKE_ALERT_ID, "up to 3 times"), ("not-finite[loss]", "since step 150"))
        ),
    )

    assert [(v.subject, v.outcome) for v in verdicts] == [
        (SPIKE_ALERT_ID, Outcome.FAIL),
        ("not-finite[loss]", Outcome.FAIL),
    ]
    assert verdicts[1].message == "not-finite (loss): since step 150"


def test_a_check_that_could_not_look_is_unknown():
    verdict = answer(open_alerts, HealthAssessment(unseen=(("not-finite", "could not look: 503"),)))

    assert (verdict.subject, verdict.outcome) == ("not-finite", Outcome.UNKNOWN)


def test_a_run_that_was_not_judged_is_unknown():
    assert (
        answer(open_alerts, {HealthAssessment: Unavailable("nobody looked")}).outcome
        is Outcome.UNKNOWN
    )


def test_a_failed_job_that_is_complete_is_left_to_the_check_of_its_end():
    """One waiver, of `job-not-succeeded`, accepts it."""
    alerts = ((END_ALERT_ID, "it is complete"),)
    verdict = answer(open_alerts, HealthAssessment(alerts))
    assert verdict.outcome is Outcome.PASS
    assert "failed-when-done" in verdict.message
    (verdict,) = answers(
        open_alerts, HealthAssessment((*alerts, (SPIKE_ALERT_ID, "up to 3 times")))
    )
    assert verdict.subject == SPIKE_ALERT_ID
    without_subject = END_ALERT_ID.replace("[tiny-1]", "")
    verdict = answer(open_alerts, HealthAssessment(((without_subject, "it is complete"),)))
    assert verdict.outcome is Outcome.PASS


def test_a_milestone_which_asks_for_no_success_is_told_of_it():
    milestone = Sealing(SealKind.MILESTONE, "half")
    (verdict,) = answers(
        open_alerts, HealthAssessment(((END_ALERT_ID, "it is complete"),)), milestone
    )
    assert (verdict.subject, verdict.outcome) == (END_ALERT_ID, Outcome.FAIL)
