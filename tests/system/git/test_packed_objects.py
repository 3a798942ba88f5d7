"""Packed objects are read as git reads them, or not at all."""

import hashlib
import struct
import tracemalloc
import zlib
from pathlib import Path
from random import Random

import pytest

from herorun.system.git import Repository, find_repository, packed_objects
from herorun.system.git.commit_content import code_tree
from herorun.system.git.loose_objects import LooseObjects, NotLoose
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
        except NotLoose:
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
    sound, random, unread_packs = path.read_bytes(), Random(1), 0
    for _ in range(60):
        damaged_pack = bytearray(sound)
        for _ in range(8):
            damaged_pack[random.randrange(len(sound))] = random.randrange(256)
        path.write_bytes(damaged_pack[: random.choice((len(sound), random.randrange(len(sound))))])
        contents = _read_all(repository, objects)
        assert contents.items() <= {oid: text for oid, (_, text) in objects.items()}.items()
        unread_packs += len(contents) < len(objects)
    assert unread_packs


def test_no_more_is_read_than_is_allowed(repository: Repository) -> None:
    _pack(repository, BY_PLACE)
    store = ObjectDatabase(f"{repository.common}/objects")
    commits = [str(repository.resolve(f"HEAD~{number}")) for number in range(12)]
    sizes = [len(store.file(commit, "journal") or b"") for commit in commits]
    for commit, size in zip(commits, sizes, strict=True):
        assert store.file(commit, "journal", max(sizes))
        with pytest.raises(NotLoose):
            store.file(commit, "journal", size - 1)


def test_a_pack_that_comes_or_goes_is_noticed(repository: Repository) -> None:
    store, commit = ObjectDatabase(f"{repository.common}/objects"), str(repository.resolve("HEAD"))
    assert LooseObjects(store.store).files(commit) == store.files(commit)
    files = _pack(repository)
    assert store.files(commit)
    with pytest.raises(NotLoose):
        LooseObjects(store.store).files(commit)
    for path in files:
        path.rename(repository.common / path.name)
    with pytest.raises(NotLoose):
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


NAME = "aa" * 20


def _varint(first: int, size: int) -> bytes:
    """A number in groups of seven bits, the first byte with four of them and the kind."""
    data, size = [first << 4 | size & 15], size >> 4
    while size:
        data[-1] |= 128
        data.append(size & 127)
        size >>= 7
    return bytes(data)


def _plain_size(size: int) -> bytes:
    data = [size & 127]
    while size := size >> 7:
        data[-1] |= 128
        data.append(size & 127)
    return bytes(data)


def _write_pack(folder: Path, objects: bytes, offset: int) -> ObjectDatabase:
    """A pack by hand, with an index that names one object, `NAME`, at a place of it."""
    (folder / "pack").mkdir(parents=True)
    pack = b"PACK" + struct.pack(">II", 2, 1) + objects
    pack += hashlib.sha1(pack).digest()
    fan = b"".join(struct.pack(">I", int(first >= 0xAA)) for first in range(256))
    index = b"\377tOc\0\0\0\2" + fan + bytes.fromhex(NAME) + struct.pack(">II", 0, offset)
    index += pack[-20:]
    (folder / "pack" / "pack-x.pack").write_bytes(pack)
    (folder / "pack" / "pack-x.idx").write_bytes(index + hashlib.sha1(index).digest())
    return ObjectDatabase(str(folder))


def _peak(store: ObjectDatabase, oid: str) -> int:
    """The bytes of memory that one read of what is left to git takes at most."""
    tracemalloc.start()
    try:
        with pytest.raises(NotLoose):
            store.content(oid, b"blob")
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("by_name", [True, False])
def test_a_delta_of_itself_is_left_to_git_and_fills_no_memory(
    tmp_path: Path, by_name: bool
) -> None:
    body = bytes(100_000)
    kind, base = (7, bytes.fromhex(NAME)) if by_name else (6, b"\0")
    delta = _varint(kind, len(body)) + base + zlib.compress(body, 9)
    assert _peak(_write_pack(tmp_path, delta, 12), NAME) < 1 << 20


def _chain(length: int, size: int) -> tuple[bytes, int, bytes]:
    """Deltas upon each other, each with the whole text; returns the objects, the place of the last
    one, and the text.
    """
    text = b"x" * size
    objects = _varint(3, len(text)) + zlib.compress(text, 9)
    last = 12
    for _ in range(length):
        delta = 2 * _plain_size(size) + b"".join(
            bytes([min(127, size - at)]) + text[at : at + 127] for at in range(0, size, 127)
        )
        place, distance = 12 + len(objects), 12 + len(objects) - last
        groups = [distance & 127]
        while distance := distance >> 7:
            distance -= 1
            groups.insert(0, distance & 127 | 128)
        objects += _varint(6, len(delta)) + bytes(groups) + zlib.compress(delta, 9)
        last = place
    return objects, last, text


def test_a_long_chain_of_deltas_is_left_to_git_and_fills_no_memory(tmp_path: Path) -> None:
    objects, last, _ = _chain(3000, 20_000)
    assert _peak(_write_pack(tmp_path, objects, last), NAME) < 1 << 20


@pytest.mark.parametrize(("length", "is_read"), [(50, True), (250, True), (251, False)])
def test_a_chain_as_git_makes_it_is_read(tmp_path: Path, length: int, is_read: bool) -> None:
    objects, last, text = _chain(length, 1000)
    oid = hashlib.sha1(b"blob %d\0%s" % (len(text), text)).hexdigest()
    store = _write_pack(tmp_path, objects, last)
    index = tmp_path / "pack" / "pack-x.idx"
    data = bytearray(index.read_bytes())
    data[8 : 8 + 1024] = b"".join(
        struct.pack(">I", int(first >= int(oid[:2], 16))) for first in range(256)
    )
    data[1032:1052] = bytes.fromhex(oid)
    index.write_bytes(data)
    try:
        assert store.content(oid, b"blob") == text
    except NotLoose:
        assert not is_read
    else:
        assert is_read


def test_deltas_of_more_bytes_than_are_read_are_left_to_git(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inflated_sizes = list[object]()
    monkeypatch.setattr(
        packed_objects, "_inflate_object", lambda *args: inflated_sizes.append(args)
    )
    monkeypatch.setattr(packed_objects, "_MAX_BYTES", 4 << 20)
    objects, last, _ = _chain(100, 50_000)
    with pytest.raises(NotLoose):
        _write_pack(tmp_path, objects, last).content(NAME, b"blob")
    assert not inflated_sizes


@pytest.mark.parametrize("fault", [MemoryError, RecursionError])
def test_an_object_that_fills_the_memory_is_left_to_git(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, fault: type[Exception]
) -> None:
    head = str(repository.resolve("HEAD"))
    _pack(repository)

    def full(*_: object) -> bytes:
        raise fault

    monkeypatch.setattr(packed_objects, "_inflate_object", full)
    with pytest.raises(NotLoose):
        ObjectDatabase(f"{repository.common}/objects").content(head, b"commit")


def test_an_index_of_version_1_is_left_to_git(repository: Repository) -> None:
    objects = _objects(repository)
    index, pack = (path for path in _pack(repository) if path.suffix in (".idx", ".pack"))
    index.unlink()
    git(repository.top, "index-pack", "--index-version=1", "-o", str(index), str(pack))
    assert _read_all(repository, objects) == {}
    assert repository.read("HEAD", ["journal"])["journal"]


@pytest.mark.parametrize("is_packed", [False, True])
def test_all_files_of_a_commit_are_listed_as_git_lists_them(story: Story, is_packed: bool) -> None:
    names = ("a/b/c d", "a/b.x", "a/b/é", "a b/run.toml", "run.toml", "z", "a\nb/1")
    for name in names:
        (story.work / name).parent.mkdir(parents=True, exist_ok=True)
        (story.work / name).write_text(name)
    (story.work / "z").chmod(0o755)
    (story.work / "link").symlink_to("z")
    git(story.work, "add", "-A")
    git(story.work, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},module")
    git(story.work, "commit", "-q", "-m", "names")
    if is_packed:
        git(story.work, "gc", "-q")
    repository = find_repository(story.work)
    oid = git(story.work, "rev-parse", "HEAD").strip()
    rows = git(story.work, "ls-tree", "-r", "-z", "--full-tree", oid).split("\0")[:-1]
    expected_paths = [
        " ".join((mode, digest, path))
        for (mode, _, digest), path in (
            (row.split("\t")[0].split(), row.split("\t")[1]) for row in rows
        )
    ]

    assert [line.decode() for line in repository.tree_lines(oid)] == expected_paths
    assert ObjectDatabase(f"{repository.common}/objects").tree_lines(oid) == repository.tree_lines(
        oid
    )
    others = [row for row in expected_paths if row.split(" ", 2)[2] != "run.toml"]
    assert len(others) == len(expected_paths) - 1
    digest = hashlib.sha256("\0".join(others).encode()).hexdigest()
    assert code_tree(repository, oid, "run.toml") == f"sha256:{digest}"


@pytest.mark.parametrize(
    "tree",
    [
        b"100644 a\0" + b"1" * 19,
        b"100644 a\0" + b"1" * 20 + b"rest",
        b"100644 \0" + b"1" * 20,
        b"0100644 a\0" + b"1" * 20,
    ],
)
def test_what_is_no_tree_is_listed_by_git_or_not_at_all(story: Story, tree: bytes) -> None:
    objects = find_repository(story.work).common / "objects"
    oids = {}
    for kind, body in (("tree", tree), ("commit", b"tree %b\n")):
        content = body % oids["tree"].encode() if kind == "commit" else body
        whole = b"%b %d\0%b" % (kind.encode(), len(content), content)
        oids[kind] = hashlib.sha1(whole).hexdigest()
        path = objects / oids[kind][:2] / oids[kind][2:]
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(zlib.compress(whole))
    with pytest.raises(NotLoose):
        ObjectDatabase(str(objects)).tree_lines(oids["commit"])
