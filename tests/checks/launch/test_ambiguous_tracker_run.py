from builders import answer
from herorun.checks.launch.ambiguous_tracker_run import ambiguous_tracker_run
from herorun.core.check import AtRelaunch
from herorun.core.evidence import TrackerIdentity, TrackerState
from herorun.core.finding import Outcome
from wording import mentions

ALONE = TrackerIdentity(state=TrackerState.ABSENT)


def test_a_name_of_its_own_passes():
    assert answer(ambiguous_tracker_run, ALONE).outcome is Outcome.PASS


def test_a_name_that_others_have_fails_and_names_them():
    verdict = answer(
        ambiguous_tracker_run, TrackerIdentity(state=TrackerState.ABSENT, namesakes=("x1", "x2"))
    )

    assert (verdict.outcome, verdict.subject) == (Outcome.FAIL, "tiny")
    assert "x1, x2" in verdict.message


def test_where_w_and_b_cannot_be_asked_it_is_unknown():
    verdict = answer(
        ambiguous_tracker_run, TrackerIdentity(state=TrackerState.UNREACHABLE, why="no API key")
    )

    assert verdict.outcome is Outcome.UNKNOWN
    assert mentions(verdict.message, "API")


def test_a_tracker_without_identities_has_no_namesakes():
    assert answer(ambiguous_tracker_run).outcome is Outcome.NOT_APPLICABLE


def test_a_relaunch_is_not_asked():
    assert ambiguous_tracker_run.at_relaunch is AtRelaunch.SKIP
