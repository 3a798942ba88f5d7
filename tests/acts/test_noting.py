"""What people write: kept once, masked, and said in the issue once."""

from datetime import timedelta

import pytest

from herorun.acts import noting
from herorun.system import clock
from stories import SLUG, Story


def note(story: Story, status: str = "flat", *more: str) -> int:
    lines = ("--status", status, "--evidence", "loss 2.5", "--decision", "go on", "--next", "look again")
    return story.herorun("note", SLUG, *lines, *more)


@pytest.fixture
def begun(story: Story) -> Story:
    story.init()
    return story


def test_a_note_stands_in_the_logbook_and_on_the_remote(begun: Story) -> None:
    assert note(begun, "flat", "--caveat", "mixture changed") == 0
    logbook = begun.run.record.logbook()
    for line in ("- Status: flat", "- Evidence: loss 2.5", "- Caveat: mixture changed", "- By: Dri"):
        assert line in logbook
    assert begun.lines[-1].id in begun.journal_there
    assert begun.run.record.memory().caveats == ("mixture changed",)


def test_the_same_words_at_once_are_the_same_note(begun: Story) -> None:
    for _ in range(2):
        assert note(begun, "flat", "--issue") == 0
    assert len(begun.events("Noted")) == 1
    assert len([key for key in begun.comments if key.startswith("note/")]) == 1


@pytest.mark.thorough
def test_a_note_can_be_told_later(begun: Story) -> None:
    note(begun)
    note(begun, "flat", "--issue")
    assert len(begun.events("Noted")) == 1
    assert len([key for key in begun.comments if key.startswith("note/")]) == 1


@pytest.mark.thorough
def test_other_words_and_the_same_words_later_are_notes_of_their_own(
    begun: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    note(begun)
    note(begun, "rising")
    note(begun)
    monkeypatch.setattr(noting, "now", lambda: clock.now() + timedelta(hours=2))
    note(begun)
    assert [event.lines["Status"] for event in begun.events("Noted")] == ["flat", "rising", "flat", "flat"]


@pytest.mark.thorough
def test_secrets_are_masked_before_they_are_kept(begun: Story) -> None:
    for _ in range(2):
        note(begun, "started with WANDB_API_KEY=0123456789abcdef0123456789abcdef01234567", "--issue")
    page = (begun.work / ".herorun" / SLUG / "issue.md").read_text()
    assert "0123456789abcdef" not in begun.run.record.logbook() + begun.journal_there + page
    assert len(begun.events("Noted")) == 1
