"""What the issue says of a launch, and how its comments stay up to date."""

from typing import Any

import pytest

from core.story import launch_events
from herorun.core.errors import WrongUse
from herorun.core.event import Intended
from herorun.notifiers.local import LocalIssue
from herorun.operations.launch import announce, start_instance
from herorun.system.clock import now
from stories import CRASH, WAIT, Story, git
from wording import mentions


def page(story: Story) -> str:
    return (story.state / "issue.md").read_text()


def comment(story: Story, key: str) -> str:
    """The words over a key's marker."""
    before = page(story).partition(f"<!-- herorun key={key} -->")[0]
    return before.rpartition("\n---\n")[2]


def test_the_key_facts_are_a_table_in_the_issue(story: Story) -> None:
    story.sign(
        flops=1.0e20,
        tokens=2.5e9,
        hardware={"accelerator": "H100", "count": 8},
        tracker={"entity": "lab", "project": "pre", "kind": "wandb", "path": None},
        stop_when="loss | rises",
    )
    story.init()
    rows = [row for row in page(story).splitlines() if row.startswith("| ")]
    assert rows[2:6] == [
        "| Run owner | @dri |",
        "| FLOP budget | 1e+20 |",
        "| Tokens | 2.5e+09 |",
        "| Cluster + chips | local, 8 x H100 |",
    ]
    assert "https://wandb.ai/lab/pre/runs/tiny |" in rows[8]
    assert rows[9] == r"| Stop/escalation criteria | loss \| rises |"
    assert rows[10] == "| Logbook | `.agents/logbooks/tiny.md` on branch `herorun/tiny` |"


def test_on_one_github_record_and_logbook_are_links(story: Story) -> None:
    story.sign(issue={"kind": "github", "repo": "lab/plans"})
    git(story.work, "remote", "set-url", "origin", "git@github.com:lab/runs.git")
    from herorun.operations.record.init import _issue

    body = _issue(story.run, "4").body
    assert "https://github.com/lab/runs/blob/herorun/tiny/.agents/logbooks/tiny.md" in body


@pytest.mark.thorough
def test_a_launch_that_ended_unsubmitted_says_so_in_its_comment(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    reason = "no such partition"

    def refuse(*_: object) -> None:
        raise WrongUse(f"{reason}, @someone")

    story.init()
    monkeypatch.setattr(start_instance, "submit", refuse)
    assert story.launch() == 2
    text = comment(story, "post/submit/tiny-1")
    assert mentions(text, "Not submitted", "tiny-1", reason)
    assert "requested:" not in page(story)
    assert "@someone" not in text
    assert story.comments.count("post/submit/tiny-1") == 1


@pytest.mark.thorough
def test_while_the_issue_is_away_that_word_is_queued(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise WrongUse("no such partition")

    def away(*_: object) -> None:
        raise TimeoutError(110, "timed out")

    story.init()
    with monkeypatch.context() as patch:
        patch.setattr(start_instance, "submit", refuse)
        patch.setattr(LocalIssue, "edit", away)
        assert story.launch() == 2
    assert "unsubmitted/submit/tiny-1" in story.run.record.memory().queued
    assert "requested" in comment(story, "post/submit/tiny-1")


@pytest.mark.thorough
def test_a_relaunch_under_the_same_policy_is_one_comment(story: Story) -> None:
    story.run_first_job(CRASH)
    story.tick()
    story.wait_for_end("tiny-2")
    assert [key for key in story.comments if "retention" in key] == []


@pytest.mark.thorough
def test_another_checkpoint_policy_is_told_of(story: Story) -> None:
    story.run_first_job(CRASH)
    story.sign(checkpoints={"keep": 3})
    assert story.launch() == 0
    story.wait_for_end("tiny-2")
    text = comment(story, "tell/tiny-2/retention")
    assert mentions(text, "policy", "tiny-2")
    assert "checkpoints.keep: 10 -> 3" in text


@pytest.mark.parametrize(
    ("size", "is_named"),
    [
        ({"hero": False}, False),
        ({"flops": 9e21}, False),
        ({"flops": 1e22}, True),
        ({"hero": True}, True),
    ],
)
def test_only_a_hero_run_is_called_one(story: Story, size: dict[str, Any], is_named: bool) -> None:
    from herorun.operations.record.init import _issue

    story.sign(**size)
    run, (launching, _) = story.run, launch_events(2, now(), relaunch_of="tiny-1")
    titles = (announce.launch_title(run.contract, launching), _issue(run, "4").title)
    assert [title.startswith("Hero ") for title in titles] == [is_named, is_named]
    assert mentions(titles[0].lower(), "relaunch", "tiny-2")


def test_a_plan_of_before_has_no_policy_to_compare() -> None:
    assert announce.retention_change({}, {}) == ""


@pytest.mark.thorough
def test_what_a_run_reached_is_reported_once(story: Story) -> None:
    story.run_first_job(WAIT)
    story.tick()
    story.tick()
    (story.data / "go").touch()
    story.wait_for_end()
    keys = [key for key in story.comments if key.startswith("tell/tiny-1/")]
    assert keys == ["tell/tiny-1/first-step", "tell/tiny-1/first-checkpoint"]


def test_an_incident_that_is_over_says_so_again_and_in_its_own_comment(story: Story) -> None:
    from herorun.core.babysit.actions import Tell
    from herorun.operations.babysit.perform import perform

    story.init()
    reminder = Tell("again/x/1", "x still fires after 24 h", "it is slower", "tell/x/firing", False)
    for tell in (Tell("tell/x/firing", "x (warn)", "it is slow"), reminder):
        perform(story.run, tell)
    assert reminder.why in comment(story, "tell/x/firing")
    assert "again/x/1" not in story.comments
    resolution = Tell("tell/x/resolved", "x is over", "it was slow", "tell/x/firing")
    perform(story.run, resolution)
    assert story.comments[-2:] == ["tell/x/firing", "tell/x/resolved"]
    for end in ("firing", "resolved"):
        assert resolution.title in comment(story, f"tell/x/{end}")


def test_an_edit_that_was_interrupted_is_made_later(story: Story) -> None:
    from herorun.operations.babysit.perform import settle
    from herorun.system.clock import now

    story.init()
    run = story.run
    run.record.append(
        Intended(
            at=now(),
            key="again/x/1",
            attempt=1,
            what="x still fires",
            body="slower",
            lines={},
            edits="tell/x/firing",
            anew=False,
        )
    )
    assert settle(run) == []
    assert "slower" in comment(story, "tell/x/firing")
    assert "again/x/1" in run.record.memory().done
