"""Commits by plumbing: any path, any words, any name of the user."""

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from herorun.system.files import node
from herorun.system.git import Repository, find_repository, plumbing
from herorun.system.git.export import export
from herorun.system.git.parse import plain_identity
from herorun.system.git.plumbing import commit_files, fetch
from herorun.system.git.tags import annotated_tag, tag_text
from stories import Story, git

AT = datetime(2026, 11, 21, tzinfo=UTC)
REF = "refs/herorun/record/x"


@pytest.fixture
def repository(story: Story) -> Repository:
    return find_repository(story.work)


@pytest.mark.parametrize(
    "path",
    ["a b/c d.txt", '"quoted".txt', "back\\slash", "new\nline", "ünï-日本", "inline", ":1", "-x"],
)
def test_any_path_holds_what_was_put_there(repository: Repository, path: str) -> None:
    data = bytes(range(256)) + b"\ndone\nM 100644 :1 x\n"
    tip = commit_files(repository, REF, None, {path: data, "empty": b""}, "said\n", AT)
    assert {name for _, _, name in repository.entries(tip)} == {path, "empty"}
    ((_, oid, _),) = [row for row in repository.entries(tip) if row[2] == path]
    assert repository.blobs([oid])[oid] == data


@pytest.mark.parametrize(
    "message", ["", "one\n\ntwo\n\n[skip ci]\n", "data 3\nfrom x\ndone\n", "日本\n"]
)
def test_a_message_is_kept_word_for_word(repository: Repository, message: str) -> None:
    tip = commit_files(repository, REF, None, {"a": b"1"}, message, AT)
    assert repository.git("cat-file", "commit", tip).out.partition(b"\n\n")[2].decode() == message


@pytest.mark.thorough
def test_a_large_file_is_kept(repository: Repository) -> None:
    data = b"0123456789abcdef" * (1 << 20)
    tip = commit_files(repository, REF, None, {"large": data}, "large\n", AT)
    assert repository.read(tip, ["large"]) == {"large": data}


@pytest.mark.parametrize(
    "name", [b"A <b> c", b"a\\nb", b"J\xf6rg", b"<>", b"  ", b"", b".", "日本".encode()]
)
def test_whatever_the_user_is_called(repository: Repository, name: bytes) -> None:
    config = repository.common / "config"
    config.write_bytes(config.read_bytes().replace(b"name = Dri", b'name = "' + name + b'"'))
    tip = commit_files(repository, REF, None, {"a": b"1"}, "said\n", AT)
    again = commit_files(repository, REF, tip, {"a": b"2"}, "again\n", AT)
    assert repository.is_ancestor(tip, again)
    assert repository.git("fsck", "--strict", "--no-dangling", again).code == 0
    assert annotated_tag(repository, "x/1", again, "said\n")


@pytest.mark.parametrize(
    ("settings", "is_plain"),
    [
        ({}, True),
        ({"user.name": "Jörg M. 日本-2"}, True),
        ({"committer.name": "Another", "committer.email": "a+b@c.example"}, True),
        ({"committer.name": "Another", "user.email": ""}, False),
        ({"user.name": "A <b> c"}, False),
        ({"user.name": ".Dri."}, False),
        ({"user.email": "'dri'@example.org"}, False),
        ({"user.email": "no-at-sign"}, False),
    ],
)
def test_a_plain_committer_is_as_git_says(
    repository: Repository, settings: dict[str, str], is_plain: bool
) -> None:
    for key, value in settings.items():
        repository.git("config", key, value)
    answer = repository.git("var", "GIT_COMMITTER_IDENT", ok=(0, 128)).text
    identity = plain_identity(repository.listed_settings)
    assert identity == (answer.rsplit(" ", 2)[0] if is_plain else "")


def test_a_machine_with_an_odd_login_name(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = repository.common / "config"
    config.write_text(config.read_text().replace("name = Dri", 'name = ""'))
    monkeypatch.setattr(plumbing, "owner", lambda: "a <b>\nc@here")
    tip = commit_files(repository, REF, None, {"a": b"1"}, "said\n", AT)
    assert repository.git("log", "-1", "--format=%ce", tip).text.strip() == "abc@here"


def test_a_user_who_keeps_all_packs_gets_none_for_each_commit(repository: Repository) -> None:
    repository.git("config", "transfer.unpackLimit", "1")
    commit_files(repository, REF, None, {"a": b"1"}, "said\n", AT)
    assert not list((repository.common / "objects" / "pack").glob("*.pack"))


def test_fetching_one_ref_moves_none_of_the_users(story: Story, repository: Repository) -> None:
    other = story.clone("elsewhere")
    (other.work / "more").write_text("more")
    other.publish()
    before = git(story.work, "for-each-ref", "refs/remotes", "refs/heads")
    fetch(repository, "origin", {"refs/heads/main": "refs/herorun/fetched/x"})
    assert git(story.work, "for-each-ref", "refs/remotes", "refs/heads") == before
    assert repository.resolve("refs/herorun/fetched/x") != repository.resolve("HEAD")


def test_an_export_removes_what_a_killed_one_left(repository: Repository, tmp_path: Path) -> None:
    process = subprocess.Popen(["true"])
    process.wait()
    leftover = tmp_path / f".export-{node()}-{process.pid}-abc"
    others = (
        tmp_path / f".export-{node()}-{os.getpid()}-abc",
        tmp_path / f".export-00000000-{process.pid}-abc",
    )
    for folder in (leftover, *others):
        (folder / "tree").mkdir(parents=True)
    commit = repository.git("rev-parse", "HEAD").text.strip()
    export(repository, commit, tmp_path / "code")
    assert {path.name for path in tmp_path.iterdir()} == {"code", *(each.name for each in others)}


@pytest.mark.parametrize("is_packed", [False, True])
def test_a_tag_is_read_as_git_keeps_it(repository: Repository, is_packed: bool) -> None:
    annotated_tag(repository, "ours", "HEAD", "sealed: 日本\n")
    repository.git("tag", "of-a-commit", "HEAD")
    kept_by_git = repository.git("cat-file", "tag", "ours").text
    if is_packed:
        repository.git("pack-refs", "--all")
        repository.git("repack", "-a", "-d", "--quiet")
    names = ("ours", "of-a-commit", "no-tag", "../heads/main", "our")
    assert [tag_text(repository, name) for name in names] == [kept_by_git, None, None, None, None]
