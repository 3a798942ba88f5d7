"""Packing our own objects: what is the user's stays as it lies, and nothing is lost, whatever comes
in between.
"""

import hashlib
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from builders import NOON
from herorun.system.git import Repository, find_repository, repack as module
from herorun.system.git.plumbing import commit_files
from herorun.system.git.repack import Pack, pack, packs_of, rows_of
from stories import git

REF = "refs/herorun/record/tiny"


class Growing:
    """A ref that gets a line of a journal with each commit, next to a user's own work."""

    def __init__(self, work: Path) -> None:
        work.mkdir()
        git(work, "init", "-q")
        git(work, "config", "user.name", "Dri")
        git(work, "config", "user.email", "dri@example.org")
        (work / "train.py").write_text("print('trains')\n")
        git(work, "add", "train.py")
        git(work, "commit", "-q", "-m", "the code")
        self.work, self.repository = work, find_repository(work)
        self.tip: str | None = None
        self.text = b""
        self.packs: tuple[Pack, ...] = ()

    @property
    def objects(self) -> Path:
        return self.repository.common / "objects"

    def files(self, pattern: str) -> set[str]:
        return {str(path.relative_to(self.objects)) for path in self.objects.glob(pattern)}

    @property
    def loose(self) -> set[str]:
        return self.files("??/*")

    def grow(self, commits: int) -> None:
        for _ in range(commits):
            digests = [hashlib.sha256(b"%d" % n + self.text).hexdigest() for n in range(20)]
            self.text += f"{' '.join(digests)}\n".encode()
            files = {"a/tiny.journal/20260101.jsonl": self.text}
            self.tip = commit_files(self.repository, REF, self.tip, files, "log check", NOON)

    def pack(self) -> None:
        assert self.tip
        self.note(pack(self.repository, "tiny", self.tip, self.packs, self.note))

    def note(self, packs: Sequence[Pack]) -> None:
        self.packs = tuple(packs)

    def is_whole(self) -> bool:
        """Nothing is missing, and every version of the file is what it was."""
        git(self.work, "fsck", "--full", "--strict", "--no-dangling")
        commits = git(self.work, "log", "--format=%H", REF).split()
        sizes = [
            int(git(self.work, "cat-file", "-s", f"{oid}:a/tiny.journal/20260101.jsonl"))
            for oid in commits
        ]
        return sizes == sorted(sizes, reverse=True) and sizes[0] == len(self.text)


@pytest.fixture
def growing(tmp_path: Path) -> Growing:
    return Growing(tmp_path / "work")


def test_ours_are_packed_and_the_users_lie_as_they_lay(growing: Growing) -> None:
    theirs = growing.loose
    growing.grow(5)
    assert len(growing.loose) == len(theirs) + 5 * 5
    growing.pack()
    assert growing.loose == theirs and growing.is_whole()
    assert [each.commits for each in growing.packs] == [5]


def test_a_pack_of_the_users_is_not_ours_to_replace(growing: Growing) -> None:
    git(growing.work, "repack", "-q", "-a", "-d")
    theirs = growing.files("pack/*.pack")
    for _ in range(3):
        growing.grow(1)
        growing.pack()
    assert theirs < growing.files("pack/*.pack") and growing.is_whole()


def test_many_small_packs_become_a_large_one(growing: Growing) -> None:
    observations = []
    for _ in range(7):
        growing.grow(1)
        growing.pack()
        observations.append([each.commits for each in growing.packs])
    assert observations == [[1], [2], [2, 1], [4], [4, 1], [4, 2], [4, 2, 1]]
    assert len(growing.files("pack/*.pack")) == 3 and growing.is_whole()


def test_a_version_takes_what_it_adds(growing: Growing) -> None:
    """Counted in bytes: a day of ticks is not stored again with each of them."""
    growing.grow(20)
    loose = sum((growing.objects / name).stat().st_size for name in growing.loose)
    growing.pack()
    (name,) = growing.files("pack/*.pack")
    assert (growing.objects / name).stat().st_size < loose / 4


def test_what_the_user_repacked_meanwhile_is_left_to_them(growing: Growing) -> None:
    growing.grow(2)
    growing.pack()
    git(growing.work, "gc", "-q", "--prune=now")
    growing.grow(2)
    growing.pack()
    assert growing.is_whole() and len(growing.files("pack/*.pack")) == 2


@pytest.mark.parametrize("spared_name", ["keep", "multi-pack index"])
def test_what_is_named_elsewhere_stays(growing: Growing, spared_name: str) -> None:
    growing.grow(1)
    growing.pack()
    (ours,) = growing.files("pack/*.pack")
    if spared_name == "keep":
        (growing.objects / ours).with_suffix(".keep").touch()
    else:
        git(growing.work, "multi-pack-index", "write")
    growing.grow(2)
    growing.pack()
    assert ours in growing.files("pack/*.pack") and growing.is_whole()


def test_without_what_was_noted_all_that_is_loose_is_packed(growing: Growing) -> None:
    growing.grow(2)
    growing.pack()
    growing.packs = ()
    growing.grow(2)
    growing.pack()
    assert growing.is_whole()
    (newest,) = growing.packs
    assert newest.commits == 4 and len(growing.files("pack/*.pack")) == 2


def test_a_line_that_was_given_up_loses_nothing(growing: Growing) -> None:
    """As after another machine's events came first: the packed commits may be named elsewhere."""
    growing.grow(3)
    growing.pack()
    given_up, text = growing.tip, growing.text
    git(growing.work, "update-ref", REF, f"{REF}~2")
    git(growing.work, "tag", "named", str(given_up))
    growing.tip, growing.text = git(growing.work, "rev-parse", REF).strip(), text[: len(text) // 3]
    growing.grow(4)
    growing.pack()
    assert growing.is_whole() and git(growing.work, "cat-file", "-t", "named").strip() == "commit"


class Dead(BaseException):
    pass


@pytest.mark.parametrize("step", ["sync_folder", "_list_packed", "_remove"])
def test_an_interruption_loses_nothing(
    growing: Growing, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    growing.grow(1)
    growing.pack()
    growing.grow(2)
    calls: Iterator[int] = iter(range(10))

    real = getattr(module, step)

    def dead(*args: object) -> object:
        """The index of the old pack is read before the new one is made: there is nothing to lose
        yet.
        """
        if step == "_held" and next(calls) == 0:
            return real(*args)
        raise Dead

    with monkeypatch.context() as patch:
        patch.setattr(module, step, dead)
        with pytest.raises(Dead):
            growing.pack()
    assert growing.is_whole()
    growing.pack()
    assert growing.is_whole() and sum(each.commits for each in growing.packs) == 3


def test_no_object_goes_that_the_pack_does_not_name(
    growing: Growing, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Should git one day write less than it was told to."""
    growing.grow(2)
    before = growing.loose
    real = Repository.git

    def half(self: Repository, *args: str, **keywords: object) -> object:
        if args[0] == "pack-objects":
            keywords["stdin"] = b"\n".join(bytes(keywords["stdin"]).split(b"\n")[:1]) + b"\n"
        return real(self, *args, **keywords)

    monkeypatch.setattr(Repository, "git", half)
    growing.pack()
    assert len(before - growing.loose) == 1 and growing.is_whole()


def test_a_damaged_note_of_packs_names_no_file_elsewhere() -> None:
    packs = [Pack("pack-" + "a" * 40, "c0ffee", 3), Pack("", "c0ffee", 1)]
    assert packs_of(rows_of(packs)) == packs
    for rows in (
        None,
        {},
        [["../../x", "c0ffee", 1]],
        [["pack-1", "c0ffee", 1]],
        [["", "--all", 1]],
        [[]],
    ):
        with pytest.raises(ValueError, match="no pack"):
            packs_of(rows)


def test_git_at_work_meanwhile_misses_nothing(growing: Growing) -> None:
    """A reader that opened the repository before finds every object after."""
    growing.grow(3)
    reader = subprocess.Popen(
        ["git", "cat-file", "--batch-check"],
        cwd=growing.work,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert reader.stdin and reader.stdout
    parts = git(growing.work, "rev-list", "--objects", REF).split("\n")
    oids = [line.split(" ")[0] for line in parts if line]
    reader.stdin.write(f"{oids[0]}\n".encode())
    reader.stdin.flush()
    assert b"commit" in reader.stdout.readline()
    growing.pack()
    growing.grow(3)
    growing.pack()
    out, _ = reader.communicate("".join(f"{oid}\n" for oid in oids).encode(), 30)
    assert out.count(b"\n") == len(oids) and b"missing" not in out
