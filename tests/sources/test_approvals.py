"""Which commit added a waiver, from a real history."""

from typing import Any

import pytest

from herorun.core.contract import Contract
from herorun.core.evidence import Approvals, Nothing, Waivers
from herorun.core.finding import Waiver
from herorun.runs import open_run
from herorun.sources.approvals import read_approvals
from stories import SLUG, Story, git

ONE = {
    "check": "dirty-tree",
    "reason": "r",
    "approved_by": "@dri",
    "expires": "2999-01-01T00:00:00Z",
}


def added_by(story: Story) -> Any:
    run = open_run(SLUG, story.work)
    contract: Contract = run.contract
    waivers: tuple[Waiver, ...] = run.waivers
    return read_approvals(run.repository, contract, run.file, Waivers(waivers))


def commit_as(story: Story, name: str, **changes: Any) -> str:
    git(story.work, "config", "user.name", name)
    git(story.work, "config", "user.email", f"{name}@example.org")
    story.sign(**changes)
    return git(story.work, "rev-parse", "HEAD").strip()


def test_without_a_waiver_there_is_nothing(story: Story) -> None:
    assert isinstance(added_by(story), Nothing)


def test_it_is_the_commit_that_added_it_and_not_a_later_one(story: Story) -> None:
    first = commit_as(story, "ana", waiver=[ONE])
    commit_as(story, "bob", waiver=[ONE], goal="another")
    (who,) = added_by(story).added
    assert (who.commit, who.name, who.mail) == (first, "ana", "ana@example.org")
    changed_commit = commit_as(story, "bob", waiver=[{**ONE, "reason": "another"}])
    (who,) = added_by(story).added
    assert (who.commit, who.name) == (changed_commit, "bob")


def test_a_shallow_clone_cannot_tell(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    commit_as(story, "ana", waiver=[ONE])
    commit_as(story, "bob", waiver=[ONE], goal="another")
    shallow = Story(story.home / "shallow")
    git(story.home, "clone", "-q", "--depth=1", f"file://{story.origin}", str(shallow.work))
    approvals = added_by(shallow)
    assert isinstance(approvals, Approvals) and "shallow" in str(approvals.added[0])


def test_a_hero_run_is_blocked_by_a_waiver_that_another_committed(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    commit_as(story, "bob", waiver=[{**ONE, "check": "no-babysitter"}], hero=True)
    story.init()
    capsys.readouterr()
    assert story.herorun("preflight", SLUG) == 1
    assert "says that @dri approved it" in capsys.readouterr().out
