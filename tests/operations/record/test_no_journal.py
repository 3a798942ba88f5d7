"""A record whose journal somebody removed is damaged, and no run that was never begun."""

import pytest

from commands.answers import ask
from stories import SLUG, Story, git


@pytest.mark.parametrize("command", [("status", SLUG), ("babysit", SLUG, "--once"), ("stop", SLUG)])
def test_a_record_without_its_journal_is_damaged(
    story: Story, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    story.run_first_job()
    tree = git(story.work, "rev-parse", "HEAD^{tree}").strip()  # in which there is none
    ref = f"refs/herorun/record/{SLUG}"
    commit = git(story.work, "commit-tree", tree, "-p", ref, "-m", "remove").strip()
    git(story.work, "update-ref", ref, commit)
    answer = ask(story, capsys, *command)
    assert answer.code == 1 and "not initialised" not in answer.out
    assert ask(story, capsys, "verify", SLUG).code == 1
