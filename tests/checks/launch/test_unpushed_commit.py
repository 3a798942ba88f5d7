from builders import COMMIT, answer
from herorun.checks.launch.unpushed_commit import unpushed_commit
from herorun.core.evidence import Nothing, Published, Unavailable
from herorun.core.finding import Outcome
from wording import mentions


def test_a_published_commit_passes():
    verdict = answer(unpushed_commit)
    assert verdict.outcome is Outcome.PASS
    assert mentions(verdict.message, "3f2a9c1d0", "origin", "refs/heads/main")


def test_a_commit_on_no_ref_fails():
    verdict = answer(unpushed_commit, Published(remote="origin", commit=COMMIT, refs=()))

    assert verdict.outcome is Outcome.FAIL
    assert "origin" in verdict.message and "3f2a9c1d0" in verdict.message


def test_a_commit_on_a_ref_that_the_contract_does_not_name_was_pushed():
    verdict = answer(
        unpushed_commit,
        Published(remote="origin", commit=COMMIT, refs=(), elsewhere=("refs/pull/7/head",)),
    )

    assert verdict.outcome is Outcome.PASS
    assert verdict.message.endswith("refs/pull/7/head")


def test_what_nobody_could_measure_is_unknown():
    verdict = answer(
        unpushed_commit,
        Published(remote="origin", commit=COMMIT, refs=(), why_not="this clone is shallow"),
    )

    assert verdict.outcome is Outcome.UNKNOWN
    assert mentions(verdict.message, "clone", "shallow")


def test_without_a_remote_there_is_nothing_to_ask():
    verdict = answer(unpushed_commit, {Published: Nothing("there is no remote called origin")})

    assert verdict.outcome is Outcome.NOT_APPLICABLE


def test_a_remote_that_does_not_answer_is_unknown():
    assert answer(unpushed_commit, {Published: Unavailable("time-out")}).outcome is Outcome.UNKNOWN
