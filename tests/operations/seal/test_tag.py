"""A seal's tag in a real clone and on a real remote: made once, never moved."""

import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from herorun.core.errors import Blocked, CouldNotLook
from herorun.operations.seal import tag as tags
from herorun.system.git import Repository
from stories import git

TAG = "herorun/tiny/seal-1"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A clone with one commit, and its origin."""
    for name, options in (("origin.git", ["--bare"]), ("work", [])):
        subprocess.run(["git", "init", "-q", *options, str(tmp_path / name)], check=True)
    work = tmp_path / "work"
    git(work, "config", "user.name", "Dri")
    git(work, "config", "user.email", "dri@example.org")
    git(work, "remote", "add", "origin", str(tmp_path / "origin.git"))
    git(work, "commit", "-q", "--allow-empty", "-m", "begin")
    return work


def a_run(work: Path, remote: str = "origin") -> Any:
    return SimpleNamespace(
        slug="tiny",
        repository=Repository(work, work / ".git"),
        contract=SimpleNamespace(code=SimpleNamespace(remote=remote)),
    )


@pytest.mark.parametrize(("milestones", "name"), [((), TAG), (("a",), "herorun/tiny/seal-2")])
def test_seals_are_counted(work: Path, milestones: tuple[str, ...], name: str) -> None:
    memory: Any = SimpleNamespace(milestones=milestones)
    assert tags.tag_name(a_run(work), memory) == name


def test_a_tag_is_made_pushed_once_and_read_back(work: Path) -> None:
    run, head = a_run(work), git(work, "rev-parse", "HEAD").strip()
    assert (tags.local_tag(run, TAG), tags.remote_tag(run, TAG)) == (None, None)

    oid, why_unsigned = tags.make_tag(run, TAG, head, "the statement")
    assert (tags.local_tag(run, TAG), why_unsigned) == (oid, [])
    assert git(work, "rev-parse", f"{TAG}^{{commit}}").strip() == head
    assert git(work, "cat-file", "tag", TAG).strip().endswith("the statement")

    for _ in range(2):
        assert tags.push_tag(run, TAG, oid) == "origin"
        assert tags.remote_tag(run, TAG) == oid


def test_another_tag_on_the_remote_is_not_moved(work: Path) -> None:
    run, head = a_run(work), git(work, "rev-parse", "HEAD").strip()
    git(work, "push", "-q", "origin", f"HEAD:refs/tags/{TAG}")
    oid, _ = tags.make_tag(run, TAG, head, "the statement")
    with pytest.raises(Blocked):
        tags.push_tag(run, TAG, oid)
    assert tags.remote_tag(run, TAG) == head


def test_without_the_remote_nothing_is_pushed(work: Path) -> None:
    run, head = a_run(work, remote="upstream"), git(work, "rev-parse", "HEAD").strip()
    oid, _ = tags.make_tag(run, TAG, head, "the statement")
    assert tags.push_tag(run, TAG, oid) == ""
    assert (tags.local_tag(run, TAG), tags.remote_tag(run, TAG)) == (oid, None)


SIGNING_SETTINGS = {"user.signingkey": "nobody", "gpg.program": "false"}


@pytest.mark.parametrize("settings", [{}, SIGNING_SETTINGS])
def test_a_key_that_cannot_be_used_leaves_an_unsigned_tag_with_the_reason(
    work: Path, settings: dict[str, str]
) -> None:
    for name, value in settings.items():
        git(work, "config", name, value)
    launch_commit = git(work, "rev-parse", "HEAD").strip()
    git(work, "commit", "-q", "--allow-empty", "-m", "since the launch")
    oid, why_unsigned = tags.make_tag(a_run(work), TAG, launch_commit, "the statement")
    assert tags.local_tag(a_run(work), TAG) == oid
    assert git(work, "rev-parse", f"{TAG}^{{commit}}").strip() == launch_commit
    assert git(work, "cat-file", "tag", TAG).strip().endswith("the statement")
    assert ["user.signingkey" in why for why in why_unsigned] == [True] * bool(settings)


def test_a_demanded_signature_that_fails_makes_no_tag(work: Path) -> None:
    for name, value in {**SIGNING_SETTINGS, "tag.gpgSign": "true"}.items():
        git(work, "config", name, value)
    head = git(work, "rev-parse", "HEAD").strip()
    with pytest.raises(CouldNotLook):
        tags.make_tag(a_run(work), TAG, head, "the statement")
    assert tags.local_tag(a_run(work), TAG) is None
