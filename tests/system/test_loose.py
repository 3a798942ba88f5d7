"""What is read of git's own files must be what git itself says; what is not plain from them is
asked of git.
"""

import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from herorun.system.git import Repository, calls as asking, find_repository, run
from herorun.system.git.loose_objects import LooseObjects, NotLoose
from herorun.system.process import ProcessResult
from stories import Story, git

ODD = "a folder/ünï\tcode.txt"


@pytest.fixture
def repository(story: Story) -> Repository:
    """With an empty file, odd names, a link, a program, a submodule's entry, and folders that sort
    next to files.
    """
    work = story.work
    for name, text in {
        ODD: "odd\n",
        "empty": "",
        "a/b/c": "deep\n",
        "a.b": "beside\n",
        "a-b": "too\n",
    }.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(text)
    (work / "link").symlink_to("a.b")
    (work / "train.sh").chmod(0o755)
    git(work, "add", "-A")
    git(work, "update-index", "--add", "--cacheinfo", f"160000,{'12' * 20},a/module")
    git(work, "commit", "-q", "-m", "odd files")
    return find_repository(work)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What git was started for."""
    requests: list[str] = []

    def spy(words: tuple[str, ...], timeout: float, **more: Any) -> ProcessResult:
        requests.append(words[len(run.FLAGS) + 1])
        return real(words, timeout, **more)

    real = asking.run
    monkeypatch.setattr(asking, "run", spy)
    return requests


def looks(of: Repository) -> list[object]:
    head = str(of.resolve("HEAD"))
    paths = [ODD, "empty", "a/b/c", "a/b", "a/b/c/d", "link", "nowhere", "a/nowhere", "train.sh"]
    oids = [oid for mode, oid, _ in of.entries(head) if mode.startswith("100")]
    return [
        head,
        of.resolve("refs/heads/main"),
        of.resolve("refs/herorun/none"),
        of.read(head, paths),
        of.read("HEAD", paths),
        of.entries(head),
        of.entries(head, "a"),
        of.entries(head, "nowhere"),
        of.names(head, "a"),
        of.names(head, "nowhere"),
        of.blobs(oids),
    ]


def test_what_lies_in_files_is_read_as_git_reads_it_and_git_is_not_started(
    repository: Repository, calls: list[str]
) -> None:
    first_look = looks(repository)
    assert calls == []
    git(repository.top, "pack-refs", "--all")
    git(repository.top, "repack", "-adq")
    assert looks(repository) == first_look
    assert calls == []
    git(repository.top, "-c", "pack.indexVersion=1", "repack", "-adfq")
    assert looks(repository) == first_look
    assert {"cat-file", "ls-tree", "for-each-ref", "rev-parse"} <= set(calls)


def _cut(data: bytes) -> bytes:
    return data[:-4]


def _another(data: bytes) -> bytes:
    return zlib.compress(zlib.decompress(data).replace(b"odd", b"bad"))


@pytest.mark.parametrize("damage", [_cut, _another])
def test_a_damaged_object_is_never_read(
    repository: Repository, damage: Callable[[bytes], bytes]
) -> None:
    loose = LooseObjects(f"{repository.common}/objects")
    commit = str(repository.resolve("HEAD"))
    assert loose.file(commit, ODD) == b"odd\n"
    oid = next(oid for _, oid, path in repository.entries(commit) if path == ODD)
    path: Path = repository.common / "objects" / oid[:2] / oid[2:]
    path.chmod(0o600)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(NotLoose):
        loose.file(commit, ODD)


@pytest.mark.parametrize("kind", ["commit", "tree"])
def test_what_was_read_before_is_not_believed_once_its_file_is_another(
    repository: Repository, kind: str
) -> None:
    loose = LooseObjects(f"{repository.common}/objects")
    commit = str(repository.resolve("HEAD"))
    assert loose.files(commit)
    oid = commit if kind == "commit" else loose.top(commit)
    path: Path = repository.common / "objects" / oid[:2] / oid[2:]
    path.chmod(0o600)
    path.write_bytes(_cut(path.read_bytes()))
    with pytest.raises(NotLoose):
        loose.files(commit)
    path.unlink()
    with pytest.raises(NotLoose):
        loose.files(commit)


@pytest.mark.parametrize("path", ["a//b", "./a", "a/../a.b", "a/"])
def test_a_path_that_only_git_can_read_is_left_to_it(repository: Repository, path: str) -> None:
    loose = LooseObjects(f"{repository.common}/objects")
    with pytest.raises(NotLoose):
        loose.file(str(repository.resolve("HEAD")), path)


def test_a_linked_work_tree_has_a_head_of_its_own(story: Story, repository: Repository) -> None:
    git(story.work, "worktree", "add", "-q", "--detach", str(story.home / "linked"), "HEAD~1")
    linked_repository = find_repository(story.home / "linked")
    assert linked_repository.resolve("HEAD") == git(story.work, "rev-parse", "HEAD~1").strip()
    assert linked_repository.read("HEAD", ["empty", "train.sh"])["empty"] is None


def test_a_setting_that_changes_is_heeded_at_once(repository: Repository) -> None:
    for url in ("/one.git", "/two.git"):
        git(repository.top, "remote", "set-url", "origin", url)
        assert repository.remotes() == {"origin": url}
    git(repository.top, "config", "user.name", "Another")
    assert repository.config("user.name") == "Another"


def test_one_process_tells_every_setting(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (repository.common / "config").open("a") as file:
        file.write(
            '[core]\n\tsshCommand = ssh -v\n[filter "Own.Lfs"]\n\tProcess = one\n\tprocess = two\n'
            "[alias]\n\tbare\n\tgone = x\n\tgone =\n"
        )
    calls = []
    ask = asking.run

    def count_process(argv: tuple[str, ...], *others: Any, **more: Any) -> ProcessResult:
        calls.append(argv)
        return ask(argv, *others, **more)

    monkeypatch.setattr(asking, "run", count_process)
    lfs = ("filter.Own.Lfs.process", "filter.own.lfs.process", "filter.Own.Lfs.Process")
    assert [repository.config(key) for key in lfs] == ["two", None, "two"]
    assert repository.config("CORE.sshCommand") == repository.config("core.sshcommand") == "ssh -v"
    assert {repository.config(key) for key in ("alias.gone", "none.such")} == {None}
    assert repository.config("alias.bare") == "true", "as git reads a key without a value"
    assert len(calls) == 1
