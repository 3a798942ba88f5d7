"""Pushes of our own refs, one or many."""

import os

import pytest

from herorun.core.errors import CouldNotLook
from herorun.system.files import take_lock
from herorun.system.git import Repository, find_repository
from herorun.system.git.plumbing import push
from herorun.system.git.push_many import RefUpdate, push_many
from stories import Story, git

BRANCHES = [f"refs/heads/herorun/run-{number}" for number in range(40)]


@pytest.fixture
def repository(story: Story) -> Repository:
    return find_repository(story.work)


@pytest.fixture
def head(repository: Repository) -> str:
    return str(repository.resolve("HEAD"))


def branches_of(place: Story) -> list[str]:
    return git(place.origin, "for-each-ref", "--format=%(refname)", "refs/heads/herorun").split()


def test_a_push_takes_no_tag_of_the_user_along(
    story: Story, repository: Repository, head: str
) -> None:
    repository.git("config", "push.followTags", "true")
    repository.git("tag", "-a", "-m", "mine", "mine", "HEAD")
    push(repository, "origin", head, "refs/heads/one", None)
    assert not push_many(repository, "origin", [RefUpdate(head, "refs/heads/two", None)])
    assert git(story.origin, "for-each-ref", "--format=%(refname)", "refs/tags") == ""


def test_many_refs_go_by_one_pattern_and_leave_no_copy(
    story: Story, repository: Repository, head: str
) -> None:
    before = git(story.work, "for-each-ref", "refs/heads", "refs/herorun")
    leftover = "refs/herorun/outgoing/heads/herorun/of-a-killed-push"
    repository.git("update-ref", leftover, head)
    assert not push_many(repository, "origin", [RefUpdate(head, ref, None) for ref in BRANCHES])
    assert sorted(branches_of(story)) == sorted(BRANCHES)
    assert git(story.work, "for-each-ref", "refs/heads", "refs/herorun") == before


def test_of_many_refs_one_that_moved_is_refused_alone(
    story: Story, repository: Repository, head: str
) -> None:
    tree = git(story.work, "rev-parse", "HEAD^{tree}").strip()
    other = git(story.origin, "commit-tree", "-m", "theirs", tree).strip()
    git(story.origin, "update-ref", BRANCHES[7], other)
    refusals = push_many(repository, "origin", [RefUpdate(head, ref, None) for ref in BRANCHES])
    assert list(refusals) == [BRANCHES[7]]
    assert git(story.origin, "rev-parse", BRANCHES[7]).strip() == other
    assert sorted(branches_of(story)) == sorted(BRANCHES)


def test_many_refs_go_one_by_one_while_another_process_has_copies(
    story: Story, repository: Repository, head: str
) -> None:
    lock = take_lock(repository.common / "herorun" / "outgoing.lock", 0.0, "another")
    theirs = "refs/herorun/outgoing/heads/herorun/theirs"
    repository.git("update-ref", theirs, head)
    assert not push_many(repository, "origin", [RefUpdate(head, ref, None) for ref in BRANCHES])
    assert sorted(branches_of(story)) == sorted(BRANCHES)
    assert repository.refs("refs/herorun/outgoing/") == {theirs: head}
    os.close(lock)


def test_after_a_push_that_reaches_no_remote_no_copy_is_left(
    story: Story, repository: Repository, head: str
) -> None:
    story.origin.rename(story.home / "away")
    with pytest.raises(CouldNotLook):
        push_many(repository, "origin", [RefUpdate(head, ref, None) for ref in BRANCHES])
    assert repository.refs("refs/herorun/outgoing/") == {}
