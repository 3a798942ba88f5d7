"""The edits that instances ran with, as commits under tags of their own."""

from types import SimpleNamespace
from typing import Any

import pytest

from herorun.core.errors import Blocked, CouldNotLook
from herorun.operations.seal import patch_commit

TREE = "7" * 40
PATCH: dict[str, Any] = {
    "commit": "c" * 40,
    "tree": TREE,
    "diff": "sha256:d1ff" + "0" * 60,
    "files": 1,
}
TAG = f"herorun/tiny/edits-{TREE[:12]}"


class World:
    """A clone and its remote, as far as a tag of the edits asks for them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_kept = True  # the snapshot that was approved
        self.diffs: dict[str, bytes] = {}
        self.rebuilt = PATCH["commit"]  # what the diff makes
        self.local = PATCH["commit"]  # the commit of the tag in this clone
        self.remotes = {"origin": "url"}
        self.remote_oid: str | None = None
        self.remote_commit: str | None = None
        self.tip: str | None = "7e11"
        self.tagged: list[tuple[str, str]] = []
        self.pushed: list[tuple[str, str, str]] = []
        self.rebuilt_from: list[tuple[str, bytes]] = []
        for name in ("admitted_snapshot", "from_diff", "annotated_tag", "remote_tag", "push"):
            monkeypatch.setattr(patch_commit, name, getattr(self, f"_{name}"))
        monkeypatch.setattr(patch_commit, "local_tag", lambda run, tag: "oid" if tag == TAG else "")

    def _admitted_snapshot(self, run: Any, commit: str, plan: Any) -> None:
        assert plan == {"patch": {"value": PATCH}}
        if not self.is_kept:
            raise Blocked("it is lost")

    def _from_diff(self, repository: Any, commit: str, diff: bytes) -> str:
        self.rebuilt_from.append((commit, diff))
        return str(self.rebuilt)

    def _annotated_tag(self, repository: Any, tag: str, commit: str, message: str) -> str:
        self.tagged.append((tag, commit))
        return "oid"

    def _remote_tag(self, run: Any, tag: str) -> str | None:
        return self.remote_oid if tag == TAG else None

    def _push(self, repository: Any, remote: str, oid: str, ref: str, expected: Any) -> None:
        assert expected is None
        self.pushed.append((remote, oid, ref))

    def _read(self, tip: str, paths: list[str], most: int) -> dict[str, bytes | None]:
        return {path: self.diffs.get(path) for path in paths}

    def keep(self, patches: dict[str, Any] | None = None) -> dict[str, str]:
        repository = SimpleNamespace(
            read=self._read,
            resolve=lambda ref: self.local if ref == f"refs/tags/{TAG}" else None,
            remotes=lambda: self.remotes,
            remote_tips=lambda remote, ref: {ref: self.remote_commit},
        )
        run: Any = SimpleNamespace(
            slug="tiny",
            repository=repository,
            record=SimpleNamespace(tip=self.tip, files_path="files"),
            contract=SimpleNamespace(code=SimpleNamespace(remote="origin")),
        )
        memory: Any = SimpleNamespace(
            instances=[SimpleNamespace(name=f"tiny-{n}", commit=f"base-{n}") for n in (1, 2)],
            edits=SimpleNamespace(patches={"tiny-2": PATCH} if patches is None else patches),
        )
        return patch_commit.keep_edits(run, memory)


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    return World(monkeypatch)


PUSHED = [("origin", "oid", f"refs/tags/{TAG}")]
DIFF = {"files/patch-" + PATCH["diff"][7:19] + ".diff": b"the diff"}


def test_only_instances_that_ran_edits_get_a_tag(world: World) -> None:
    assert world.keep() == {"tiny-2": PATCH["commit"]}
    assert world.tagged == [(TAG, PATCH["commit"])]
    assert (world.pushed, world.rebuilt_from) == (PUSHED, [])
    assert world.keep(patches={}) == {}


def test_edits_that_are_lost_are_made_again_from_the_diff_in_the_record(world: World) -> None:
    world.is_kept, world.diffs = False, DIFF
    assert world.keep() == {"tiny-2": PATCH["commit"]}
    assert world.rebuilt_from == [("base-2", b"the diff")]
    assert (len(world.tagged), world.pushed) == (1, PUSHED)


@pytest.mark.parametrize("tip", ["7e11", None])
def test_edits_of_which_nothing_is_left_get_no_tag(world: World, tip: str | None) -> None:
    world.is_kept, world.tip = False, tip
    world.diffs = {} if tip else DIFF
    assert world.keep() == {}
    assert (world.tagged, world.pushed, world.rebuilt_from) == ([], [], [])


def test_a_diff_that_makes_another_commit_is_refused(world: World) -> None:
    world.is_kept, world.diffs, world.rebuilt = False, DIFF, "e" * 40
    with pytest.raises(Blocked, match="tiny-2"):
        world.keep()
    assert (world.tagged, world.pushed) == ([], [])


def test_another_tag_of_that_name_in_this_clone_is_not_moved(world: World) -> None:
    world.local = "e" * 40
    with pytest.raises(Blocked, match=TAG):
        world.keep()
    assert world.pushed == []


def test_without_the_remote_the_tag_stays_here(world: World) -> None:
    world.remotes = {"upstream": "url"}
    assert world.keep() == {"tiny-2": PATCH["commit"]}
    assert (len(world.tagged), world.pushed) == (1, [])


@pytest.mark.parametrize(
    ("oid", "commit"), [("oid", "e" * 40), ("of another clone", PATCH["commit"])]
)
def test_the_same_tag_or_commit_on_the_remote_is_left(world: World, oid: str, commit: str) -> None:
    world.remote_oid, world.remote_commit = oid, commit
    assert world.keep() == {"tiny-2": PATCH["commit"]}
    assert world.pushed == []


@pytest.mark.parametrize(("commit", "error"), [("e" * 40, Blocked), (None, CouldNotLook)])
def test_another_commit_on_the_remote_is_never_overwritten(
    world: World, commit: str | None, error: type[Exception]
) -> None:
    world.remote_oid, world.remote_commit = "another", commit
    with pytest.raises(error, match=TAG):
        world.keep()
    assert world.pushed == []
