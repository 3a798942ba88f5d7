from builders import a_history, answer, answers
from herorun.checks.seal.open_alerts import open_alerts
from herorun.core.evidence import History, Unavailable
from herorun.core.finding import Outcome

KEYS = ("blind@2026-01-01T12:00:00Z", "loss-spike[loss from step 412]@2026-01-01T11:00:00Z")


def test_no_open_alert_passes():
    assert answer(open_alerts).outcome is Outcome.PASS


def test_each_open_alert_is_its_own_subject():
    verdicts = answers(open_alerts, a_history(open_alerts=KEYS))

    assert [(v.subject, v.outcome) for v in verdicts] == [(key, Outcome.FAIL) for key in KEYS]


def test_an_unread_record_is_unknown():
    assert answer(open_alerts, {History: Unavailable("damaged")}).outcome is Outcome.UNKNOWN
