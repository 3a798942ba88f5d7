"""A first commit that is written by hand is what git makes of the same files."""

from pathlib import Path

from first_commit import commit_first
from stories import Story, git


def test_git_finds_nothing_to_add_and_nothing_wrong(home: Path) -> None:
    story = Story(home).begin()
    (story.work / "lib").mkdir()
    for name in ("lib/a.py", "lib.py", "lib0", "empty"):  # in git's order lib/ is between the two
        (story.work / name).write_text(name.removesuffix("empty"))
    (story.work / ".git" / "index").unlink()
    commit_first(story.work, "Dri <dri@example.org>", "all of it")
    assert git(story.work, "status", "--porcelain") == ""
    git(story.work, "fsck", "--strict", "--no-dangling")
    tree = git(story.work, "rev-parse", "HEAD^{tree}")
    (story.work / ".git" / "index").unlink()
    git(story.work, "add", "--all")
    assert git(story.work, "write-tree") == tree
    assert git(story.work, "log", "--format=%an %ae %s").strip() == "Dri dri@example.org all of it"


def test_a_story_begins_as_it_was_pushed(story: Story) -> None:
    assert git(story.work, "status", "--porcelain") == ""
    assert git(story.work, "rev-parse", "HEAD") == git(story.origin, "rev-parse", "main")
    git(story.origin, "fsck", "--strict")
