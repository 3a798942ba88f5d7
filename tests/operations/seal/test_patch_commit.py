"""The edits that instances ran with, as commits under tags of their own: in real clones with a
real remote.
"""

from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from builders import NOON
from herorun.core.errors import Blocked, CouldNotLook
from herorun.core.evidence import Snapshot
from herorun.core.plan import snapshot_ref
from herorun.operations.seal.patch_commit import keep_edits
from herorun.system.git import find_repository
from herorun.system.git.plumbing import commit_files, move_ref
from herorun.system.git.worktree_snapshot import canonical_diff, take_snapshot
from stories import Story, git

RECORD = "refs/herorun/record/tiny"
EDIT = "seed = 8\n"


class Edits:
    """A clone whose second instance ran with an edit, of which its record knows."""

    def __init__(self, home: Path) -> None:
        self.story = Story(home).begin()
        self.repository = find_repository(self.story.work)
        self.head = git(self.story.work, "rev-parse", "HEAD").strip()
        (self.story.work / "config.toml").write_text(EDIT)
        self.snapshot = self._snapshot()
        git(self.story.work, "checkout", "-q", "config.toml")
        self.tag = f"herorun/tiny/edits-{self.snapshot.tree[:12]}"
        self.ref = snapshot_ref("tiny", self.snapshot.tree)
        move_ref(self.repository, self.ref, self.snapshot.commit, None)

    def _snapshot(self) -> Snapshot:
        snapshot = take_snapshot(self.repository, self.head, (), 1 << 20)
        assert snapshot is not None
        return snapshot

    def lose(self) -> None:
        """The approved snapshot is neither here nor on the remote."""
        git(self.story.work, "update-ref", "-d", self.ref)

    def record(self, diff: bytes) -> None:
        path = f"files/patch-{self.snapshot.diff[7:19]}.diff"
        commit_files(self.repository, RECORD, None, {path: diff}, "the diff", NOON)

    @property
    def diff(self) -> bytes:
        return canonical_diff(self.repository, self.head, self.snapshot.commit)

    def keep(self, is_edited: bool = True) -> dict[str, str]:
        patch = {key: asdict(self.snapshot)[key] for key in ("commit", "tree", "diff")}
        run: Any = SimpleNamespace(
            slug="tiny",
            repository=self.repository,
            record=SimpleNamespace(tip=self.repository.resolve(RECORD), files_path="files"),
            contract=SimpleNamespace(code=SimpleNamespace(remote="origin")),
        )
        memory: Any = SimpleNamespace(
            instances=[SimpleNamespace(name=f"tiny-{n}", commit=self.head) for n in (1, 2)],
            edits=SimpleNamespace(patches={"tiny-2": patch} if is_edited else {}),
        )
        return keep_edits(run, memory)

    def tag_commit(self, where: Path) -> str:
        """The commit of the edits' tag in a repository; empty without a tag."""
        return git(
            where, "for-each-ref", "--format=%(*objectname)", f"refs/tags/{self.tag}"
        ).strip()

    @property
    def tags(self) -> tuple[str, str]:
        """Here, and on the remote."""
        return self.tag_commit(self.story.work), self.tag_commit(self.story.origin)


@pytest.fixture
def edits(tmp_path: Path) -> Edits:
    return Edits(tmp_path)


def test_only_instances_that_ran_edits_get_a_tag(edits: Edits) -> None:
    assert edits.keep(is_edited=False) == {}
    assert edits.tags == ("", "")
    commit = edits.snapshot.commit
    for _ in range(2):
        assert edits.keep() == {"tiny-2": commit}
        assert edits.tags == (commit, commit)
    assert git(edits.story.origin, "show", f"{edits.tag}:config.toml") == EDIT


def test_edits_that_only_the_remote_has_are_fetched(edits: Edits) -> None:
    git(edits.story.work, "push", "-q", "origin", f"{edits.ref}:{edits.ref}")
    edits.lose()
    assert edits.keep() == {"tiny-2": edits.snapshot.commit}
    assert edits.repository.resolve(edits.ref) == edits.snapshot.commit


def test_edits_that_are_lost_are_made_again_from_the_diff_in_the_record(edits: Edits) -> None:
    edits.record(edits.diff)
    edits.lose()
    git(edits.story.work, "prune", "--expire=now")
    assert edits.keep() == {"tiny-2": edits.snapshot.commit}
    assert edits.tags == (edits.snapshot.commit,) * 2


@pytest.mark.parametrize("has_record", [False, True])
def test_edits_of_which_nothing_is_left_get_no_tag(edits: Edits, has_record: bool) -> None:
    if has_record:
        commit_files(edits.repository, RECORD, None, {"files/other": b"x"}, "x", NOON)
    edits.lose()
    assert edits.keep() == {}
    assert edits.tags == ("", "")


def test_a_diff_that_makes_another_commit_is_refused(edits: Edits) -> None:
    edits.record(edits.diff.replace(b"+seed = 8", b"+seed = 9"))
    edits.lose()
    with pytest.raises(Blocked, match="tiny-2"):
        edits.keep()
    assert edits.tags == ("", "")


def test_another_tag_of_that_name_in_this_clone_is_not_moved(edits: Edits) -> None:
    git(edits.story.work, "tag", "-a", "-m", "other", edits.tag, "HEAD")
    with pytest.raises(Blocked, match=edits.tag):
        edits.keep()
    assert edits.tags == (edits.head, "")


def test_without_the_remote_the_tag_stays_here(edits: Edits) -> None:
    git(edits.story.work, "remote", "rename", "origin", "upstream")
    assert edits.keep() == {"tiny-2": edits.snapshot.commit}
    assert edits.tags == (edits.snapshot.commit, "")


def test_another_clones_tag_of_the_same_commit_is_left(edits: Edits) -> None:
    git(edits.story.work, "tag", "-a", "-m", "by another", edits.tag, edits.snapshot.commit)
    git(edits.story.work, "push", "-q", "origin", f"refs/tags/{edits.tag}")
    theirs = git(edits.story.origin, "rev-parse", edits.tag)
    git(edits.story.work, "tag", "-d", edits.tag)
    assert edits.keep() == {"tiny-2": edits.snapshot.commit}
    assert git(edits.story.origin, "rev-parse", edits.tag) == theirs
    assert git(edits.story.work, "rev-parse", edits.tag) != theirs


def test_another_commit_on_the_remote_is_never_overwritten(edits: Edits) -> None:
    git(
        edits.story.origin,
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@b",
        "tag",
        "-a",
        "-m",
        "other",
        edits.tag,
        edits.head,
    )
    with pytest.raises(Blocked, match=edits.tag):
        edits.keep()
    assert edits.tag_commit(edits.story.origin) == edits.head


def test_a_tag_on_the_remote_that_names_no_commit_is_not_judged(edits: Edits) -> None:
    """A lightweight one: the remote does not list what it points at."""
    git(edits.story.origin, "update-ref", f"refs/tags/{edits.tag}", edits.head)
    with pytest.raises(CouldNotLook, match=edits.tag):
        edits.keep()
    assert git(edits.story.origin, "rev-parse", edits.tag).strip() == edits.head


def test_a_snapshot_that_is_not_what_was_approved_is_no_proof(edits: Edits) -> None:
    """Its ref leads to the commit, and the record names another diff."""
    edits.snapshot = replace(edits.snapshot, diff="sha256:" + "0" * 64)
    assert edits.keep() == {}
    assert edits.tags == ("", "")
