"""A record that somebody damaged with git is readable again after what `verify` says was typed."""

import re
import subprocess

import pytest

from herorun.core.errors import HerorunError
from herorun.operations.record.verify import RecordVerification, verify_run
from stories import SLUG, Story, git, note
from wording import mentions

REF = "refs/herorun/record/tiny"
BRANCH = "refs/heads/herorun/tiny"


@pytest.fixture
def damaged_story(story: Story) -> Story:
    """Its first journal line was cut by an edit, committed on top of the pushed record."""
    assert story.init() == 0
    story.run.record.append(note("one"))
    assert story.run.record.push()
    story.tamper(".jsonl", lambda text: text[5:])
    with pytest.raises(HerorunError):
        story.run.record.memory()
    return story


def command_in(verification: RecordVerification) -> str:
    (line,) = [each for each in verification.notes if "git worktree" in each]
    (command,) = re.findall(r"`(\(?w=[^`]*)`", line)
    return str(command)


def run_command(story: Story, command: str) -> None:
    subprocess.run(["sh", "-ec", command], cwd=story.work, check=True, capture_output=True)


def test_the_damage_is_undone_on_top_and_nothing_is_removed(damaged_story: Story) -> None:
    culprit, before = (
        git(damaged_story.work, "rev-parse", REF).strip(),
        git(damaged_story.work, "status", "-s"),
    )
    verification = verify_run(SLUG, damaged_story.work)
    (line,) = [each for each in verification.notes if "git worktree" in each]
    assert mentions(line, culprit[:9], "undo")
    run_command(damaged_story, command_in(verification))
    assert git(damaged_story.work, "rev-parse", f"{REF}~1").strip() == culprit
    assert damaged_story.run.record.memory().initialised
    damaged_story.run.record.append(note("two"))
    assert damaged_story.run.record.push()
    assert git(damaged_story.work, "status", "-s") == before
    assert len(git(damaged_story.work, "worktree", "list").splitlines()) == 1
    after = verify_run(SLUG, damaged_story.work)
    undoing = git(damaged_story.work, "rev-parse", f"{REF}~1").strip()  # the newest one is a note's
    for commit in (culprit, undoing):  # the history keeps both
        assert any(commit[:9] in fault for fault in after.faults)
    assert not any("git worktree" in each for each in after.notes)


def test_a_repair_of_a_damage_that_was_pushed_is_published_by_the_push_that_it_names(
    damaged_story: Story,
) -> None:
    git(damaged_story.work, "push", "-q", "origin", f"{REF}:{BRANCH}")
    (line,) = [
        each for each in verify_run(SLUG, damaged_story.work).notes if "git worktree" in each
    ]
    (push,) = re.findall(r"`(git push [^`]*)`", line)
    run_command(damaged_story, command_in(verify_run(SLUG, damaged_story.work)))
    tip = git(damaged_story.work, "rev-parse", REF).strip()
    assert git(damaged_story.origin, "rev-parse", BRANCH).strip() != tip
    run_command(damaged_story, push)
    assert git(damaged_story.origin, "rev-parse", BRANCH).strip() == tip
    assert damaged_story.run.record.push()


def test_a_line_that_came_after_the_damage_stays(damaged_story: Story) -> None:
    culprit = git(damaged_story.work, "rev-parse", REF).strip()
    damaged_story.tamper("tiny.md", lambda text: f"{text}\n")
    tip = git(damaged_story.work, "rev-parse", REF).strip()
    command = command_in(verify_run(SLUG, damaged_story.work))
    assert mentions(command, "revert", culprit)
    run_command(damaged_story, command)
    assert git(damaged_story.work, "rev-parse", f"{REF}~1").strip() == tip
    assert damaged_story.run.record.memory().initialised


def test_a_damage_that_was_edited_again_is_undone_by_the_line_that_is_printed(
    damaged_story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    damaged_story.tamper(".jsonl", lambda text: text[5:])
    tip = git(damaged_story.work, "rev-parse", REF).strip()
    assert damaged_story.herorun("verify", SLUG) == 1
    (line,) = [each for each in capsys.readouterr().out.splitlines() if "git worktree" in each]
    assert "`" not in line  # a shell would run what the command prints
    run_command(damaged_story, line)
    assert_sound_on_top_of(damaged_story, tip)


def test_a_damage_by_a_merge_is_undone(damaged_story: Story) -> None:
    culprit, good = git(damaged_story.work, "rev-parse", REF, f"{REF}~1").split()
    who = ("-c", "user.name=a", "-c", "user.email=a@localhost")
    tree = git(damaged_story.work, "rev-parse", f"{REF}^{{tree}}").strip()
    parents = ("-p", good, "-p", culprit)
    merge = git(damaged_story.work, *who, "commit-tree", tree, *parents, "-m", "merge").strip()
    git(damaged_story.work, "update-ref", REF, merge)
    run_command(damaged_story, command_in(verify_run(SLUG, damaged_story.work)))
    assert_sound_on_top_of(damaged_story, merge)


def test_no_identity_is_needed(damaged_story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("user.name", "user.email"):
        subprocess.run(["git", "config", "--unset-all", key], cwd=damaged_story.work, check=False)
    git(damaged_story.work, "config", "user.useConfigOnly", "true")
    for part in ("AUTHOR", "COMMITTER"):
        monkeypatch.delenv(f"GIT_{part}_NAME", raising=False)
        monkeypatch.delenv(f"GIT_{part}_EMAIL", raising=False)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    tip = git(damaged_story.work, "rev-parse", REF).strip()
    run_command(damaged_story, command_in(verify_run(SLUG, damaged_story.work)))
    assert_sound_on_top_of(damaged_story, tip)


def test_a_command_that_fails_leaves_no_work_tree(damaged_story: Story) -> None:
    command = command_in(verify_run(SLUG, damaged_story.work))
    damaged_story.tamper("tiny.md", lambda text: f"{text}\n")  # the record moved
    with pytest.raises(subprocess.CalledProcessError):
        run_command(damaged_story, command)
    assert len(git(damaged_story.work, "worktree", "list").splitlines()) == 1


def assert_sound_on_top_of(story: Story, tip: str) -> None:
    assert git(story.work, "rev-parse", f"{REF}~1").strip() == tip
    assert story.run.record.memory().initialised
    assert len(git(story.work, "worktree", "list").splitlines()) == 1


def test_a_damage_on_the_remote_alone_is_undone_there(damaged_story: Story) -> None:
    other = damaged_story.clone("other")
    other.run.record.fetch()
    git(damaged_story.work, "push", "-q", "origin", f"{REF}:{BRANCH}")
    assert other.run.record.memory().initialised  # its own record is sound
    run_command(other, command_in(verify_run(SLUG, other.work)))
    record = other.run.record
    record.fetch()
    assert record.remote_fault == ""
    assert record.tip == git(damaged_story.origin, "rev-parse", BRANCH).strip()


def test_a_sound_record_needs_no_repair(story: Story) -> None:
    assert story.init() == 0
    assert not any("git worktree" in each for each in verify_run(SLUG, story.work).notes)
