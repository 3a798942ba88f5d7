"""Beginning the record and the issue: on a branch of its own, and again where the page is lost."""

import shutil

import pytest

from commands.answers import ask
from herorun.acts.beginning import reopen
from herorun.core.errors import WrongUse
from stories import SLUG, Story, git, note

CAPTURE = pytest.CaptureFixture[str]

# --- the branch -------------------------------------------------------------------------------------


@pytest.mark.parametrize("branch", ["main", "master", "release"])
def test_the_record_goes_on_no_branch_that_holds_other_things(
    story: Story, capsys: CAPTURE, branch: str
) -> None:
    git(story.work, "push", "-q", "origin", "HEAD:refs/heads/release")
    story.sign(logbook={"branch": branch})
    before = git(story.origin, "for-each-ref")
    answer = ask(story, capsys, "init", SLUG)
    assert answer.code == 2 and f"[logbook] branch = '{branch}'" in answer.err
    assert git(story.origin, "for-each-ref") == before
    assert story.run.record.tip is None and not (story.state / "issue.md").exists()


def test_also_when_the_branch_is_named_later(story: Story) -> None:
    """The record is begun without a remote's word; the push must still not go on top of code."""
    git(story.work, "remote", "rename", "origin", "away")
    assert story.init() == 0
    git(story.work, "remote", "rename", "away", "origin")
    for branch in ("main", "trunk"):
        story.sign(logbook={"branch": branch})
        git(story.work, "push", "-q", "origin", "HEAD:refs/heads/trunk")
        before = git(story.origin, "for-each-ref")
        pushed = story.run.record.push()
        assert f"[logbook] branch = '{branch}'" in pushed.why
        assert git(story.origin, "for-each-ref") == before


def test_another_runs_record_is_other_things(story: Story, capsys: CAPTURE) -> None:
    other = Story(story.home / "other").begin()
    other.init()
    git(other.work, "push", "-q", str(story.origin), "refs/herorun/record/tiny:refs/heads/logs")
    path = story.work / "runs" / "small.toml"
    path.write_text((story.work / "runs" / "tiny.toml").read_text().replace('"tiny"', '"small"', 1))
    path.write_text(path.read_text() + '\n[logbook]\nbranch = "logs"\n')
    story.publish()
    answer = ask(story, capsys, "init", "small")
    assert answer.code == 2 and "[logbook] branch = 'logs' holds something else on origin" in answer.err


def test_a_branch_of_the_contracts_choice_is_used_and_found_again(story: Story) -> None:
    story.sign(logbook={"branch": "logs"})
    assert story.init() == 0
    other = story.clone("elsewhere")
    assert other.init() == 0
    assert other.run.record.tip == story.run.record.tip == git(story.origin, "rev-parse", "logs").strip()


# --- the page ---------------------------------------------------------------------------------


def test_a_lost_page_is_opened_again_and_says_so(story: Story) -> None:
    story.init()
    shutil.rmtree(story.work / ".herorun")
    reopen(story.run)
    page = (story.state / "issue.md").read_text()
    assert "# Hero run: tiny" in page and "opened again" in page
    assert git(story.work, "status", "--porcelain") == ""
    reopen(story.run)
    assert (story.state / "issue.md").read_text() == page


def test_in_another_clone_there_is_a_page_too(story: Story) -> None:
    story.init()
    for way in ("reopen", "init"):
        other = story.clone(way)
        run = other.run
        run.record.fetch()
        assert other.init() == 0 if way == "init" else reopen(run) is None
        assert other.comments == ["issue/tiny"]


def test_a_page_that_is_there_stays_as_people_left_it(story: Story) -> None:
    story.init()
    page = story.state / "issue.md"
    page.write_text(page.read_text() + "\na word of mine\n")
    before = page.read_text(), page.stat().st_mtime_ns
    reopen(story.run)
    assert story.init() == 0
    assert (page.read_text(), page.stat().st_mtime_ns) == before


def test_a_page_from_before_is_adopted_and_not_called_created(story: Story, capsys: CAPTURE) -> None:
    story.init()
    page = story.state / "issue.md"
    text = page.read_text()
    git(story.work, "update-ref", "-d", "refs/herorun/record/tiny")
    git(story.origin, "update-ref", "-d", "refs/heads/herorun/tiny")
    capsys.readouterr()
    assert story.init() == 0
    lines = capsys.readouterr().out.splitlines()
    assert (
        f"adopted issue {page}" in lines
        and [line for line in lines if line.startswith("created issue")] == []
    )
    assert page.read_text() == text


def test_before_the_record_is_begun_no_page_is_opened(story: Story) -> None:
    reopen(story.run)
    assert not (story.work / ".herorun").exists()


# --- a record of a newer herorun ------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_newer_record_is_looked_at_and_not_written(story: Story, capsys: CAPTURE) -> None:
    story.finished()
    story.tamper(".jsonl", lambda text: text + '{"v":2,"kind":"Rewound","event":{"to":7}}\n')
    story.tamper("tiny.md", lambda text: text + "\n### 2026-11-21 00:02 UTC - Rewound\n\n- Status: new\n")
    status = ask(story, capsys, "status", SLUG, "--json")
    assert status.code == 0 and status.document["run"] == "finished"
    assert "Rewound" in ask(story, capsys, "logbook", "show", SLUG).out
    verified = ask(story, capsys, "logbook", "verify", SLUG, "--json")
    assert (verified.code, verified.document["faults"]) == (3, [])
    assert "1 journal lines are a newer herorun's" in str(verified.document["notes"])
    assert story.run.record.memory().newer
    with pytest.raises(
        WrongUse, match=r"newer than this herorun \(journal version 2\), which therefore only looks"
    ):
        story.run.record.append(note("mine"))


@pytest.mark.thorough
def test_nothing_of_ours_goes_on_top_of_a_newer_record(story: Story) -> None:
    story.init()
    other = story.clone("elsewhere")
    other.init()
    other.tamper(".jsonl", lambda text: text + '{"v":2}\n')
    git(other.work, "push", "-q", "origin", "refs/herorun/record/tiny:refs/heads/herorun/tiny")
    before = git(story.origin, "for-each-ref")
    story.run.record.append(note("mine"))
    assert "Upgrade herorun" in story.run.record.push().why
    assert git(story.origin, "for-each-ref") == before
    assert [line.event.kind for line in story.run.record.lines()][-1] == "Noted"


def test_a_contract_that_nobody_filled_in_begins_no_record(story: Story, capsys: CAPTURE) -> None:
    assert story.herorun("init", "another") == 0
    assert story.herorun("init", "another") == 2
    assert "is still as it was written: fill it in" in capsys.readouterr().err
    assert git(story.work, "for-each-ref", "refs/herorun/record/another") == ""
