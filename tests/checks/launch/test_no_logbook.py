from builders import answer
from herorun.checks.launch.no_logbook import no_logbook
from herorun.core.evidence import History, Unavailable
from herorun.core.finding import Outcome


def test_an_initialised_run_passes():
    assert answer(no_logbook).outcome is Outcome.PASS


def test_without_a_record_it_names_the_command():
    verdict = answer(no_logbook, History())

    assert verdict.outcome is Outcome.FAIL
    assert "herorun init tiny" in verdict.message


def test_an_unread_record_is_unknown():
    assert answer(no_logbook, {History: Unavailable("damaged")}).outcome is Outcome.UNKNOWN
