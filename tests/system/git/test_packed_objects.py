"""Packed objects are read as git reads them, or not at all."""

from pathlib import Path
from random import Random

import pytest

from herorun.system.git import Repository, find_repository
from herorun.system.git.loose_objects import Elsewhere, Loose
from herorun.system.git.packed_objects import ObjectDatabase
from stories import Story, git

BY_PLACE = ("repack.useDeltaBaseOffset=true",)
BY_NAME = ("repack.useDeltaBaseOffset=false",)


@pytest.fixture
def repository(story: Story) -> Repository:
    """A file whose versions differ least from the ones next to them."""
    lines = [f"{number} {number**9:x}" for number in range(90)]
    for number in range(12):
        text = "".join(f"{line}\n" for line in lines[5 * number : 5 * number + 30 - number])
        (story.work / "journal").write_text(text)
        git(story.work, "add", "-A")
        git(story.work, "commit", "-q", "-m", str(number))
    git(story.work, "tag", "-a", "-m", "a tag", "named")
    return find_repository(story.work)


def _pack(repository: Repository, settings: tuple[str, ...] = ()) -> list[Path]:
    """All in one pack; returns its files."""
    words = [word for each in settings for word in ("-c", each)]
    git(repository.top, *words, "repack", "-adfq")
    return sorted((repository.common / "objects" / "pack").glob("pack-*"))


def _objects(repository: Repository) -> dict[str, tuple[str, str]]:
    """Kind and content of every object, as git says."""
    rows = git(repository.top, "cat-file", "--batch-check", "--batch-all-objects").splitlines()
    kinds = {oid: kind for oid, kind, _ in map(str.split, rows) if kind != "tree"}
    return {oid: (kind, git(repository.top, "cat-file", kind, oid)) for oid, kind in kinds.items()}


def _read_all(repository: Repository, objects: dict[str, tuple[str, str]]) -> dict[str, str]:
    """What can be read without git."""
    store, contents = ObjectDatabase(f"{repository.common}/objects"), {}
    for oid, (kind, _) in objects.items():
        try:
            contents[oid] = store.content(oid, kind.encode()).decode()
        except Elsewhere:
            continue
    return contents


@pytest.mark.parametrize("settings", [BY_PLACE, BY_NAME])
def test_each_packed_object_is_what_git_says(
    repository: Repository, settings: tuple[str, ...]
) -> None:
    objects = _objects(repository)
    _, pack = (path for path in _pack(repository, settings) if path.suffix in (".idx", ".pack"))
    deltas = git(repository.top, "verify-pack", "-v", str(pack))
    assert "chain length = 2" in deltas
    assert {kind for kind, _ in objects.values()} == {"blob", "commit", "tag"}
    assert _read_all(repository, objects) == {oid: text for oid, (_, text) in objects.items()}


def test_an_object_far_in_a_large_pack_is_read(repository: Repository) -> None:
    objects = _objects(repository)
    index, pack = (path for path in _pack(repository) if path.suffix in (".idx", ".pack"))
    index.unlink()
    git(repository.top, "index-pack", "--index-version=2,0x40", "-o", str(index), str(pack))
    assert _read_all(repository, objects) == {oid: text for oid, (_, text) in objects.items()}


@pytest.mark.parametrize("suffix", [".idx", ".pack"])
@pytest.mark.parametrize("settings", [BY_PLACE, BY_NAME])
def test_a_damaged_pack_is_left_to_git(
    repository: Repository, suffix: str, settings: tuple[str, ...]
) -> None:
    objects = _objects(repository)
    (path,) = (each for each in _pack(repository, settings) if each.suffix == suffix)
    path.chmod(0o600)
    sound, random, unread = path.read_bytes(), Random(1), 0
    for _ in range(60):
        damaged = bytearray(sound)
        for _ in range(8):
            damaged[random.randrange(len(sound))] = random.randrange(256)
        path.write_bytes(damaged[: random.choice((len(sound), random.randrange(len(sound))))])
        contents = _read_all(repository, objects)
        assert contents.items() <= {oid: text for oid, (_, text) in objects.items()}.items()
        unread += len(contents) < len(objects)
    assert unread


def test_no_more_is_read_than_is_allowed(repository: Repository) -> None:
    _pack(repository, BY_PLACE)
    store = ObjectDatabase(f"{repository.common}/objects")
    commits = [str(repository.resolve(f"HEAD~{number}")) for number in range(12)]
    sizes = [len(store.file(commit, "journal") or b"") for commit in commits]
    for commit, size in zip(commits, sizes, strict=True):
        assert store.file(commit, "journal", max(sizes))
        with pytest.raises(Elsewhere):
            store.file(commit, "journal", size - 1)


def test_a_pack_that_comes_or_goes_is_noticed(repository: Repository) -> None:
    store, commit = ObjectDatabase(f"{repository.common}/objects"), str(repository.resolve("HEAD"))
    assert Loose(store.store).files(commit) == store.files(commit)
    files = _pack(repository)
    assert store.files(commit)
    with pytest.raises(Elsewhere):
        Loose(store.store).files(commit)
    for path in files:
        path.rename(repository.common / path.name)
    with pytest.raises(Elsewhere):
        store.files(commit)


def test_a_packed_ref_is_what_git_says_now(repository: Repository) -> None:
    for number, name in enumerate(["one", "one-more", "a/one"]):
        git(repository.top, "update-ref", f"refs/herorun/{name}", f"HEAD~{number}")
    names = ["one", "one-more", "a/one", "more", "on"]

    def present() -> list[str | None]:
        return [repository.ref_object(f"refs/herorun/{name}") for name in names]

    before = present()
    assert before == [
        *(git(repository.top, "rev-parse", f"HEAD~{number}").strip() for number in range(3)),
        None,
        None,
    ]
    git(repository.top, "pack-refs", "--all", "--prune")
    assert not (repository.common / "refs" / "herorun" / "one").exists()
    assert present() == before
    git(repository.top, "update-ref", "refs/herorun/one", "HEAD~5")
    git(repository.top, "update-ref", "-d", "refs/herorun/one-more")
    assert present() == [git(repository.top, "rev-parse", "HEAD~5").strip(), None, *before[2:]]
