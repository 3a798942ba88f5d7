"""A user's checkout is the same before and after every command, whatever state it is in."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from stories import SLUG, Story, git
from wording import mentions

# Inside .git: our refs, the seal's tag, and git's own mark of what was pushed.
REMOTE = "refs/remotes/origin/herorun/"
OURS = ("objects/", "herorun/", "refs/herorun/", "refs/tags/herorun/", REMOTE, f"logs/{REMOTE}")
WAIVER = {
    "check": "dirty-tree",
    "reason": "a test",
    "approved_by": "@dri",
    "expires": "2999-01-01T00:00:00Z",
}
NOTE = (
    "note",
    SLUG,
    "--status",
    "a",
    "--evidence",
    "b",
    "--decision",
    "c",
    "--next",
    "d",
    "--issue",
)


def files(top: Path, skip: tuple[str, ...]) -> Iterator[tuple[bytes, int, bytes]]:
    """Every file below, with its mode and content; links as what they point to."""
    for folder, folders, names in os.walk(top):
        for name in [*names, *(name for name in folders if (Path(folder) / name).is_symlink())]:
            path = Path(folder) / name
            inside = os.fsencode(path.relative_to(top))
            if inside.startswith(tuple(os.fsencode(part) for part in skip)):
                continue
            content = os.fsencode(os.readlink(path)) if path.is_symlink() else path.read_bytes()
            yield inside, path.lstat().st_mode, content


def checkout(work: Path) -> dict[bytes, object]:
    """All that is the user's, by name: work tree, index, HEAD, configuration, stash, branches,
    logs.
    """
    inside = files(work / ".git", OURS) if (work / ".git").is_dir() else ()
    status = ("--no-optional-locks", "status", "--porcelain=v2", "--branch", "-uall")
    return {
        **{name: rest for name, *rest in files(work, (".git/", ".herorun/"))},
        **{b".git/" + name: rest for name, *rest in inside},
        b"status": git(work, *status),
        b"stash": git(work, "stash", "list"),
        b"branches": git(work, "for-each-ref", "refs/heads", "refs/stash"),
    }


def changes(
    before: dict[bytes, object], after: dict[bytes, object]
) -> list[tuple[bytes, object, object]]:
    names = sorted(before.keys() | after.keys())
    return [(n, before.get(n), after.get(n)) for n in names if before.get(n) != after.get(n)]


@pytest.fixture
def messy(story: Story) -> Story:
    """Detached, with staged, unstaged, untracked, hidden and stashed edits; the DRI has waived
    it.
    """
    work = story.work
    for name in ("staged", "edited", "both", "hidden"):
        (work / name).write_text("as committed\n")
    (work / "script").write_text("#!/bin/sh\n")
    (work / "script").chmod(0o755)
    (work / "link").symlink_to("script")
    (work / ".gitignore").write_text("ignored\n")
    story.sign(waiver=[WAIVER])
    (work / "edited").write_text("stashed\n")
    git(work, "stash", "-q")
    git(work, "checkout", "-q", "--detach")
    for name in ("staged", "both"):
        (work / name).write_text("in the index\n")
    git(work, "add", "staged", "both")
    git(work, "update-index", "--assume-unchanged", "hidden")
    for name in ("edited", "both", "hidden", "untracked", "ignored", os.fsdecode(b"odd-\xff \n")):
        (work / name).write_text("on disk\n")
    os.utime(work / "script", (0, 0))  # a stat that differs from the index tempts git to refresh it
    return story


def test_every_command_leaves_it_as_it_was(messy: Story) -> None:
    before = checkout(messy.work)
    assert "1 M. " in before[b"status"] and "? untracked" in before[b"status"]
    plan = str(messy.home / "plan.json")
    for words in (
        ("init", SLUG),
        ("status",),
        ("preflight", SLUG, "--out", plan, "--probe"),
        ("launch", SLUG, "--no-babysit", "--plan", plan),
        ("launch", SLUG, "--no-babysit"),
        ("status", SLUG, "--json"),
        NOTE,
        ("babysit", SLUG, "--once"),
        ("babysit", "--all", "--once"),
        ("logbook", "show", SLUG),
        ("logbook", "verify", SLUG),
        ("seal", SLUG),
        ("seal", SLUG),
        ("explain", "dirty-tree"),
        ("schema",),
    ):
        code = messy.herorun(*words)
        assert changes(before, checkout(messy.work)) == [], words
        assert code in ((0, 1) if words[0] == "launch" else (0,)), words
        if words[0] == "launch":
            messy.wait_for_end()
    edits, seal = (line.split()[0] for line in messy.tags(messy.origin))
    assert (
        edits.startswith(f"refs/tags/herorun/{SLUG}/edits-")
        and seal == f"refs/tags/herorun/{SLUG}/seal-1"
    )
    assert "refs/herorun/snapshots/tiny/" in git(messy.origin, "for-each-ref")


def test_init_without_a_contract_writes_that_file_and_says_so(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    before = checkout(story.work)
    assert story.herorun("init", "other") == 0
    path = story.work / "runs" / "other.toml"
    assert f"created {path}" in (output := capsys.readouterr().out) and mentions(
        output, "file", "commit"
    )
    text = path.read_text()
    path.unlink()
    assert changes(before, checkout(story.work)) == []
    assert 'slug = "other"' in text


def test_what_fails_leaves_it_too(messy: Story) -> None:
    """A blocked launch, a remote that is away, a contract that is broken."""
    (messy.work / "runs" / "tiny.toml").write_text("[[[")
    before = checkout(messy.work)
    for words in (("preflight", SLUG), ("launch", SLUG), ("init", SLUG), ("seal", SLUG)):
        assert messy.herorun(*words) == 2
    messy.origin.rename(messy.home / "elsewhere")
    git(messy.work, "checkout", "-q", "--", "runs/tiny.toml")
    before = checkout(messy.work)
    for words in (("init", SLUG), ("preflight", SLUG), ("launch", SLUG), ("seal", SLUG)):
        assert messy.herorun(*words) in (1, 3)
    assert changes(before, checkout(messy.work)) == []


@pytest.mark.thorough
def test_a_linked_work_tree_and_the_main_one_are_both_left(story: Story) -> None:
    linked_path = story.home / "linked" / "work"
    git(story.work, "worktree", "add", "-q", "--detach", str(linked_path))
    there = Story(linked_path.parent)
    before, main = checkout(linked_path), checkout(story.work)
    assert there.init() == 0
    assert there.launch() == 0
    story.wait_for_end()
    assert there.tick() == 0
    assert changes(before, checkout(linked_path)) == changes(main, checkout(story.work)) == []
    assert story.starts == ["tiny-1 scratch"]
