"""One listing of a remote serves all runs that are opened within seconds, and no answer is taken
from it that a later one could take back.
"""

import pytest

from herorun.core.errors import CouldNotLook
from herorun.record import Record
from herorun.system.git import Repository, find_repository, remote_refs
from herorun.system.git.remote_refs import recent_tips
from stories import Story, git

MAIN = "refs/heads/main"


@pytest.fixture
def asked_remotes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The remotes that were asked for their refs."""
    remotes: list[str] = []
    real = Repository.remote_tips

    def remote_tips(self: Repository, remote: str, *patterns: str, timeout: float = 60) -> object:
        remotes.append(remote)
        return real(self, remote, *patterns, timeout=timeout)

    monkeypatch.setattr(Repository, "remote_tips", remote_tips)
    return remotes


def test_one_listing_serves_for_seconds(
    story: Story, asked_remotes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = find_repository(story.work)
    first, is_new = recent_tips(repository, "origin")
    assert is_new and MAIN in first
    assert recent_tips(repository, "origin") == (first, False) and asked_remotes == ["origin"]
    monkeypatch.setattr(remote_refs, "LISTING_LIFETIME", 0.0)
    git(story.work, "push", "-q", "origin", "HEAD:refs/heads/later")
    later, is_new = recent_tips(repository, "origin")
    assert is_new and "refs/heads/later" in later


def test_a_silent_remote_is_asked_once_for_all(story: Story, asked_remotes: list[str]) -> None:
    repository = find_repository(story.work)
    story.origin.rename(story.home / "gone")
    for _ in range(3):
        with pytest.raises(CouldNotLook) as error:
            recent_tips(repository, "origin")
        assert error.value.root == "remote origin"
    assert asked_remotes == ["origin"]


def test_one_listing_says_of_each_run_whether_it_has_a_record(
    story: Story, asked_remotes: list[str]
) -> None:
    repository = find_repository(story.work)
    records = [
        Record.discover(repository, f"absent-{number}", remote="origin") for number in range(3)
    ]
    for record in records:
        record.fetch(record.ask_recently)
    assert asked_remotes == ["origin"]
    records[0].fetch()  # who is about to act asks for the present
    assert asked_remotes == ["origin", "origin"]
