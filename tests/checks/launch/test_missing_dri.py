from builders import a_contract, answer
from herorun.checks.launch.missing_dri import missing_dri
from herorun.core.evidence import Launcher, Unavailable
from herorun.core.finding import Outcome
from wording import mentions


def test_a_named_person_passes():
    assert mentions(answer(missing_dri).message, "@dri")


def test_the_launching_user_is_labelled_inferred():
    verdict = answer(missing_dri, a_contract(dri=None), Launcher("ada@here", "Ada"))

    assert verdict.outcome is Outcome.PASS
    assert "Ada" in verdict.message and "inferred" in verdict.message


def test_nobody_fails():
    verdict = answer(missing_dri, a_contract(dri=None), Launcher("1000@here", None))

    assert verdict.outcome is Outcome.FAIL
    assert verdict.subject == "dri"


def test_an_unread_launcher_is_unknown():
    assert (
        answer(missing_dri, {Launcher: Unavailable("no passwd entry")}).outcome is Outcome.UNKNOWN
    )
