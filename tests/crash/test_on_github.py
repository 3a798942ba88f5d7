"""Real commands whose issue is on GitHub: an answer is lost on the way, or the process is killed;
each comment stands there once.
"""

import re
from collections import Counter
from pathlib import Path

import pytest

from crash.faults import Fault, is_read
from crash.outages import impatient
from crash.stages import STAGES
from crash.test_sigkill import kill
from herorun.notifiers import _github_calls
from services.github import REPO, GitHub
from stories import CRASH, SLUG, Story, copy
from wording import mentions

LAUNCH, TICK = (stage for stage in STAGES if stage.name in ("launch", "tick"))
POST = "GitHubIssue.post"
SUBMIT_KEY = "post/submit/tiny-1"  # the key of the launch's comment
READS = 5  # requests of a launch before it posts
MARK = re.compile(r"<!-- herorun key=(\S*) -->")


@pytest.fixture
def on_github(story: Story, github: GitHub, monkeypatch: pytest.MonkeyPatch) -> Story:
    """A run that is initialised, its issue opened."""
    impatient(monkeypatch)
    monkeypatch.setattr(_github_calls, "PACE", 0.0)
    monkeypatch.setattr(_github_calls, "PAUSES", (0.0, 0.0))
    story.sign(issue={"kind": "github", "repo": REPO, "base_url": github.url})
    assert story.init() == 0
    return story


def keys(github: GitHub) -> Counter[str]:
    """Our comments by their key."""
    return Counter(search[1] for each in github.comments() if (search := MARK.search(each["body"])))


def must_hold(story: Story, github: GitHub, *starts: str) -> None:
    assert len(github.issues()) == 1 and set(keys(github).values()) == {1}, keys(github)
    assert [start.partition(" ")[0] for start in story.starts] == [*starts]
    assert story.herorun("logbook", "verify", SLUG) == 0


@pytest.mark.thorough
def test_a_launch_whose_comment_arrived_while_its_answer_was_lost_says_it_once(
    on_github: Story, github: GitHub
) -> None:
    """The comment is looked for by its mark, found, and the launch continues."""
    github.fault(method="POST", url="/comments", after=True)
    assert on_github.launch() == 0
    must_hold(on_github, github, "tiny-1")
    assert keys(github)[SUBMIT_KEY] == len(github.exchanges_of("POST", "/comments")) == 1


@pytest.mark.thorough
def test_while_nobody_can_look_nothing_is_launched_and_the_comment_says_so_once_somebody_can(
    on_github: Story, github: GitHub
) -> None:
    """The answer is lost and GitHub is gone at that: what became of the comment is not known, so
    nothing is submitted.
    """
    github.fault(method="POST", url="/comments", after=True)
    github.fault(method="GET", times=-1, skip=READS)
    assert on_github.launch() != 0 and on_github.starts == []
    assert len(github.exchanges_of("POST", "/comments")) == 1
    github.heal()
    assert on_github.launch() == 0
    TICK.rest(on_github)
    must_hold(on_github, github, "tiny-2")
    (first,) = (each["body"] for each in github.comments() if SUBMIT_KEY in each["body"])
    assert mentions(first, "without", "submission")


@pytest.mark.thorough
def test_a_tick_whose_answers_are_lost_says_each_thing_once(
    on_github: Story, github: GitHub
) -> None:
    on_github.order("tiny-1", CRASH)
    assert on_github.launch() == 0
    on_github.wait_for_end()
    github.fault(method="POST", url="/comments", after=True, times=-1)
    TICK.again(on_github)
    github.heal()
    TICK.rest(on_github)
    must_hold(on_github, github, "tiny-1", "tiny-2")
    assert any("crashed" in key for key in keys(github))


@pytest.mark.thorough
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_launch_that_is_killed_around_its_comment_says_it_once(
    on_github: Story, github: GitHub, moment: str, tmp_path: Path
) -> None:
    """With a real SIGKILL, after GitHub has the comment and before the journal knows of it, or just
    before.
    """
    copy(on_github.home, tmp_path / "kept")
    counting = Fault(0, False, lambda: None)
    with pytest.MonkeyPatch.context() as patch:
        counting.install(patch)
        github.fault(method="POST", url="/comments", status=403, body={"message": "no"}, times=-1)
        assert on_github.launch() != 0
    github.heal()
    assert not keys(github)
    copy(tmp_path / "kept", on_github.home)
    calls = [call for call in counting.calls_seen if moment == "before" or not is_read(call)]
    kill(LAUNCH, on_github, calls.index(POST) + 1, moment)
    assert keys(github)[SUBMIT_KEY] == (moment == "after") and on_github.starts == []
    assert on_github.launch() == 0
    must_hold(on_github, github, "tiny-1")
    assert keys(github)[SUBMIT_KEY] == 1
