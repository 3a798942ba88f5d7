"""Published means reachable, as the remote answers now, from a ref that the contract names: real
remotes.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from builders import a_contract
from herorun.core.contract import Contract
from herorun.core.errors import CouldNotLook
from herorun.core.evidence import Nothing, Published, RemoteTips, WorkTree
from herorun.sources.published_commit import (
    is_ref_named,
    read_published,
    read_remote_tips,
    read_remotes,
)
from herorun.system.git import Repository, find_repository
from services.git_http import GitServer, serving
from stories import git
from wording import mentions

PROBE = "refs/herorun/probe/"
_COUNT = count()


@dataclass
class World:
    """A remote, the clone that is launched from, and what others push there."""

    home: Path

    @property
    def origin(self) -> Path:
        return self.home / "origin.git"

    @property
    def work(self) -> Path:
        return self.home / "work"

    @property
    def repository(self) -> Repository:
        return find_repository(self.work)

    def commit(self, name: str = "train.py", where: Path | None = None) -> str:
        work = where or self.work
        with (work / name).open("a") as file:
            file.write(f"{next(_COUNT)}\n")  # else two clones make the very same commit
        git(work, "add", "-A")
        git(work, "commit", "-q", "-m", f"changes {name}")
        return git(work, "rev-parse", "HEAD").strip()

    def push(self, *refs: str, where: Path | None = None, to: str = "origin") -> None:
        git(where or self.work, "push", "-q", to, *refs)

    def other(self) -> Path:
        """Somebody else's clone of the same remote."""
        work = self.home / "other"
        git(self.home, "clone", "-q", str(self.origin), str(work))
        return work

    def tree(self, **changes: Any) -> WorkTree:
        """HEAD as the work tree's source tells it."""
        commit = git(self.work, "rev-parse", "HEAD").strip()
        branch = git(self.work, "branch", "--show-current").strip() or None
        return WorkTree(**{"commit": commit, "branch": branch, **changes})

    def read(self, refs: tuple[str, ...] = ("refs/heads/*",), **changes: Any) -> Published:
        contract = a_contract(code={"refs": refs})
        evidence = read(self.repository, contract, self.tree(**changes))
        assert git(self.work, "for-each-ref", PROBE) == ""
        return evidence


def read(repository: Repository, contract: Contract, tree: WorkTree) -> Published:
    tips = read_remote_tips(repository, contract, read_remotes(repository))
    assert isinstance(tips, RemoteTips)
    return read_published(repository, contract, tree, tips)


@pytest.fixture(scope="session")
def template() -> Iterator[Path]:
    """A remote and a clone with one commit on main, made once: a test gets a copy."""
    home = (
        Path("/dev/shm" if os.access("/dev/shm", os.W_OK) else "/tmp")
        / f"herorun-published-{os.getpid()}"
    )
    (home / "work").mkdir(parents=True)
    (home / "global").write_text("[user]\nname = Dri\nemail = dri@example.org\n[gc]\nauto = 0\n")
    git(home, "init", "-q", "--bare", "--template=", "-b", "main", "origin.git")
    git(home / "work", "init", "-q", "--template=", "-b", "main")
    yield home
    shutil.rmtree(home)


@pytest.fixture
def world(template: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    shutil.copytree(template, home, dirs_exist_ok=True)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(home / "global"))
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    world = World(home)
    git(world.work, "remote", "add", "origin", str(world.origin))
    world.commit()
    world.push("main")
    return world


@pytest.fixture
def server(world: World) -> Iterator[GitServer]:
    """The same remote over HTTP."""
    with serving(world.home) as server:
        git(world.work, "remote", "set-url", "origin", f"{server.url}/origin.git")
        yield server


# --- reachable, or not ----------------------------------------------------------------------------


def test_the_tip_of_the_branch(world: World) -> None:
    evidence = world.read()
    assert evidence.refs == ("refs/heads/main",)
    assert (evidence.ref, evidence.tip, evidence.behind, evidence.behind_files) == (
        "refs/heads/main",
        evidence.commit,
        0,
        (),
    )


def test_a_commit_that_was_not_pushed(world: World) -> None:
    world.commit()
    assert world.read() == Published(remote="origin", commit=world.tree().commit, refs=())


def test_a_stale_remote_tracking_ref_proves_nothing(world: World) -> None:
    commit = world.commit()
    world.push("main")
    other = world.other()
    git(other, "reset", "-q", "--hard", "HEAD^")
    world.commit(where=other)
    world.push("+HEAD:main", where=other)
    assert git(world.work, "rev-parse", "origin/main").strip() == commit
    evidence = world.read()
    assert (evidence.refs, evidence.elsewhere, evidence.why_not) == ((), (), "")
    assert git(world.work, "rev-parse", "origin/main").strip() == commit  # and it is the user's


def test_a_commit_that_only_a_fork_has(world: World) -> None:
    git(world.home, "clone", "-q", "--bare", str(world.origin), "fork.git")
    git(world.work, "remote", "add", "fork", str(world.home / "fork.git"))
    world.commit()
    world.push("main", to="fork")
    assert world.read().refs == ()


@pytest.mark.parametrize("ref", ["refs/pull/7/head", "refs/heads/somebody/idea", "refs/tags/v1"])
def test_a_commit_under_another_ref_is_elsewhere(world: World, ref: str) -> None:
    world.commit()
    world.push(f"HEAD:{ref}")
    evidence = world.read(refs=("refs/heads/main",))
    assert (evidence.refs, evidence.elsewhere, evidence.ref) == ((), (ref,), None)


def test_a_commit_below_the_known_tip_of_another_ref_is_elsewhere(world: World) -> None:
    world.commit()
    world.commit()
    world.push("HEAD:refs/heads/idea")
    git(world.work, "reset", "-q", "--hard", "HEAD^")
    assert world.read(refs=("refs/heads/main",)).elsewhere == ("refs/heads/idea",)


def test_the_record_is_no_code_unless_it_is_named(world: World) -> None:
    world.commit()
    world.push("HEAD:refs/heads/herorun/tiny", "HEAD:refs/herorun/kept/x")
    evidence = world.read()
    assert (evidence.refs, evidence.elsewhere) == ((), ())
    assert world.read(refs=("refs/heads/herorun/tiny",)).refs == ("refs/heads/herorun/tiny",)


def test_an_annotated_tag_stands_for_its_commit(world: World) -> None:
    world.commit()
    git(world.work, "tag", "-a", "-m", "one", "v1")
    world.push("v1")
    evidence = world.read(refs=("refs/tags/*",))
    assert (evidence.refs, evidence.behind) == (("refs/tags/v1",), 0)
    other = world.other()
    git(other, "checkout", "-q", "v1")
    world.commit(where=other)
    git(other, "tag", "-a", "-m", "two", "v2")
    git(other, "push", "-q", "origin", "v2", ":v1")
    assert world.read(refs=("refs/tags/*",)).refs == ("refs/tags/v2",)


def test_a_tag_of_no_commit_is_passed_over(world: World) -> None:
    git(world.work, "tag", "blob", "HEAD:train.py")
    git(world.work, "tag", "-a", "-m", "a tree", "tree", "HEAD^{tree}")
    world.push("blob", "tree")
    world.commit()
    evidence = world.read(refs=("refs/tags/*", "refs/heads/*"))
    assert (evidence.refs, evidence.elsewhere) == ((), ())


@pytest.mark.parametrize(
    ("name", "refs", "is_named"),
    [
        ("refs/heads/main", ("refs/heads/*",), True),
        ("refs/heads/a/b", ("refs/heads/*",), True),
        ("refs/heads/main", ("main",), True),
        ("refs/heads/release-1", ("release-*",), True),
        ("refs/tags/main", ("main",), False),
        ("refs/pull/1/head", ("refs/heads/*",), False),
        ("refs/heads/herorun/tiny", ("refs/heads/*",), False),
        ("refs/heads/herorun/tiny", ("refs/heads/herorun/*",), False),
        ("refs/heads/herorun/tiny", ("herorun/tiny",), True),
    ],
)
def test_which_refs_the_contract_names(name: str, refs: tuple[str, ...], is_named: bool) -> None:
    assert is_ref_named(name, refs) is is_named


# --- measured against the right ref ---------------------------------------------------------------


def test_behind_a_tip_that_is_not_known_here(world: World) -> None:
    other = world.other()
    for name in ("model.py", "README.md", "model.py"):
        tip = world.commit(name, where=other)
    world.push("main", where=other)
    evidence = world.read()
    assert (evidence.ref, evidence.tip, evidence.behind) == ("refs/heads/main", tip, 3)
    assert evidence.behind_files == ("README.md", "model.py")


def test_what_was_changed_and_changed_back_is_no_difference(world: World) -> None:
    world.commit()
    git(world.work, "revert", "--no-edit", "HEAD")
    world.push("main")
    git(world.work, "reset", "-q", "--hard", "HEAD~2")
    evidence = world.read()
    assert (evidence.behind, evidence.behind_files) == (2, ())


def test_the_ref_named_like_the_branch_counts_first(world: World) -> None:
    world.push("HEAD:refs/heads/copy")
    world.commit()
    world.push("main")
    git(world.work, "reset", "-q", "--hard", "HEAD^")
    assert (world.read().ref, world.read().behind) == ("refs/heads/main", 1)
    git(world.work, "checkout", "-q", "--detach")
    assert (world.read().ref, world.read().behind) == ("refs/heads/copy", 0)


def test_else_the_ref_that_the_branch_follows(world: World) -> None:
    world.push("HEAD:refs/heads/copy")
    other = world.other()
    tip = world.commit(where=other)
    world.push("main", where=other)
    git(world.work, "checkout", "-q", "-b", "mine", "--track", "origin/main")
    assert (world.read().ref, world.read().tip, world.read().behind) == ("refs/heads/main", tip, 1)
    world.push("mine")
    assert (world.read().ref, world.read().behind) == ("refs/heads/mine", 0)


def test_the_branch_is_asked_of_the_remote_even_where_another_tip_is_head(world: World) -> None:
    other = world.other()
    world.push("HEAD:refs/heads/copy", where=other)
    tip = world.commit(where=other)
    world.push("main", where=other)
    assert (world.read().ref, world.read().tip) == ("refs/heads/main", tip)


def test_else_the_ref_that_is_least_ahead(world: World) -> None:
    start = world.tree().commit
    for name in ("near", "middle", "far"):
        world.commit()
        world.push(f"HEAD:refs/heads/{name}")
    world.push("HEAD:main")
    git(world.work, "checkout", "-q", "-B", "mine", start)
    evidence = world.read()
    assert evidence.refs == tuple(
        f"refs/heads/{name}" for name in ("far", "main", "middle", "near")
    )
    assert (evidence.ref, evidence.behind) == ("refs/heads/near", 1)


def test_a_branch_of_the_same_name_that_went_another_way_is_not_measured(world: World) -> None:
    world.commit()
    world.push("HEAD:refs/heads/merged")
    evidence = world.read()
    assert (evidence.ref, evidence.behind) == ("refs/heads/merged", 0)


def test_a_name_that_is_not_utf8_is_shown(world: World) -> None:
    world.commit(os.fsdecode(b"caf\xe9.py"))
    world.push("main")
    git(world.work, "reset", "-q", "--hard", "HEAD^")
    assert world.read().behind_files == ("caf\\xe9.py",)


def test_a_clone_without_blobs_is_measured_without_them(world: World) -> None:
    git(world.origin, "config", "uploadpack.allowFilter", "true")
    shutil.rmtree(world.work)
    git(world.home, "clone", "-q", "--filter=blob:none", f"file://{world.origin}", str(world.work))
    other = world.other()
    world.commit("model.py", where=other)
    world.push("main", where=other)
    assert world.read().behind_files == ("model.py",)


def test_a_linked_work_tree_is_measured_like_the_main_one(world: World) -> None:
    git(world.work, "worktree", "add", "-q", "-b", "side", "../linked")
    repository = find_repository(world.home / "linked")
    commit = git(world.home / "linked", "rev-parse", "HEAD").strip()
    tree = WorkTree(commit=commit, branch="side", linked=True)
    evidence = read(repository, a_contract(), tree)
    assert evidence.ref == "refs/heads/main"


# --- shallow, and what cannot be asked ------------------------------------------------------------


def shallow(world: World) -> None:
    world.commit()
    world.push("main")
    shutil.rmtree(world.work)
    git(world.home, "clone", "-q", "--depth=1", f"file://{world.origin}", str(world.work))


def test_a_shallow_clone_can_tell_a_tip(world: World) -> None:
    shallow(world)
    evidence = world.read(shallow=True)
    assert (evidence.ref, evidence.behind, evidence.why_not) == ("refs/heads/main", 0, "")


def test_a_shallow_clone_cannot_tell_more(world: World) -> None:
    shallow(world)
    other = world.other()
    world.commit(where=other)
    world.push("main", where=other)
    evidence = world.read(shallow=True)
    assert (evidence.refs, evidence.ref) == ((), None)
    assert "shallow" in evidence.why_not
    world.push("HEAD~1:refs/heads/copy", where=other)
    evidence = world.read(shallow=True)
    assert (evidence.refs, evidence.ref) == (("refs/heads/copy",), None)
    assert "shallow" in evidence.why_not


def test_without_the_remote_there_is_nothing_to_ask(world: World) -> None:
    git(world.work, "remote", "rename", "origin", "upstream")
    remote_tips = read_remote_tips(world.repository, a_contract(), read_remotes(world.repository))
    assert isinstance(remote_tips, Nothing) and mentions(remote_tips.why, "remote", "origin")


def test_the_remote_is_asked_without_waiting_for_the_work_tree() -> None:
    assert WorkTree not in read_remote_tips.__annotations__.values()


def test_a_remote_that_is_gone_is_no_answer(world: World) -> None:
    shutil.rmtree(world.origin)
    with pytest.raises(CouldNotLook, match="ls-remote"):
        world.read()


# --- private refs ---------------------------------------------------------------------------------


def test_only_the_refs_of_the_contract_are_fetched(world: World, server: GitServer) -> None:
    other = world.other()
    world.commit(where=other)
    world.push("HEAD:main", "HEAD:refs/heads/idea", where=other)
    unnamed_commit = world.commit(where=other)
    world.push("HEAD:refs/heads/unnamed", where=other)
    world.read(refs=("refs/heads/main",))
    assert not world.repository.has(unnamed_commit)
    assert sum(line.startswith("POST") for line in server.requests) == 3  # ls-remote, and one fetch


def test_nothing_is_fetched_where_nothing_is_unknown(world: World, server: GitServer) -> None:
    world.commit()
    world.read()
    assert sum(line.startswith("POST") for line in server.requests) == 1


def test_private_refs_are_gone_after_an_error_too(
    world: World, server: GitServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = world.other()
    world.commit(where=other)
    world.push("main", where=other)

    def raise_error(*_: object) -> dict[str, str]:
        raise CouldNotLook("the disk is gone")

    monkeypatch.setattr("herorun.sources.published_commit.containing", raise_error)
    with pytest.raises(CouldNotLook, match=r"disk.*gone"):
        world.read()
    assert git(world.work, "for-each-ref", PROBE) == ""


def test_what_a_dead_process_left_goes_and_a_living_one_keeps_its_own(world: World) -> None:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    dead, living = (f"{PROBE}{pid}/tiny/refs/heads/main" for pid in (process.pid, os.getppid()))
    for name in (dead, living):
        git(world.work, "update-ref", name, "HEAD")
    contract = a_contract()
    read(world.repository, contract, world.tree())
    refs = git(world.work, "for-each-ref", "--format=%(refname)", PROBE).split()
    assert refs == [living]


# --- over HTTP ------------------------------------------------------------------------------------


def test_over_http_it_is_the_same(world: World, server: GitServer) -> None:
    assert world.read().ref == "refs/heads/main"
    other = world.other()
    world.commit(where=other)
    world.push("main", where=other)
    assert world.read().behind == 1
    world.commit()
    assert world.read().refs == ()


@pytest.mark.parametrize("fault", [401, 403, 404, 429, 500, "malformed", "cut", "hang"])
def test_a_remote_that_fails_is_could_not_look(
    world: World, server: GitServer, fault: int | str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("herorun.system.git.remote_refs.LISTING", 0.5 if fault == "hang" else 20.0)
    server.fault = fault
    with pytest.raises(CouldNotLook) as error:
        world.read()
    text = str(error.value)
    assert "ls-remote" in text and "\n" not in text
    if fault in (403, 429, 500):
        assert str(fault) in text
