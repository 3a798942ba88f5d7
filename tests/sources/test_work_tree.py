"""The work tree's fingerprint on real repositories: what plain git would not say, and what it may
not say wrongly.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from builders import a_contract
from herorun.core.errors import CouldNotLook, WrongUse
from herorun.core.evidence import WorkTree
from herorun.sources.work_tree import read_work_tree
from herorun.system.git import find_repository
from stories import git

FILES = {
    "train.py": "import model\n",
    "model.py": "VALUE = 1\n",
    "run.sh": "#!/bin/sh\ntrue\n",
    "pkg/deep/part.py": "x = 1\n",
    "notes.txt": "one\ntwo\n",
}


@pytest.fixture(scope="session")
def template() -> Iterator[Path]:
    """A committed repository, made once: a test gets a copy."""
    folder = (
        Path("/dev/shm" if os.access("/dev/shm", os.W_OK) else "/tmp")
        / f"herorun-tree-{os.getpid()}"
    )
    work = folder / "work"
    work.mkdir(parents=True)
    git(work, "init", "-q", "--template=", "-b", "main")
    git(work, "config", "user.name", "Dri")
    git(work, "config", "user.email", "dri@example.org")
    (work / ".git" / "info").mkdir()
    for name, content in FILES.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(content)
    (work / "run.sh").chmod(0o755)
    (work / "link").symlink_to("run.sh")
    commit(work)
    yield work
    shutil.rmtree(folder)


@pytest.fixture
def work(template: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(home / "global"))
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    return Path(shutil.copytree(template, home / "work", symlinks=True))


def commit(work: Path, message: str = "code") -> str:
    git(work, "add", "-A")
    git(work, "commit", "-q", "-m", message)
    return git(work, "rev-parse", "HEAD").strip()


def read(start: Path, **command: object) -> WorkTree:
    contract = a_contract(command={"argv": ["python", "train.py"], **command})
    return read_work_tree(find_repository(start), contract)


def configure(work: Path, *settings: str) -> None:
    for each in settings:
        key, _, value = each.partition("=")
        git(work, "config", key, value)


# --- what differs ---------------------------------------------------------------------------------


def test_a_clean_tree_has_nothing_to_say(work: Path) -> None:
    assert read(work) == WorkTree(commit=git(work, "rev-parse", "HEAD").strip(), branch="main")


def test_staged_modified_untracked_deleted(work: Path) -> None:
    (work / "train.py").write_text("staged\n")
    git(work, "add", "train.py")
    (work / "model.py").write_text("modified\n")
    (work / "notes.txt").unlink()
    (work / "new" / "folder").mkdir(parents=True)
    (work / "new" / "folder" / "file").write_text("x")
    tree = read(work)
    assert (tree.staged, tree.unstaged) == (("train.py",), ("model.py", "notes.txt"))
    assert tree.untracked == ("new/folder/file",)


def test_touching_a_file_changes_nothing(work: Path) -> None:
    os.utime(work / "train.py", (0, 0))
    (work / "model.py").write_text(FILES["model.py"])
    assert read(work).dirty == ()


def test_an_edit_of_the_same_size_in_the_same_instant_is_seen(work: Path) -> None:
    """The index cannot tell by the clock, and must look inside."""
    for value in range(2, 6):
        (work / "model.py").write_text(f"VALUE = {value}\n")
        commit(work)
        (work / "model.py").write_text(f"VALUE = {value + 4}\n")
        assert read(work).unstaged == ("model.py",)


def test_looking_writes_nothing(work: Path) -> None:
    (work / "hidden").write_text("x")
    git(work, "add", "hidden")
    git(work, "update-index", "--assume-unchanged", "hidden")
    (work / "hidden").write_text("y")
    os.utime(work / "train.py", (0, 0))  # tempts git to refresh the index
    before = {path: path.read_bytes() for path in (work / ".git").rglob("*") if path.is_file()}
    assert read(work).hidden == ("hidden",)
    assert {
        path: path.read_bytes() for path in (work / ".git").rglob("*") if path.is_file()
    } == before


def test_a_conflict_is_a_change(work: Path) -> None:
    git(work, "checkout", "-q", "-b", "side")
    (work / "model.py").write_text("side\n")
    commit(work)
    git(work, "checkout", "-q", "main")
    (work / "model.py").write_text("main\n")
    commit(work)
    with pytest.raises(AssertionError, match="merge"):
        git(work, "merge", "-q", "side")
    assert "model.py" in read(work).unstaged


# --- hidden behind flags of the index -------------------------------------------------------------


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_a_flag_hides_no_edit(work: Path, flag: str) -> None:
    git(work, "update-index", flag, "model.py", "train.py", "link")
    assert read(work).hidden == ()
    (work / "model.py").write_text("VALUE = 2\n")
    assert git(work, "status", "--porcelain") == ""
    assert read(work).hidden == ("model.py",)


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_nor_a_mode_nor_a_link(work: Path, flag: str) -> None:
    git(work, "update-index", flag, "run.sh", "link")
    (work / "run.sh").chmod(0o644)
    (work / "link").unlink()
    (work / "link").symlink_to("train.py")
    assert sorted(read(work).hidden) == ["link", "run.sh"]


def test_nor_that_a_file_is_gone(work: Path) -> None:
    git(work, "update-index", "--assume-unchanged", "model.py")
    (work / "model.py").unlink()
    assert read(work).hidden == ("model.py",)


def test_ignoring_the_stat_hides_no_edit(work: Path) -> None:
    configure(work, "core.ignoreStat=true")
    for name in FILES:  # each is marked when it is added
        (work / name).write_text((work / name).read_text() + "#\n")
    commit(work)
    (work / "model.py").write_text("VALUE = 2\n")
    assert git(work, "status", "--porcelain") == ""
    tree = read(work)
    assert (tree.hidden, tree.settings) == (("model.py",), ("core.ignoreStat=true",))


@pytest.mark.parametrize("cone", ["--cone", "--no-cone"])
def test_what_a_sparse_checkout_leaves_out_is_no_edit(work: Path, cone: str) -> None:
    git(work, "status")  # a copy has other stats, and what may have changed is not removed
    git(work, "sparse-checkout", "set", cone, "nothing" if cone == "--cone" else "/train.py")
    assert not (work / "pkg").exists()
    tree = read(work)
    assert (tree.dirty, tree.settings) == ((), ("core.sparseCheckout=true",))
    (work / "pkg" / "deep").mkdir(parents=True)
    (work / "pkg" / "deep" / "part.py").write_text("x = 2\n")
    tree = read(work)
    assert (*tree.hidden, *tree.unstaged) == ("pkg/deep/part.py",)


def test_an_index_in_another_form_hides_nothing_either(work: Path) -> None:
    configure(work, "core.splitIndex=true", "index.version=4")
    git(work, "update-index", "--split-index", "--index-version=4")
    git(work, "update-index", "--assume-unchanged", "model.py")
    (work / "model.py").write_text("VALUE = 2\n")
    assert read(work).hidden == ("model.py",)


def test_nor_does_a_sparse_one(work: Path) -> None:
    git(work, "status")
    git(work, "sparse-checkout", "set", "--cone", "--sparse-index", "nothing")
    git(work, "update-index", "--assume-unchanged", "model.py")
    (work / "model.py").write_text("VALUE = 2\n")
    tree = read(work)
    assert (tree.hidden, tree.unstaged) == (("model.py",), ())


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to root")
def test_a_folder_that_git_may_not_open_is_not_empty(work: Path) -> None:
    (work / "closed").mkdir(mode=0)
    with pytest.raises(CouldNotLook, match=r"directory.*closed/"):
        read(work)


# --- hidden behind settings of git ----------------------------------------------------------------


def test_hiding_untracked_files_hides_none(work: Path) -> None:
    configure(work, "status.showUntrackedFiles=no")
    (work / "new").write_text("x")
    tree = read(work)
    assert (tree.untracked, tree.settings) == (("new",), ("status.showUntrackedFiles=no",))


def test_modes_count_where_git_was_told_to_ignore_them(work: Path) -> None:
    configure(work, "core.fileMode=false")
    (work / "run.sh").chmod(0o644)
    (work / "train.py").chmod(0o755)
    assert git(work, "status", "--porcelain") == ""
    tree = read(work)
    assert tree.unstaged == tree.mode_only == ("run.sh", "train.py")
    assert tree.settings == ("core.fileMode=false",)


def test_a_file_system_without_modes_changes_none(work: Path) -> None:
    configure(work, "core.fileMode=false")
    for path in (*(work / name for name in FILES), work / ".git" / "HEAD"):
        path.chmod(0o755)
    assert read(work).dirty == ()


def test_an_edit_that_keeps_size_and_time_is_seen_by_its_ctime(work: Path) -> None:
    configure(work, "core.trustctime=false", "core.checkStat=minimal")
    git(work, "status")
    path, stat = work / "model.py", (work / "model.py").stat()
    os.utime(work / ".git" / "index", ns=(stat.st_mtime_ns + 10**10,) * 2)
    path.write_text("VALUE = 2\n")
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert git(work, "--no-optional-locks", "status", "--porcelain") == ""
    tree = read(work)
    assert tree.unstaged == ("model.py",)
    assert tree.settings == ("core.trustctime=false", "core.checkStat=minimal")


def test_a_monitor_that_says_nothing_changed_is_not_asked(work: Path) -> None:
    hook = work.parent / "monitor"
    hook.write_text(f"#!/bin/sh\ntouch {work.parent}/asked\nprintf 'token\\0'\n")
    hook.chmod(0o755)
    configure(work, f"core.fsmonitor={hook}", "core.untrackedCache=true")
    git(work, "status", "--porcelain")
    git(work, "status", "--porcelain")
    (work.parent / "asked").unlink()
    (work / "model.py").write_text("VALUE = 2\n")
    assert git(work, "--no-optional-locks", "status", "--porcelain") == ""
    (work.parent / "asked").unlink()
    tree = read(work)
    assert tree.unstaged == ("model.py",)
    assert tree.settings == (f"core.fsmonitor={hook}", "core.untrackedCache=true")
    assert not (work.parent / "asked").exists()


def test_settings_that_hide_nothing_are_not_named(work: Path) -> None:
    configure(
        work,
        "core.fileMode=true",
        "core.fsmonitor=false",
        "core.autocrlf=false",
        "core.trustctime=true",
    )
    configure(work, "status.showUntrackedFiles=normal", "diff.ignoreSubmodules=none")
    assert read(work).settings == ()


# --- nothing but the line endings, nothing but the mode -------------------------------------------


def test_line_endings_alone(work: Path) -> None:
    (work / "notes.txt").write_bytes(b"one\r\ntwo\r\n")
    (work / "model.py").write_bytes(b"VALUE = 2\r\n")
    (work / "train.py").write_bytes(b"import model\r\n")
    git(work, "add", "train.py")
    tree = read(work)
    assert (tree.staged, tree.unstaged) == (("train.py",), ("model.py", "notes.txt"))
    assert set(tree.eol_only) == {"notes.txt", "train.py"}


def test_line_endings_that_git_converts(work: Path) -> None:
    """`git diff` shows nothing, and the bytes on the disk are not those of the commit."""
    configure(work, "core.autocrlf=true")
    (work / "notes.txt").write_bytes(b"one\r\ntwo\r\n")
    assert git(work, "diff", "--stat") == ""
    tree = read(work)
    assert tree.unstaged == tree.eol_only == ("notes.txt",)
    assert tree.settings == ("core.autocrlf=true",)


def test_a_mode_alone_and_a_mode_with_more(work: Path) -> None:
    for name in ("train.py", "model.py", "notes.txt"):
        (work / name).chmod(0o755)
    (work / "model.py").write_text("VALUE = 2\n")
    (work / "notes.txt").write_bytes(b"one\r\ntwo\r\n")
    git(work, "update-index", "--chmod=-x", "run.sh")
    (work / "run.sh").chmod(0o644)
    tree = read(work)
    assert set(tree.mode_only) == {"train.py", "run.sh"}
    assert tree.eol_only == ()


# --- names, places and states ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (b"caf\xe9.py", "caf\\xe9.py"),
        (b'new\nline "q".py', 'new\\nline "q".py'),
        ("日本 a.py".encode(), "日本 a.py"),
    ],
)
def test_any_name(work: Path, name: bytes, text: str) -> None:
    path = work / os.fsdecode(name)
    path.write_text("1\n")
    assert read(work).untracked == (text,)
    commit(work)
    path.write_text("2\n")
    assert read(work).unstaged == (text,)
    git(work, "update-index", "--assume-unchanged", os.fsdecode(name))
    assert read(work).hidden == (text,)


def test_a_detached_head_has_no_branch(work: Path) -> None:
    git(work, "checkout", "-q", "--detach")
    assert read(work).branch is None


def test_from_a_subfolder_it_is_the_whole_tree(work: Path) -> None:
    (work / "new").write_text("x")
    assert read(work / "pkg" / "deep").untracked == ("new",)


def test_a_linked_work_tree_is_its_own(work: Path) -> None:
    """The stash that all of them share is no change of it."""
    (work / "model.py").write_text("stashed\n")
    git(work, "stash", "-q")
    linked_path = work.parent / "linked"
    git(work, "worktree", "add", "-q", "--detach", str(linked_path))
    (work / "model.py").write_text("VALUE = 2\n")
    (linked_path / "only.py").write_text("VALUE = 1\n")
    commit(linked_path)
    git(linked_path, "update-index", "--assume-unchanged", "only.py")
    (linked_path / "only.py").write_text("VALUE = 2\n")
    tree = read(linked_path)
    assert (tree.linked, tree.branch, tree.dirty) == (True, None, ("only.py (hidden)",))
    assert not read(work).linked


def test_a_shallow_clone_says_so(work: Path) -> None:
    (work / "more").write_text("x")
    commit(work)
    shallow = work.parent / "shallow"
    git(work.parent, "clone", "-q", "--depth=1", f"file://{work}", str(shallow))
    assert read(shallow).shallow
    assert not read(work).shallow


def test_replaced_objects_are_named_and_not_followed(work: Path) -> None:
    first = git(work, "rev-parse", "HEAD:model.py").strip()
    (work / "other").write_text("VALUE = 2\n")
    second = git(work, "hash-object", "-w", "other").strip()
    (work / "other").unlink()
    git(work, "replace", first, second)
    tree = read(work)
    assert (tree.replaced, tree.dirty) == ((first,), ())
    git(work, "replace", "-d", first)
    (work / ".git" / "info" / "grafts").write_text(f"{tree.commit}\n")
    assert read(work).replaced == ("info/grafts",)


def test_an_unborn_branch_and_a_bare_repository_are_wrong_use(work: Path) -> None:
    empty, bare = work.parent / "empty", work.parent / "bare"
    git(work.parent, "init", "-q", str(empty))
    with pytest.raises(WrongUse, match="commit"):
        read(empty)
    git(work.parent, "init", "-q", "--bare", str(bare))
    with pytest.raises(WrongUse, match=r"bare.*repository"):
        read(bare)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_dubious_ownership_says_how_to_trust_it(work: Path) -> None:
    for path in (work, work / ".git"):
        os.chown(path, 12345, 12345)
    with pytest.raises(WrongUse, match=rf"git config .*--global.* safe\.directory {work}"):
        read(work)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_dubious_ownership_names_the_folder_wherever_one_stands(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (work / "deep").mkdir()
    for path in (work, work / ".git", work / "deep"):
        os.chown(path, 12345, 12345)
    monkeypatch.chdir(work / "deep")
    with pytest.raises(WrongUse, match=rf"safe\.directory {work}`"):
        find_repository(Path("."))


# --- what leaks in from around --------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"]
)
def test_a_leaked_variable_points_nowhere_else(
    work: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    other = work.parent / "other"
    git(work.parent, "init", "-q", str(other))
    places = {"GIT_DIR": other / ".git", "GIT_WORK_TREE": other, "GIT_INDEX_FILE": other / "index"}
    monkeypatch.setenv(name, str(places.get(name, other / ".git" / "objects")))
    (work / "model.py").write_text("VALUE = 2\n")
    assert read(work).dirty == ("model.py (modified)",)


def test_the_users_programs_are_not_run(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pager, external diff, textconv and hooks; and another language."""
    trap = work.parent / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {work.parent}/ran\nexit 1\n")
    trap.chmod(0o755)
    configure(work, f"core.pager={trap}", f"diff.external={trap}", f"diff.x.textconv={trap}")
    configure(work, f"diff.x.command={trap}", f"core.hooksPath={work.parent}", "status.branch=true")
    (work / ".gitattributes").write_text("* diff=x\n")
    (work.parent / "post-index-change").symlink_to(trap)
    for name in ("GIT_PAGER", "GIT_EXTERNAL_DIFF", "PAGER"):
        monkeypatch.setenv(name, str(trap))
    monkeypatch.setenv("LANG", "de_DE.UTF-8")
    git(work, "update-index", "--assume-unchanged", "train.py")
    (work / "train.py").write_text("x\n")
    (work / "run.sh").chmod(0o644)
    (work.parent / "ran").unlink(missing_ok=True)
    tree = read(work)
    assert (tree.mode_only, tree.hidden) == (("run.sh",), ("train.py",))
    assert not (work.parent / "ran").exists()


def test_a_partial_clone_downloads_nothing_because_we_look(work: Path) -> None:
    configure(work, "uploadpack.allowFilter=true", "uploadpack.allowAnySHA1InWant=true")
    partial = work.parent / "partial"
    git(
        work.parent,
        "clone",
        "-q",
        "--filter=blob:none",
        "--no-checkout",
        f"file://{work}",
        str(partial),
    )
    git(partial, "sparse-checkout", "set", "--no-cone", "/train.py")
    git(partial, "checkout", "-q", "main")
    (partial / "train.py").chmod(0o755)
    git(partial, "rm", "-q", "--cached", "--sparse", "notes.txt")
    (partial / "model.py").write_text("VALUE = 2\n")  # what HEAD has there is not here
    objects = sorted((partial / ".git" / "objects").rglob("*"))
    tree = read(partial)
    assert (tree.staged, tree.unstaged) == (("notes.txt",), ("model.py", "train.py"))
    assert sorted((partial / ".git" / "objects").rglob("*")) == objects


def test_a_damaged_index_is_no_answer(work: Path) -> None:
    (work / ".git" / "index").write_bytes(b"junk")
    with pytest.raises(CouldNotLook):
        read(work)


# --- pointers of Git LFS --------------------------------------------------------------------------

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 5000000\n".format(
    "ab" * 32
)


def test_lfs_pointers_in_place_of_content(work: Path) -> None:
    (work / "data").mkdir()
    (work / "data" / ".gitattributes").write_text("*.bin filter=lfs diff=lfs merge=lfs -text\n")
    (work / "data" / "a b.bin").write_text(POINTER)
    (work / "data" / "whole.bin").write_text("real content\n")
    (work / "data" / "like.txt").write_text(POINTER)
    commit(work)
    tree = read(work)
    assert (tree.pointers, tree.dirty) == (("data/a b.bin",), ())
    # the job's copy has pointers only
    configure(work, "filter.lfs.smudge=git-lfs smudge --skip -- %f")
    assert read(work).pointers == ("data/a b.bin", "data/whole.bin")
