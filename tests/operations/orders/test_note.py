"""What people write: kept once, masked, and said in the issue once."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from herorun.operations.orders import note as noting
from herorun.record import Record, remote
from herorun.system import clock
from herorun.system.git import Repository
from stories import SLUG, WAIT, Story
from wording import mentions


def note(story: Story, status: str = "flat", *more: str) -> int:
    lines = (
        "--status",
        status,
        "--evidence",
        "loss 2.5",
        "--decision",
        "go on",
        "--next",
        "look again",
    )
    return story.herorun("note", SLUG, *lines, *more)


@pytest.fixture
def begun_story(story: Story) -> Story:
    story.init()
    return story


def test_a_note_stands_in_the_logbook_and_on_the_remote(begun_story: Story) -> None:
    assert note(begun_story, "flat", "--caveat", "mixture changed") == 0
    logbook = begun_story.run.record.logbook()
    for line in (
        "- Status: flat",
        "- Evidence: loss 2.5",
        "- Caveat: mixture changed",
        "- By: Dri",
    ):
        assert line in logbook
    assert begun_story.lines[-1].id in begun_story.journal_there
    assert begun_story.run.record.memory().caveats == ("mixture changed",)


def test_the_same_words_at_once_are_the_same_note(begun_story: Story) -> None:
    for _ in range(2):
        assert note(begun_story, "flat", "--issue") == 0
    assert len(begun_story.events("Noted")) == 1
    assert len([key for key in begun_story.comments if key.startswith("note/")]) == 1


@pytest.mark.thorough
def test_a_note_can_be_reported_later(begun_story: Story) -> None:
    note(begun_story)
    note(begun_story, "flat", "--issue")
    assert len(begun_story.events("Noted")) == 1
    assert len([key for key in begun_story.comments if key.startswith("note/")]) == 1


@pytest.mark.thorough
def test_other_words_and_the_same_words_later_are_notes_of_their_own(
    begun_story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    note(begun_story)
    note(begun_story, "rising")
    note(begun_story)
    monkeypatch.setattr(noting, "now", lambda: clock.now() + timedelta(hours=2))
    note(begun_story)
    assert [event.lines["Status"] for event in begun_story.events("Noted")] == [
        "flat",
        "rising",
        "flat",
        "flat",
    ]


@pytest.mark.thorough
def test_secrets_are_masked_before_they_are_kept(begun_story: Story) -> None:
    for _ in range(2):
        note(
            begun_story,
            "started with WANDB_API_KEY=0123456789abcdef0123456789abcdef01234567",
            "--issue",
        )
    page = (begun_story.work / ".herorun" / SLUG / "issue.md").read_text()
    assert (
        "0123456789abcdef"
        not in begun_story.run.record.logbook() + begun_story.journal_there + page
    )
    assert len(begun_story.events("Noted")) == 1


# --- from another clone ---------------------------------------------------------------------------


def test_a_note_that_others_overtake_is_pushed_again_until_it_is_there(
    begun_story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each time that the other clone has put its note on top, somebody else has pushed
    meanwhile.
    """
    other = begun_story.clone("elsewhere")
    note(other, "first")
    pushes: list[str] = []
    real = remote.push

    def overtaken(repository: Repository, *args: Any) -> None:
        if repository.top == other.work and len(pushes) < 5:
            pushes.append(str(args[1]))
            note(begun_story, f"ours {len(pushes)}")
        real(repository, *args)

    monkeypatch.setattr(remote, "push", overtaken)
    monkeypatch.setattr(remote, "FIRST_PAUSE", 0.001)
    assert note(other, "theirs") == 0
    assert len(pushes) == 5
    assert other.lines[-1].id in begun_story.journal_there


@pytest.mark.thorough
def test_notes_of_two_clones_that_push_at_once_are_all_there(begun_story: Story) -> None:
    """Real processes, each of which finds the branch moved by the other."""
    other = begun_story.clone("elsewhere")

    def notes(name: str, story: Story) -> list[int]:
        lines = ("--evidence", "loss 2.5", "--decision", "go on", "--next", "look again")
        argv = [
            sys.executable,
            "-m",
            "herorun",
            "-C",
            str(story.work),
            "note",
            SLUG,
            *lines,
            "--status",
        ]
        return [
            subprocess.run([*argv, f"{name} {n}"], timeout=120, check=False).returncode
            for n in range(2)
        ]

    with ThreadPoolExecutor(2) as both:
        assert list(both.map(notes, ("here", "there"), (begun_story, other))) == [[0, 0], [0, 0]]
    for words in ("here 0", "here 1", "there 0", "there 1"):
        assert begun_story.journal_there.count(f'"{words}"') == 1


def test_a_note_that_cannot_be_pushed_is_queued_and_says_what_delivers_it(
    begun_story: Story, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(noting, "PATIENCE", 0.0)
    hook = begun_story.refuse_pushes()
    capsys.readouterr()
    assert note(begun_story, "flat", "--json") == 3
    document = json.loads(capsys.readouterr().out)
    assert (document["pushed"], document["queued"]) == (False, True)
    assert mentions(document["warning"], "clone", f"{begun_story.work}", "yet")
    assert mentions(document["warning"], "repeat", "note")
    hook.unlink()
    assert note(begun_story, "flat") == 0
    assert len(begun_story.events("Noted")) == 1
    assert begun_story.lines[-1].id in begun_story.journal_there


def test_a_push_that_failed_for_a_moment_is_tried_again(
    begun_story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook = begun_story.refuse_pushes()
    real = Record.push

    def push_twice(record: Record) -> Any:
        push_result = real(record)
        hook.unlink(missing_ok=True)
        return push_result

    monkeypatch.setattr(Record, "push", push_twice)
    monkeypatch.setattr(noting, "FIRST_PAUSE", 0.01)
    assert note(begun_story, "flat") == 0
    assert begun_story.lines[-1].id in begun_story.journal_there


@pytest.mark.thorough
def test_a_note_for_the_issue_from_another_clone_stands_on_the_holders_page(story: Story) -> None:
    """The page is a file, and belongs to whoever holds the lease: a page in the other clone nobody
    would read.
    """
    story.run_first_job(WAIT)
    story.tick()
    other = story.clone("elsewhere")
    assert note(other, "flat", "--issue") == 0
    assert not (other.state / "issue.md").exists()
    story.tick()  # pushes, and so takes over what the other clone has written
    story.tick()
    assert [key for key in story.comments if key.startswith("note/")]
    (story.data / "go").touch()
    story.wait_for_end()
