"""git's answers: never "empty" where it failed, never more than the one sentence that matters."""

import shutil
from pathlib import Path

import pytest

from herorun.core.errors import CouldNotLook
from herorun.system.git import GitFailed, Repository, find_repository
from herorun.system.process import ProcessResult
from screens.notices import Notice
from stories import Story, git


@pytest.fixture
def repository(story: Story) -> Repository:
    return find_repository(story.work)


def lose_object(work: Path, name: str) -> None:
    """Remove one loose object, as a disk does."""
    oid = git(work, "rev-parse", name).strip()
    (work / ".git" / "objects" / oid[:2] / oid[2:]).unlink()


def complaint(words: str) -> str:
    return str(GitFailed(("fetch", "--quiet", "origin"), ProcessResult(128, b"", words.encode())))


ADVICE = (
    "fatal: Could not read from remote repository.\n\n"
    "Please make sure you have the correct access rights\nand the repository exists.\n"
)


@pytest.mark.parametrize(
    "words",
    [
        "fatal: unable to access 'https://h/x/'\nhint: try again\n",
        f"fatal: '/x' is no repository\n{ADVICE}",
        f"git@h: Permission denied (publickey).\n{ADVICE}",
        f"ssh: Could not resolve hostname h: -2\n{ADVICE}",
        f"ERROR: Repository not found.\n{ADVICE}",
        ADVICE,
        "remote: no room\nTo /x\n ! [rejected] a\nerror: failed to push\n",
        "remote: \nremote: error: protected branch\nerror: failed\n",
        "To /x\n ! [rejected] a -> b (stale info)\nerror: failed\n",
        "words without a reason\nthe last ones\n",
        "",
        "fatal: cannot reach https://ada:hunter2@h/x\n",
    ],
)
def test_a_failure_says_its_reason_in_one_line(words: str, notice: Notice) -> None:
    assert complaint(words) == notice


def test_a_long_complaint_is_cut() -> None:
    assert len(complaint("fatal: " + "x" * 10_000)) < 400


# --- not there, and could not look ----------------------------------------------------------------


def test_a_folder_that_is_not_in_the_commit_is_empty(repository: Repository) -> None:
    head = repository.resolve("HEAD")
    assert head
    assert repository.entries(head, "nowhere") == []
    assert [path for _, _, path in repository.entries(head, "runs")] == ["tiny.toml"]
    assert {path for _, _, path in repository.entries(head)} >= {"runs/tiny.toml", "train.sh"}


def test_a_commit_or_folder_that_cannot_be_read_is_an_error(
    story: Story, repository: Repository
) -> None:
    with pytest.raises(CouldNotLook):
        repository.entries("12" * 20)
    with pytest.raises(CouldNotLook, match=r"121212121 is.*clone.*git fetch --all"):
        repository.read("12" * 20, ["runs/tiny.toml"])
    head = str(repository.resolve("HEAD"))
    lose_object(story.work, "HEAD:runs")
    with pytest.raises(CouldNotLook):
        repository.entries(head, "runs")


def test_a_file_that_is_not_there_is_none_and_one_that_is_lost_an_error(
    story: Story, repository: Repository
) -> None:
    head = str(repository.resolve("HEAD"))
    odd = ("nowhere", "no where/a blob", "runs", "runs/nowhere.toml", "a blob missing")
    assert repository.read(head, odd) == dict.fromkeys(odd)
    lose_object(story.work, "HEAD:train.sh")
    with pytest.raises(CouldNotLook, match=r"train\.sh in commit .* is damaged"):
        repository.read(head, ["config.toml", "train.sh"])
    oids = [
        git(story.work, "rev-parse", f"HEAD:{name}").strip() for name in ("config.toml", "train.sh")
    ]
    assert repository.blobs(oids[:1])[oids[0]].startswith(b"[trainer]")
    with pytest.raises(CouldNotLook, match=r"damaged.*missing"):
        repository.blobs(oids)


def test_a_ref_that_is_not_there_is_none_and_a_damaged_one_an_error(
    story: Story, repository: Repository
) -> None:
    ref = "refs/herorun/record/tiny"
    assert repository.resolve(ref) is None
    path: Path = repository.common / ref
    path.parent.mkdir(parents=True)
    for content in ("", "junk\n", "12" * 20 + "\n"):
        path.write_text(content)
        with pytest.raises(CouldNotLook, match="is damaged"):
            repository.resolve(ref)


@pytest.mark.parametrize("is_packed", [False, True])
def test_a_folder_without_refs_is_recognised_from_the_files_and_one_with_a_ref_never_is(
    repository: Repository, is_packed: bool
) -> None:
    assert repository.lacks_below("refs/replace/")
    git(repository.top, "update-ref", "refs/replace/abc", "HEAD")
    if is_packed:
        git(repository.top, "pack-refs", "--all")
        (repository.common / "refs" / "replace").rmdir()
    assert not repository.lacks_below("refs/replace/")
    assert repository.lacks_below("refs/replaced/")


@pytest.mark.parametrize("unlike", ["reftable", "unreadable"])
def test_where_only_git_can_tell_no_folder_is_without_refs(
    repository: Repository, unlike: str
) -> None:
    if unlike == "reftable":  # which leaves a file where the folder of the branches was
        shutil.rmtree(repository.common / "refs" / "heads")
        (repository.common / "refs" / "heads").write_text("this repository uses reftable\n")
    else:
        (repository.common / "packed-refs").unlink(missing_ok=True)
        (repository.common / "packed-refs").mkdir()
    assert not repository.lacks_below("refs/replace/")
