from builders import NOON, answer, answers
from herorun.checks.seal.unused_waiver import unused_waiver
from herorun.core.check import Response
from herorun.core.evidence import WaiverUse
from herorun.core.finding import Outcome, Waiver
from wording import mentions


def a_waiver(check="some-check", subject=None):
    return Waiver(check, "a reason", "@dri", NOON, subject)


def test_waivers_that_sign_something_pass():
    assert answer(unused_waiver, WaiverUse()).outcome is Outcome.PASS
    assert unused_waiver.response is Response.WARN


def test_each_waiver_that_does_nothing_is_named():
    use = WaiverUse(
        (a_waiver("dirty-tere"), a_waiver(subject="x")), (a_waiver(),), {"dirty-tere": ""}
    )
    messages = {verdict.subject: verdict.message for verdict in answers(unused_waiver, use)}

    assert mentions(messages["some-check"], "2026-01-01 12:00 UTC")
    assert mentions(messages["dirty-tere"], "such", "check")
    assert mentions(messages["some-check [x]"], "finding", "open")
