"""A dirty tree as a commit: everything that differs, the same whoever makes it, and nothing of the
user's touched.
"""

import os
from pathlib import Path

import pytest

from herorun.core.errors import CouldNotLook, WrongUse
from herorun.system.git import Repository, find_repository
from herorun.system.git.worktree_snapshot import canonical_diff, describe_snapshot, take_snapshot
from stories import copy, git

CAP = 1_000_000
OLD_DATE = "2026-01-01T00:00:00Z"
KEY = "ghp_" + "a1B2" * 9
SETTINGS = {
    "diff.noprefix": "true",
    "diff.mnemonicPrefix": "true",
    "diff.algorithm": "histogram",
    "diff.context": "0",
    "diff.interHunkContext": "9",
    "diff.indentHeuristic": "false",
    "diff.renames": "copies",
    "diff.external": "/bin/false",
    "diff.loud.textconv": "tr a-z A-Z <",
    "diff.loud.xfuncname": "^line",
    "diff.suppressBlankEmpty": "true",
    "diff.submodule": "log",
    "color.ui": "always",
    "core.abbrev": "4",
    "core.compression": "9",
    "core.quotePath": "true",
    "core.splitIndex": "true",
    "core.safecrlf": "true",
    "commit.gpgSign": "true",
    "i18n.commitEncoding": "ISO-8859-1",
    "status.showUntrackedFiles": "no",
    "user.name": "Somebody Else",
}


@pytest.fixture
def work(template: Path, tmp_path: Path) -> Path:
    copy(template, tmp_path / "work")
    return tmp_path / "work"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small repository with one commit."""
    top = tmp_path_factory.mktemp("snapshot") / "work"
    git(top.parent, "init", "-q", "--template=", "-b", "main", str(top))
    for name in ("edited", "deleted", "script", "assumed", "skipped"):
        (top / name).write_text("".join(f"line {n}\n" for n in range(30)))
    (top / "link").symlink_to("edited")
    (top / ".gitignore").write_text("*.out\nhidden_module.py\n")
    commit(top)
    return top


def commit(top: Path) -> None:
    git(top, "add", "-A")
    who = {
        f"GIT_{r}_{p}": v
        for r in ("AUTHOR", "COMMITTER")
        for p, v in (("NAME", "a"), ("EMAIL", "a@b"))
    }
    dates = {"GIT_AUTHOR_DATE": OLD_DATE, "GIT_COMMITTER_DATE": OLD_DATE}
    git(top, "commit", "-q", "--no-gpg-sign", "-m", "code", env=who | dates)


def edit(top: Path) -> None:
    """Staged and unstaged, new and gone, mode, link, binary, and names of every kind."""
    (top / "edited").write_text("".join(f"line {n}\n" for n in range(30) if n != 15) + "\nend")
    (top / "deleted").unlink()
    (top / "script").chmod(0o755)
    (top / "link").unlink()
    (top / "link").symlink_to("script")
    (top / "new").write_text("staged\n")
    git(top, "add", "new")
    (top / "new").write_text("on disk\n")
    (top / "deep" / "er").mkdir(parents=True)
    (top / "deep" / "er" / os.fsdecode(b"odd-\xff \n*")).write_bytes(bytes(range(256)) * 9)


def open_repository(top: Path) -> tuple[Repository, str]:
    repository = find_repository(top)
    head = repository.resolve("HEAD")
    assert head is not None
    return repository, head


def snapshot_files(top: Path, *ignored_patterns: str, cap: int = CAP) -> dict[str, str]:
    """The snapshot's files, as `path -> mode object`."""
    repository, head = open_repository(top)
    snapshot = take_snapshot(repository, head, ignored_patterns, cap)
    assert snapshot is not None
    return {path: f"{mode} {oid}" for mode, oid, path in repository.entries(snapshot.commit)}


def on_disk(top: Path, name: str) -> str:
    return git(top, "hash-object", "--no-filters", "--", name).strip()


def test_a_clean_tree_has_none(work: Path) -> None:
    (work / "results.out").write_text("ignored\n")
    os.utime(work / "edited", (0, 0))
    repository, head = open_repository(work)
    assert take_snapshot(repository, head, (), CAP) is None


def test_it_holds_the_files_as_they_are_on_disk(work: Path) -> None:
    edit(work)
    row = snapshot_files(work)
    assert "deleted" not in row
    assert row["script"].startswith("100755 ") and row["link"].startswith("120000 ")
    for name in ("edited", "new", "skipped"):
        assert row[name] == f"100644 {on_disk(work, name)}"
    assert os.fsdecode(b"deep/er/odd-\xff \n*") in row


def test_it_sees_edits_that_git_was_reported_not_to_look_at(work: Path) -> None:
    git(work, "update-index", "--assume-unchanged", "assumed")
    git(work, "update-index", "--skip-worktree", "skipped")
    for name in ("assumed", "skipped"):
        (work / name).write_text("edited all the same\n")
    row = snapshot_files(work)
    assert {row[n].split()[1] for n in ("assumed", "skipped")} == {on_disk(work, "assumed")}


def test_what_a_sparse_checkout_left_out_stays_as_the_commit_has_it(work: Path) -> None:
    (work / "src").mkdir()
    (work / "src" / "model.py").write_text("x = 1\n")
    commit(work)
    before = git(work, "ls-tree", "HEAD", "assumed", "skipped")
    git(work, "sparse-checkout", "set", "--no-cone", "/src/", "/edited")
    assert not (work / "skipped").exists()
    (work / "src" / "model.py").write_text("x = 2\n")
    (work / "beside").write_text("outside of the sparse patterns\n")
    row = snapshot_files(work)
    assert row["src/model.py"] == f"100644 {on_disk(work, 'src/model.py')}"
    assert "beside" in row
    assert all(row[name].split()[1] in before for name in ("assumed", "skipped"))


def test_ignored_files_come_along_only_where_they_are_named(work: Path) -> None:
    for name in ("hidden_module.py", "results.out"):
        (work / name).write_text("x = 1\n")
    assert {"hidden_module.py", "results.out"} & snapshot_files(
        work, "hidden_module.py"
    ).keys() == {"hidden_module.py"}


def test_a_named_file_that_is_gone_is_no_snapshot(work: Path) -> None:
    edit(work)
    with pytest.raises(CouldNotLook, match=r"gone\.py is gone"):
        snapshot_files(work, "gone.py")


def test_no_setting_makes_another_snapshot(work: Path) -> None:
    edit(work)
    repository, head = open_repository(work)
    before = take_snapshot(repository, head, (), CAP)
    (work / ".git" / "info").mkdir(exist_ok=True)
    (work / ".git" / "info" / "attributes").write_text("edited diff=loud\nnew -diff\n")
    config = work / ".git" / "config"
    without = config.read_bytes()
    others = []
    for name, value in SETTINGS.items():
        git(work, "config", name, value)
        if take_snapshot(repository, head, (), CAP) != before:
            others.append(name)
        config.write_bytes(without)
    assert others == []


def test_another_clone_makes_the_same_at_another_time(work: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / "clone"
    git(tmp_path, "clone", "-q", "--template=", str(work), str(other))
    edit(work)
    edit(other)
    os.utime(other / "new", (0, 0))
    mine, theirs = (take_snapshot(*open_repository(top), (), CAP) for top in (work, other))
    assert mine == theirs is not None
    (other / "new").write_text("another\n")
    other_snapshot = take_snapshot(*open_repository(other), (), CAP)
    assert mine and other_snapshot
    assert not {mine.commit, mine.tree, mine.diff} & {
        other_snapshot.commit,
        other_snapshot.tree,
        other_snapshot.diff,
    }


def test_a_linked_work_tree_has_its_own(work: Path, tmp_path: Path) -> None:
    linked_path = tmp_path / "linked"
    git(work, "worktree", "add", "-q", "--detach", str(linked_path))
    edit(linked_path)
    assert take_snapshot(*open_repository(work), (), CAP) is None
    assert "new" in snapshot_files(linked_path)


def test_its_diff_makes_the_snapshot_out_of_the_commit(work: Path, tmp_path: Path) -> None:
    edit(work)
    repository, head = open_repository(work)
    snapshot = take_snapshot(repository, head, (), CAP)
    assert snapshot
    other = tmp_path / "applied"
    git(work, "worktree", "add", "-q", "--detach", str(other), head)
    (tmp_path / "diff").write_bytes(canonical_diff(repository, head, snapshot.commit))
    git(other, "apply", "--index", str(tmp_path / "diff"))
    assert git(other, "write-tree").strip() == snapshot.tree


def test_it_is_described_by_its_commit_alone(work: Path) -> None:
    edit(work)
    repository, head = open_repository(work)
    snapshot = take_snapshot(repository, head, (), CAP)
    assert snapshot and describe_snapshot(repository, head, snapshot.commit) == snapshot
    assert git(work, "rev-parse", f"{snapshot.commit}^").strip() == head
    assert snapshot.files[:2] == (r"deep/er/odd-\xff " + "\n*", "deleted")


def test_more_than_the_cap_is_not_kept_at_all(work: Path) -> None:
    (work / "large").write_bytes(b"x" * 2000)
    (work / "also").write_text("x")
    repository, head = open_repository(work)
    before = git(work, "count-objects")
    snapshot = take_snapshot(repository, head, (), 2000)
    assert snapshot and (snapshot.commit, snapshot.tree, snapshot.bytes) == ("", "", 2001)
    assert snapshot.files == ("also", "large")
    assert git(work, "count-objects") == before
    assert take_snapshot(repository, head, (), 2001).commit  # None fails the test too


def test_ignored_files_count_as_well(work: Path) -> None:
    (work / "hidden_module.py").write_bytes(b"#" * 2000)
    snapshot = take_snapshot(*open_repository(work), ("hidden_module.py",), 1999)
    assert snapshot and not snapshot.commit


def test_secrets_are_named_by_their_line_where_they_are_new(work: Path) -> None:
    (work / "old.env").write_text(f"A=1\nTOKEN={KEY}\n")
    commit(work)
    (work / "old.env").write_text(f"A=2\nTOKEN={KEY}\nSECRET=correct-horse\n")
    (work / "weights.bin").write_bytes(b"\0" * 9 + KEY.encode() + b"\0")
    (work / "other.bin").write_bytes(b"\0password=hunter2hunter2\0")
    snapshot = take_snapshot(*open_repository(work), (), CAP)
    assert snapshot and snapshot.secrets == ("old.env:3", "weights.bin")


def test_a_repository_inside_this_one_is_no_part_of_it(work: Path) -> None:
    git(work, "init", "-q", "--template=", "vendored")
    (work / "vendored" / "code.py").write_text("x = 1\n")
    with pytest.raises(WrongUse, match=r"vendored/.*repository"):
        snapshot_files(work)


def test_edits_inside_a_submodule_are_no_part_of_it(work: Path, tmp_path: Path) -> None:
    lib = tmp_path / "lib"
    git(tmp_path, "init", "-q", "--template=", "-b", "main", str(lib))
    (lib / "code.py").write_text("x = 1\n")
    commit(lib)
    git(work, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(lib), "lib")
    commit(work)
    (work / "edited").write_text("another\n")
    assert snapshot_files(work)["lib"].startswith("160000 ")
    git(work, "config", "submodule.lib.ignore", "all")
    (work / "lib" / "code.py").write_text("x = 2\n")
    with pytest.raises(WrongUse, match=r"submodule.*inside"):
        snapshot_files(work)


def test_what_git_lfs_keeps_elsewhere_is_no_part_of_it(work: Path) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\\noid sha256:0\\nsize 9\\n"
    git(work, "config", "filter.lfs.clean", f"printf '{pointer}'")
    (work / ".gitattributes").write_text("*.bin filter=lfs\n")
    (work / "data.bin").write_text("the content\n")
    with pytest.raises(WrongUse, match=r"data\.bin.*kept.*LFS"):
        snapshot_files(work)


def test_a_broken_link_is_a_file_like_any_other(work: Path) -> None:
    (work / "later").symlink_to("nowhere")
    assert snapshot_files(work)["later"].startswith("120000 ")


def test_the_index_and_its_folder_stay(work: Path) -> None:
    git(work, "config", "core.splitIndex", "true")
    edit(work)
    git(work, "update-index", "--assume-unchanged", "assumed")

    def private() -> dict[str, bytes]:
        folder = work / ".git"
        paths = (p for p in folder.rglob("*") if p.is_file() and "objects" not in p.parts)
        return {str(p.relative_to(folder)): p.read_bytes() for p in paths}

    before = private()
    snapshot_files(work)
    assert private() == before
