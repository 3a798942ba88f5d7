"""The seal: one statement, one tag, here and on the remote, finished as it was begun."""

import json
from typing import Any

import pytest

from stories import CRASH, SLUG, Story, git

TAG = "herorun/tiny/seal-1"
NO_TAGS = "#!/bin/sh\nwhile read old new ref; do case $ref in refs/tags/*) exit 1;; esac; done\n"


@pytest.fixture
def done(story: Story) -> Story:
    """A run that has ended well."""
    return story.finished()


def statement_in_tag(story: Story) -> Any:
    text = git(story.work, "cat-file", "tag", TAG)
    return json.loads(text[text.index("\n{") :])


def statement_in_record(story: Story) -> Any:
    names = git(story.work, "ls-tree", "-r", "--name-only", "refs/herorun/record/tiny").split()
    (name,) = [name for name in names if "/seal-" in name]
    return json.loads(git(story.work, "show", f"refs/herorun/record/tiny:{name}"))


def test_the_tag_states_the_run(story: Story) -> None:
    story.order("tiny-2", "")
    story.launched(CRASH)
    story.tick()
    story.ended("tiny-2")
    story.herorun(
        "note",
        SLUG,
        "--status",
        "s",
        "--evidence",
        "e",
        "--decision",
        "d",
        "--next",
        "n",
        "--caveat",
        "mixed",
    )
    story.tick()
    assert story.seal() == 0
    told = statement_in_tag(story)
    assert [i["name"] for i in told["instances"]] == ["tiny-1", "tiny-2"]
    assert (told["run"], told["caveats"], told["final_step"]) == ("tiny", ["mixed"], 4)
    assert told["final_checkpoint"] == str(story.root / "step-4")
    assert told["commit"] == git(story.work, "rev-parse", f"{TAG}^{{commit}}").strip()
    assert told == statement_in_record(story)
    assert story.tags() == story.tags(story.origin)
    text = git(story.work, "cat-file", "tag", TAG)
    assert "\nSeal of hero run tiny\n\n- Status: sealed as" in text


def test_sealing_twice_is_one_seal(done: Story) -> None:
    assert done.seal() == 0
    before = (done.tags(), done.comments, len(done.lines))
    assert done.seal() == 0
    assert (done.tags(), done.comments, len(done.lines)) == before


def test_an_unfinished_run_is_not_tagged(story: Story, capsys: pytest.CaptureFixture[str]) -> None:
    story.launched(CRASH)
    capsys.readouterr()
    assert story.herorun("seal", SLUG, "--json") == 1
    told = json.loads(capsys.readouterr().out)
    blocked = {f["check"] for f in told["findings"] if f["outcome"] == "fail"}
    assert blocked == {"job-not-succeeded", "short-of-final-step", "incomplete-final-checkpoint"}
    assert (told["verdict"], told["tag"], story.tags()) == ("blocked", None, [])


def test_a_tag_that_the_remote_refused_is_finished_as_it_was_made(done: Story) -> None:
    hook = done.refuse_pushes(NO_TAGS)
    assert done.seal() == 3
    assert done.events("Sealed") == []
    stated = statement_in_tag(done)
    hook.unlink()
    assert done.seal() == 0
    assert statement_in_tag(done) == statement_in_record(done) == stated
    assert done.tags() == done.tags(done.origin)
    assert done.herorun("logbook", "verify", SLUG) == 0


def test_what_is_not_on_the_remote_is_not_tagged(done: Story) -> None:
    done.refuse_pushes()
    assert done.seal() != 0
    assert (done.tags(), done.events("Sealed")) == ([], [])


def test_a_left_over_tag_of_another_state_is_never_taken_for_the_seal(
    done: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    git(done.work, "tag", "-a", TAG, "-m", "by hand")
    capsys.readouterr()
    assert done.seal() == 1
    assert f"`git tag -d {TAG}`" in capsys.readouterr().err
    assert done.events("Sealed") == []
    git(done.work, "tag", "-d", TAG)
    assert done.seal() == 0


def test_another_tag_on_the_remote_is_never_moved(done: Story, capsys: pytest.CaptureFixture[str]) -> None:
    git(done.work, "push", "-q", "origin", f"HEAD:refs/tags/{TAG}")
    before = done.tags(done.origin)
    assert done.seal() == 1
    assert f"origin has another tag {TAG} already" in capsys.readouterr().err
    assert done.tags(done.origin) == before


def test_a_sealed_run_is_told_of_while_the_remote_is_away(
    done: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    assert done.seal() == 0
    done.origin.rename(done.home / "elsewhere")
    capsys.readouterr()
    assert done.seal() == 0
    assert "the tag is not pushed" in capsys.readouterr().err
