import pytest

from commands.answers import ask
from herorun.schemas import DOCUMENTS
from stories import SLUG, Story

CAPTURE = pytest.CaptureFixture[str]


def test_it_prints_where_the_logbook_lies(story: Story, capsys: CAPTURE) -> None:
    story.init()
    answer = ask(story, capsys, "where", SLUG, "--json")
    DOCUMENTS["where"].model_validate(answer.document)
    branch, page = answer.document["branch"], answer.document["page"]
    assert answer.code == 0
    assert ask(story, capsys, "where", SLUG).out == f"{branch}: {page}\n"


def test_a_run_that_is_not_there_is_wrong_use(story: Story, capsys: CAPTURE) -> None:
    answer = ask(story, capsys, "where", "nowhere")
    assert (answer.code, answer.out) == (2, "")
