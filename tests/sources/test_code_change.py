"""What changed since the newest instance: told by git, from the commit that the record names."""

import json
from pathlib import Path
from typing import Any

import pytest

from builders import a_plan
from herorun.core.canonical_json import plain
from herorun.core.errors import CouldNotLook
from herorun.core.evidence import CodeChange, Nothing, PriorLaunch, Snapshot, Unavailable, WorkTree
from herorun.runs import open_run
from herorun.sources.code_change import read_code_change
from herorun.system.git import Repository, find_repository
from stories import CRASH, SLUG, Story, git


@pytest.fixture
def repository(home: Path) -> Repository:
    git(home, "init", "-q", "--template=", "-b", "main")
    git(home, "config", "user.name", "Dri")
    git(home, "config", "user.email", "dri@example.org")
    return find_repository(home)


def commit(repository: Repository, *names: str) -> str:
    for name in names:
        path = repository.top / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(path.read_text() + "more\n" if path.exists() else "x\n")
    git(repository.top, "add", "-A")
    git(repository.top, "commit", "-q", "-m", f"changes {names}")
    return str(repository.resolve("HEAD"))


def change(repository: Repository, before: str, after: str) -> CodeChange:
    prior = PriorLaunch("tiny-1", {**plain(a_plan().values), "commit": before})
    code_change = read_code_change(repository, prior, WorkTree(commit=after), Nothing())
    assert isinstance(code_change, CodeChange)
    return code_change


def test_an_approved_dirty_tree_is_compared_as_it_ran_and_as_it_would_run(
    repository: Repository,
) -> None:
    head = commit(repository, "train.py", "model.py")
    ran = commit(repository, "train.py")
    would_run = commit(repository, "model.py")
    patch = {"commit": ran, "tree": "", "diff": ""}
    prior = PriorLaunch("tiny-1", {**plain(a_plan().values), "commit": head, "patch": patch})

    without_edit = read_code_change(repository, prior, WorkTree(commit=head), Nothing())
    assert isinstance(without_edit, CodeChange) and without_edit.files == ("train.py",)
    edited_change = read_code_change(
        repository, prior, WorkTree(commit=head), Snapshot(would_run, "", "")
    )
    assert isinstance(edited_change, CodeChange) and edited_change.files == ("model.py",)


def test_a_snapshot_that_could_not_be_made_is_no_answer(repository: Repository) -> None:
    head = commit(repository, "train.py")
    prior = PriorLaunch("tiny-1", {**plain(a_plan().values), "commit": head})
    with pytest.raises(CouldNotLook, match="too large"):
        read_code_change(repository, prior, WorkTree(commit=head), Unavailable("too large"))


def test_the_files_that_differ(repository: Repository) -> None:
    before = commit(repository, "train.py", "model.py", "same.py")
    commit(repository, "model.py", "docs/page.md")
    git(repository.top, "mv", "train.py", "main.py")
    after = commit(repository)
    expected_files = ("docs/page.md", "main.py", "model.py", "train.py")
    assert change(repository, before, after) == CodeChange(
        "tiny-1", before, after, expected_files, "tiny"
    )


def test_the_same_commit_changes_nothing(repository: Repository) -> None:
    head = commit(repository, "train.py")
    assert change(repository, head, head).files == ()


def test_an_older_commit_is_compared_as_well(repository: Repository) -> None:
    old = commit(repository, "train.py")
    new = commit(repository, "model.py")
    assert change(repository, new, old).files == ("model.py",)


def test_a_commit_that_is_not_here_is_could_not_look(repository: Repository) -> None:
    head = commit(repository, "train.py")
    with pytest.raises(CouldNotLook, match=r"121212121.*tiny-1.*launched"):
        change(repository, "12" * 20, head)


# --- a whole run ----------------------------------------------------------------------------------


def prior(story: Story) -> PriorLaunch | Nothing:
    run = open_run(SLUG, story.work)
    launch = run.base_evidence(run.record.memory())[PriorLaunch]
    assert isinstance(launch, (PriorLaunch, Nothing))
    return launch


@pytest.mark.thorough
def test_the_record_tells_the_plan_of_the_newest_instance(story: Story) -> None:
    assert isinstance(prior(story), Nothing)
    story.run_first_job()
    launch = prior(story)
    assert isinstance(launch, PriorLaunch)
    assert launch.instance == "tiny-1"
    assert launch.plan["commit"] == git(story.work, "rev-parse", "HEAD").strip()
    assert launch.plan["tracker"]["id"] == SLUG
    assert launch.config == {"trainer": {"seed": 7}}


def verdict(story: Story, capsys: pytest.CaptureFixture[str]) -> Any:
    capsys.readouterr()
    story.herorun("preflight", SLUG, "--json")
    findings = json.loads(capsys.readouterr().out)["findings"]
    (finding,) = [one for one in findings if one["check"] == "changed-trajectory"]
    return finding


@pytest.mark.thorough
def test_other_code_under_the_same_tracker_id_is_not_launched(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    story.init()
    assert verdict(story, capsys)["outcome"] == "n/a"
    story.run_first_job(CRASH)
    (story.work / "README.md").write_text("words\n")
    story.publish()
    assert verdict(story, capsys)["outcome"] == "pass"
    (story.work / "model.py").write_text("x = 1\n")
    story.publish()
    finding = verdict(story, capsys)
    assert (finding["outcome"], finding["details"]) == ("fail", ["model.py"])
    assert story.launch() == 1
    story.sign(tracker={"id": "tiny-b"})
    assert verdict(story, capsys)["outcome"] == "pass"
