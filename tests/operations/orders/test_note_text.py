"""`herorun note RUN "text"`: one sentence is enough, and a mistyped run is never written down."""

import pytest

from commands.answers import ask
from stories import SLUG, Story
from wording import mentions

CAPTURE = pytest.CaptureFixture[str]


def test_a_text_alone_is_a_note_also_without_the_run(story: Story, capsys: CAPTURE) -> None:
    story.init()
    note, unnamed_note = "switch 7 was replaced", "loss as before"
    assert ask(story, capsys, "note", SLUG, note).code == 0
    assert ask(story, capsys, "note", unnamed_note).code == 0
    logbook = ask(story, capsys, "logbook", "show").out
    assert f"- Note: {note}" in logbook and f"- Note: {unnamed_note}" in logbook


def test_a_mistyped_run_and_half_a_note_are_no_notes(story: Story, capsys: CAPTURE) -> None:
    story.init()
    for words in (("tinny",), (SLUG,), (SLUG, "--status", "a")):
        assert story.herorun("note", *words) == 2, words
        assert mentions(capsys.readouterr().err, "note", "--")
    assert story.herorun("note", "tinny", "text") == 2
    assert mentions(capsys.readouterr().err, "mean", "tiny")
