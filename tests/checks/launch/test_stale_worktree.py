from dataclasses import replace

from builders import COMMIT, a_contract, answer
from herorun.checks.launch.stale_worktree import stale_worktree
from herorun.core.evidence import ImportClosure, Published, Unavailable
from herorun.core.finding import Outcome
from wording import mentions

TIP = "12" * 20
BEHIND = Published(
    remote="origin",
    commit=COMMIT,
    refs=("refs/heads/main",),
    elsewhere=(),
    ref="refs/heads/main",
    tip=TIP,
    behind=3,
    behind_files=("README.md", "model.py", "tests/data.py"),
)


def test_the_tip_passes():
    assert mentions(answer(stale_worktree).message, "3f2a9c1d0", "refs/heads/main")


def test_commits_that_can_change_the_training_fail():
    verdict = answer(stale_worktree, BEHIND)

    assert verdict.outcome is Outcome.FAIL
    assert mentions(verdict.message, "refs/heads/main", "origin", "3 commits", "1 file", "model.py")
    assert verdict.details == ("model.py",)
    assert verdict.subject == "refs/heads/main"


def test_other_commits_pass_and_are_reported():
    verdict = answer(
        stale_worktree, replace(BEHIND, behind=1, behind_files=("README.md", "tests/data.py"))
    )

    assert verdict.outcome is Outcome.PASS
    assert mentions(verdict.message, "refs/heads/main", "origin", "1 commit ahead")
    assert verdict.details == ("README.md", "tests/data.py")


def test_what_the_entry_point_imports_counts():
    closure = ImportClosure(frozenset({"train.py", "tests/data.py"}), "train.py")
    verdict = answer(stale_worktree, BEHIND, closure)

    assert verdict.details == ("model.py", "tests/data.py")


def test_the_contract_says_what_counts():
    rules = a_contract(code={"impact": {"model.py": "ignore"}})

    assert answer(stale_worktree, BEHIND, rules).outcome is Outcome.PASS


def test_a_commit_on_no_published_ref_is_another_checks_matter():
    assert (
        answer(stale_worktree, Published(remote="origin", commit=COMMIT, refs=())).outcome
        is Outcome.NOT_APPLICABLE
    )


def test_what_nobody_could_measure_is_unknown():
    verdict = answer(
        stale_worktree,
        Published(remote="origin", commit=COMMIT, refs=("refs/heads/x",), why_not="shallow"),
    )

    assert verdict.outcome is Outcome.UNKNOWN
    assert "shallow" in verdict.message
    assert answer(stale_worktree, {Published: Unavailable("time-out")}).outcome is Outcome.UNKNOWN
