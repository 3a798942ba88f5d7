from builders import a_history, answer
from herorun.checks.launch.sealed_run import sealed_run
from herorun.core.check import AtRelaunch
from herorun.core.evidence import History, Unavailable
from herorun.core.finding import Outcome


def test_an_unsealed_run_passes():
    assert answer(sealed_run).outcome is Outcome.PASS


def test_a_sealed_one_admits_no_instance():
    verdict = answer(sealed_run, a_history(sealed="herorun/tiny/seal-1"))

    assert verdict.outcome is Outcome.FAIL
    assert "herorun/tiny/seal-1" in verdict.message
    assert sealed_run.at_relaunch is AtRelaunch.BLOCK


def test_an_unread_record_is_unknown():
    assert answer(sealed_run, {History: Unavailable("damaged")}).outcome is Outcome.UNKNOWN
