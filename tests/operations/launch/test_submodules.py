"""A run whose code lies partly in a submodule: launched with it, and not without it."""

import json
from pathlib import Path

import pytest

from stories import SLUG, Story, git
from wording import mentions


@pytest.fixture
def lib(story: Story) -> Path:
    """The checked-out submodule of a healthy story."""
    home = story.home
    git(home, "init", "-q", "--bare", "--template=", "-b", "main", "lib.git")
    git(home, "clone", "-q", "--template=", str(home / "lib.git"), "lib")
    set_author(home / "lib")
    (home / "lib" / "model.sh").write_text("echo model\n")
    commit_all(home / "lib")
    git(home / "lib", "push", "-q", "origin", "HEAD:main")
    git(
        story.work,
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        str(home / "lib.git"),
        "lib",
    )
    set_author(story.work / "lib")
    story.publish()
    assert story.init() == 0
    return story.work / "lib"


def set_author(work: Path) -> None:
    git(work, "config", "user.name", "Dri")
    git(work, "config", "user.email", "dri@example.org")


def commit_all(work: Path) -> None:
    git(work, "add", "-A")
    git(work, "commit", "-q", "-m", "code")


def failures_of(story: Story, capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    capsys.readouterr()
    story.herorun("preflight", SLUG, "--json")
    findings = json.loads(capsys.readouterr().out)["findings"]
    return {f["check"]: f["message"] for f in findings if f["outcome"] == "fail"}


@pytest.mark.thorough
def test_its_files_are_shipped_and_admitted(story: Story, lib: Path) -> None:
    assert story.launch() == 0
    story.wait_for_end()
    assert (story.state / "code" / "tiny-1" / "lib" / "model.sh").read_text() == "echo model\n"
    admission = json.loads((story.state / "admissions" / "tiny-1" / "admission.json").read_text())
    assert {"lib/model.sh", "train.sh"} <= admission["files"].keys()


@pytest.mark.thorough
def test_what_differs_in_it_blocks(
    story: Story, lib: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (lib / "untracked").write_text("x")
    assert mentions(failures_of(story, capsys)["dirty-submodule"], "untracked", "files")
    assert story.launch() == 1


@pytest.mark.thorough
def test_a_commit_of_it_that_is_not_published_blocks_although_ours_is(
    story: Story, lib: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (lib / "model.sh").write_text("echo other\n")
    commit_all(lib)
    story.publish()
    assert failures_of(story, capsys).keys() == {"unpushed-submodule"}
    assert story.launch() == 1
    git(lib, "push", "-q", "origin", "HEAD:main")
    assert story.launch() == 0
