from builders import COMMIT, a_contract, answer
from herorun.checks.launch.wrong_branch import wrong_branch
from herorun.core.evidence import Nothing, Published, Unavailable
from herorun.core.finding import Outcome
from wording import mentions

PULL = Published(remote="origin", commit=COMMIT, refs=(), elsewhere=("refs/pull/7/head",))


def test_a_named_branch_passes():
    assert mentions(answer(wrong_branch).message, "3f2a9c1d0", "refs/heads/main")


def test_a_commit_of_a_pull_request_fails():
    verdict = answer(wrong_branch, PULL, a_contract(code={"refs": ["refs/heads/main"]}))

    assert verdict.outcome is Outcome.FAIL
    assert mentions(verdict.message, "3f2a9c1d0", "refs/pull/7/head", "origin", "refs/heads/main")
    assert verdict.details == ("refs/pull/7/head",)


def test_a_commit_on_no_branch_is_another_checks_matter():
    assert (
        answer(wrong_branch, Published(remote="origin", commit=COMMIT, refs=())).outcome
        is Outcome.NOT_APPLICABLE
    )


def test_what_nobody_could_measure_is_unknown():
    verdict = answer(
        wrong_branch,
        Published(
            remote="origin", commit=COMMIT, refs=(), elsewhere=PULL.elsewhere, why_not="shallow"
        ),
    )

    assert verdict.outcome is Outcome.UNKNOWN
    assert "shallow" in verdict.message


def test_no_remote_and_no_answer():
    assert answer(wrong_branch, {Published: Nothing()}).outcome is Outcome.NOT_APPLICABLE
    assert answer(wrong_branch, {Published: Unavailable("time-out")}).outcome is Outcome.UNKNOWN
