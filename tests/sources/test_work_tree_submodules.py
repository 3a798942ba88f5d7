"""Submodules, from what differs inside to what their own remote has; and the copy that a launch
exports.
"""

import os
import shutil
from pathlib import Path

import pytest

from builders import a_contract
from herorun.core.errors import CouldNotLook
from herorun.core.evidence import Submodule, WorkTree
from herorun.sources.work_tree import read_work_tree
from herorun.system.git import Repository, find_repository
from herorun.system.git.export import export
from herorun.system.git.submodules import all_files
from stories import copy, forget, git
from wording import mentions

LOCAL = ("-c", "protocol.file.allow=always")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What each test finds in its place, for its files hold the path: `work` with the submodule
    `lib`, and `lib/inner` in it; each from a bare remote of its own.
    """
    folder = tmp_path_factory.mktemp("submodules")
    home = folder / "home"
    home.mkdir()
    (home / "global").write_text("[user]\nname = Dri\nemail = dri@example.org\n")
    with pytest.MonkeyPatch.context() as monkeypatch:
        use_settings_of(home, monkeypatch)
        for name, inside in (("inner", None), ("lib", "inner"), ("work", "lib")):
            make(home, name, inside)
        git(home / "work", *LOCAL, "submodule", "--quiet", "update", "--init", "--recursive")
    return home.rename(folder / "template")


@pytest.fixture
def work(template: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = template.with_name("home")
    copy(template, home)
    forget()
    use_settings_of(home, monkeypatch)
    return home / "work"


def make(home: Path, name: str, inside: str | None) -> None:
    git(home, "init", "-q", "--bare", "--template=", "-b", "main", f"{name}.git")
    git(home, "init", "-q", "--template=", "-b", "main", name)
    git(home / name, "remote", "add", "origin", str(home / f"{name}.git"))
    (home / name / f"{name}.py").write_text("VALUE = 1\n")
    if inside:
        remote = str(home / f"{inside}.git")
        git(home / name, *LOCAL, "submodule", "--quiet", "add", remote, inside)
    publish(home / name)


def use_settings_of(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(home / "global"))
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)


def publish(work: Path) -> str:
    commit = save(work)
    git(work, "push", "-q", "origin", "HEAD:main")
    return commit


def save(work: Path) -> str:
    git(work, "add", "-A")
    git(work, "commit", "-q", "-m", "code")
    return git(work, "rev-parse", "HEAD").strip()


def read(work: Path) -> WorkTree:
    return read_work_tree(find_repository(work), a_contract())


def lib(work: Path) -> Submodule:
    return read(work).submodules[0]


def export_files(work: Path, commit: str = "HEAD") -> dict[str, str]:
    repository = find_repository(work)
    copy = export(repository, git(work, "rev-parse", commit).strip(), work.parent / "copy" / "code")
    return {str(p.relative_to(copy)): p.read_text() for p in sorted(copy.rglob("*")) if p.is_file()}


# --- what differs ---------------------------------------------------------------------------------


@pytest.mark.thorough
def test_clean_and_published_ones_are_named_nested_too(work: Path) -> None:
    tree = read(work)
    assert tree.dirty == ()
    commits = [git(work / path, "rev-parse", "HEAD").strip() for path in ("lib", "lib/inner")]
    assert tree.submodules == (
        Submodule(path="lib", commit=commits[0], checked_out=commits[0]),
        Submodule(path="lib/inner", commit=commits[1], checked_out=commits[1]),
    )


@pytest.mark.parametrize(
    "hiding",
    [
        "diff.ignoreSubmodules=all",
        "submodule.lib.ignore=all",
        "status.showUntrackedFiles=no",
        "status.submoduleSummary=false",
    ],
)
def test_no_setting_hides_what_differs_inside(work: Path, hiding: str) -> None:
    key, _, value = hiding.partition("=")
    git(work, "config", "--global", key, value)
    (work / "lib" / "lib.py").write_text("VALUE = 2\n")
    (work / "lib" / "new").write_text("x")
    tree = read(work)
    assert (tree.submodules[0].modified, tree.submodules[0].untracked) == (True, True)
    assert (tree.submodules[1].modified, tree.submodules[1].untracked) == (False, False)
    assert tree.unstaged == ("lib",)
    assert tree.settings == ((hiding,) if "Summary" not in hiding else ())


@pytest.mark.thorough
def test_nor_does_the_commits_own_gitmodules(work: Path) -> None:
    git(work, "config", "--file", ".gitmodules", "submodule.lib.ignore", "all")
    save(work)
    (work / "lib" / "new").write_text("x")
    assert git(work, "status", "--porcelain") == ""
    tree = read(work)
    assert (tree.submodules[0].untracked, tree.settings) == (True, ("submodule.lib.ignore=all",))


@pytest.mark.thorough
def test_an_untracked_file_inside_is_seen(work: Path) -> None:
    (work / "lib" / "inner" / "new").write_text("x")
    outer, inner = read(work).submodules
    assert (outer.untracked, outer.modified, inner.untracked, inner.modified) == (
        False,
        False,
        True,
        False,
    )


@pytest.mark.thorough
def test_an_edit_that_is_hidden_inside_is_seen(work: Path) -> None:
    git(work / "lib", "update-index", "--assume-unchanged", "lib.py")
    (work / "lib" / "lib.py").write_text("VALUE = 2\n")
    assert lib(work).modified


@pytest.mark.thorough
def test_another_commit_than_head_names(work: Path) -> None:
    commit = lib(work).commit
    (work / "lib" / "lib.py").write_text("VALUE = 2\n")
    there = publish(work / "lib")
    row = lib(work)
    assert (row.commit, row.checked_out, row.modified, row.published) == (
        commit,
        there,
        False,
        True,
    )
    git(work, "add", "lib")
    assert lib(work) == row
    assert read(work).staged == ("lib",)


@pytest.mark.thorough
def test_one_that_head_does_not_have_yet_is_a_staged_change(work: Path) -> None:
    git(work, *LOCAL, "submodule", "--quiet", "add", str(work.parent / "inner.git"), "more")
    tree = read(work)
    assert [row.path for row in tree.submodules] == ["lib", "lib/inner"]
    assert tree.staged == (".gitmodules", "more")


@pytest.mark.thorough
def test_one_that_is_removed_from_the_index_is_still_in_head(work: Path) -> None:
    commit = lib(work).commit
    git(work, "rm", "-q", "--cached", "lib")
    assert (lib(work).commit, lib(work).checked_out) == (commit, commit)


@pytest.mark.thorough
def test_not_checked_out(work: Path) -> None:
    git(work, "submodule", "--quiet", "deinit", "--force", "lib")
    (row,) = read(work).submodules
    assert (row.path, row.checked_out, row.published) == ("lib", None, None)


# --- whether its remote has it --------------------------------------------------------------------


@pytest.mark.thorough
def test_a_commit_that_its_remote_does_not_have(work: Path) -> None:
    """The superproject is clean and pushed."""
    (work / "lib" / "lib.py").write_text("VALUE = 2\n")
    save(work / "lib")
    publish(work)
    tree = read(work)
    assert tree.dirty == ()
    row = tree.submodules[0]
    assert row.published is False and mentions(row.why, "branch", "tag", "origin")


@pytest.mark.thorough
def test_an_older_commit_of_a_branch_that_moved_elsewhere_is_published(work: Path) -> None:
    other = work.parent / "lib"
    (other / "lib.py").write_text("VALUE = 3\n")
    publish(other)
    refs = git(work / "lib", "for-each-ref")
    assert lib(work).published is True
    assert git(work / "lib", "for-each-ref") == refs


@pytest.mark.thorough
def test_an_annotated_tag_alone_publishes_it(work: Path) -> None:
    (work / "lib" / "lib.py").write_text("VALUE = 2\n")
    save(work / "lib")
    git(work / "lib", "tag", "-a", "-m", "x", "v1")
    (work / "lib" / "lib.py").write_text("VALUE = 3\n")
    save(work / "lib")
    git(work / "lib", "push", "-q", "origin", "v1")
    git(work / "lib", "checkout", "-q", "v1")
    save(work)
    assert lib(work).published is True
    git(work / "lib", "checkout", "-q", "main")
    save(work)
    assert lib(work).published is False


def test_a_shallow_submodule_knows_its_tip_alone(work: Path) -> None:
    shutil.rmtree(work / "lib")
    git(work, "clone", "-q", "--depth=1", f"file://{work.parent}/lib.git", "lib")
    assert lib(work).published is True
    (work / "lib" / "lib.py").write_text("VALUE = 2\n")
    save(work / "lib")
    save(work)
    row = lib(work)
    assert (row.published, "shallow" in row.why) == (None, True)


@pytest.mark.thorough
def test_a_stale_remote_tracking_branch_is_not_believed(work: Path) -> None:
    (work / "lib" / "lib.py").write_text("VALUE = 2\n")
    publish(work / "lib")
    save(work)
    assert lib(work).published is True
    git(work.parent / "lib", "push", "-q", "--force", "origin", "HEAD:main")
    assert lib(work).published is False


def test_a_remote_that_is_away_is_no_answer(work: Path) -> None:
    (work.parent / "lib.git").rename(work.parent / "away")
    row = lib(work)
    assert row.published is None
    assert "git ls-remote origin" in row.why


@pytest.mark.thorough
def test_a_repository_that_was_added_without_a_remote(work: Path) -> None:
    git(work.parent, "init", "-q", "--template=", "-b", "main", str(work / "stray"))
    (work / "stray" / "stray.py").write_text("x")
    save(work / "stray")
    save(work)
    row = next(row for row in read(work).submodules if row.path == "stray")
    assert row.published is False and mentions(row.why, "no remote")


# --- the exported copy ----------------------------------------------------------------------------


WHOLE = {"work.py", "lib/lib.py", "lib/inner/inner.py", ".gitmodules", "lib/.gitmodules"}


def test_the_copy_has_the_submodules_files_at_the_named_commit(work: Path) -> None:
    (work / "lib" / "lib.py").write_text("VALUE = 2\n")
    save(work / "lib")  # another commit than HEAD of the superproject names
    files = export_files(work)
    assert files.keys() == WHOLE
    assert files["lib/lib.py"] == "VALUE = 1\n"


def test_the_files_of_a_commit_are_those_of_the_copy(work: Path) -> None:
    repository = find_repository(work)
    assert set(all_files(repository, str(repository.resolve("HEAD")))) == WHOLE


@pytest.mark.thorough
def test_a_submodule_that_is_not_checked_out_comes_from_gits_own_store(work: Path) -> None:
    git(work, "submodule", "--quiet", "deinit", "--force", "--all")
    shutil.rmtree(work / "lib")
    assert export_files(work).keys() == WHOLE


@pytest.mark.thorough
def test_from_a_linked_work_tree_without_submodules(work: Path) -> None:
    git(work, "worktree", "add", "-q", "--detach", str(work.parent / "linked"))
    assert export_files(work.parent / "linked").keys() == WHOLE


def test_a_commit_that_is_not_here_says_what_to_type(work: Path) -> None:
    clone = work.parent / "clone"
    git(work.parent, "clone", "-q", str(work), str(clone))
    with pytest.raises(CouldNotLook, match=r"submodule.*git"):
        export_files(clone)
    assert list((work.parent / "copy").iterdir()) == []


@pytest.mark.thorough
def test_a_name_that_leads_out_of_the_store_is_not_followed(work: Path) -> None:
    clone = work.parent / "clone"
    git(work.parent, "clone", "-q", str(work), str(clone))
    (clone / ".git" / "modules").mkdir()
    text = (clone / ".gitmodules").read_text().replace('"lib"', '"../../../lib/.git"')
    (clone / ".gitmodules").write_text(text)
    save(clone)
    with pytest.raises(CouldNotLook):
        export_files(clone)


# --- the copy of any commit -----------------------------------------------------------------------


@pytest.fixture
def plain(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (home / "global").write_text("[user]\nname = Dri\nemail = dri@example.org\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(home / "global"))
    git(home, "init", "-q", "-b", "main", "plain")
    plain = home / "plain"
    for name in ("a.sh", "pkg/b.py"):
        (plain / name).parent.mkdir(exist_ok=True)
        (plain / name).write_text("one\ntwo\n")
    (plain / "a.sh").chmod(0o755)
    (plain / "link").symlink_to("a.sh")
    save(plain)
    return plain


def test_without_submodules_two_git_calls_make_it(
    plain: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls, really = [], Repository.git
    monkeypatch.setattr(
        Repository, "git", lambda self, *a, **k: calls.append(a[0]) or really(self, *a, **k)
    )
    export(find_repository(plain), git(plain, "rev-parse", "HEAD").strip(), plain.parent / "copy")
    assert [call for call in calls if call != "config"] == ["read-tree", "checkout-index"]
    assert os.readlink(plain.parent / "copy" / "link") == "a.sh"
    assert os.access(plain.parent / "copy" / "a.sh", os.X_OK)


def test_neither_line_endings_nor_a_sparse_checkout_change_it(plain: Path) -> None:
    git(plain, "sparse-checkout", "set", "--no-cone", "/a.sh")
    git(plain, "config", "core.autocrlf", "true")
    assert export_files(plain) == {
        "a.sh": "one\ntwo\n",
        "link": "one\ntwo\n",
        "pkg/b.py": "one\ntwo\n",
    }
    copy = plain.parent / "copy" / "code"
    assert (copy / "a.sh").read_bytes() == b"one\ntwo\n"


def test_nor_attributes_that_are_only_in_the_checkout(plain: Path) -> None:
    (plain / ".gitattributes").write_text("*.sh text eol=crlf\n")
    export_files(plain)
    assert (plain.parent / "copy" / "code" / "a.sh").read_bytes() == b"one\ntwo\n"
    save(plain)
    export_files(plain)
    assert (plain.parent / "copy" / "code" / "a.sh").read_bytes() == b"one\r\ntwo\r\n"


POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 5\n".format("ab" * 32)


def test_pointers_stay_pointers_without_git_lfs_and_a_required_filter_must_work(
    plain: Path,
) -> None:
    (plain / ".gitattributes").write_text("*.bin filter=lfs\n")
    (plain / "x.bin").write_text(POINTER)
    save(plain)
    assert export_files(plain)["x.bin"] == POINTER
    git(plain, "config", "filter.lfs.smudge", "no-such-program")
    git(plain, "config", "filter.lfs.required", "true")
    with pytest.raises(CouldNotLook, match="no-such-program"):
        export_files(plain)
    git(plain, "config", "filter.lfs.smudge", "echo content")
    assert export_files(plain)["x.bin"] == "content\n"


def test_what_was_replaced_is_not_shipped(plain: Path) -> None:
    first = git(plain, "rev-parse", "HEAD:a.sh").strip()
    other = git(plain, "hash-object", "-w", "--stdin", stdin="replaced\n").strip()
    git(plain, "replace", first, other)
    assert export_files(plain)["a.sh"] == "one\ntwo\n"
