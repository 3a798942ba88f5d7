"""The work tree, from one `status --porcelain=v2` and one `ls-files -v`."""

from collections.abc import Iterator

from herorun.core.errors import WrongUse
from herorun.core.evidence import WorkTree
from herorun.system.git import Repository


def read_work_tree(repository: Repository) -> WorkTree:
    """HEAD and everything that differs from it. An unborn branch is wrong use: there is nothing to launch."""
    status = repository.git(
        "status",
        "--porcelain=v2",
        "-z",
        "--branch",
        "--untracked-files=all",
        "--ignore-submodules=none",
        "--no-renames",
    )
    flags = repository.git("ls-files", "-v", "-z")
    commit, branch, changes = parse_status(status.text)
    if commit is None:
        raise WrongUse(f"{repository.top} has no commit yet: commit the training code first.")
    named = {
        word: tuple(path for kind, path in changes if kind == word)
        for word in ("staged", "modified", "untracked")
    }
    return WorkTree(
        commit,
        branch,
        named["staged"],
        named["modified"],
        named["untracked"],
        hidden_edits(repository, flags.text),
    )


def parse_status(text: str) -> tuple[str | None, str | None, list[tuple[str, str]]]:
    """`(commit, branch, [(staged | modified | untracked, path)])` of porcelain v2 with `-z`."""
    commit: str | None = None
    branch: str | None = None
    changes: list[tuple[str, str]] = []
    for record in text.split("\0"):
        if record.startswith("# branch.oid "):
            commit = None if record.endswith("(initial)") else record.rpartition(" ")[2]
        elif record.startswith("# branch.head "):
            branch = None if record.endswith("(detached)") else record.removeprefix("# branch.head ")
        else:
            changes += _changes(record)
    return commit, branch, changes


def _changes(record: str) -> Iterator[tuple[str, str]]:
    match record[:2]:
        case "? ":
            yield "untracked", shown(record[2:])
        case "1 ":
            _, states, _, _, _, _, _, _, path = record.split(" ", 8)
            yield from _sides(states, path)
        case "u ":
            yield "modified", shown(record.split(" ", 10)[10])


def _sides(states: str, path: str) -> Iterator[tuple[str, str]]:
    if states[0] != ".":
        yield "staged", shown(path)
    if states[1] != ".":
        yield "modified", shown(path)


def hidden_edits(repository: Repository, flags: str) -> tuple[str, ...]:
    """Files whose edits `status` does not show: assume-unchanged, or skip-worktree where the file is there."""
    marked = [
        record[2:] for record in flags.split("\0") if record and (record[0].islower() or record[0] == "S")
    ]
    present = [path for path in marked if (repository.top / path).exists()]
    if not present:
        return ()
    listed = repository.git("ls-files", "-s", "-z", "--", *present).text
    staged = {
        path: facts.split(" ")[1] for facts, _, path in (r.partition("\t") for r in listed.split("\0") if r)
    }
    asked = "".join(f"{path}\n" for path in present if "\n" not in path)
    now = repository.git(
        "hash-object", "--stdin-paths", stdin=asked.encode("utf-8", "surrogateescape")
    ).text.split()
    actual = dict(zip((path for path in present if "\n" not in path), now, strict=True))
    return tuple(shown(path) for path in present if actual.get(path) != staged.get(path))


def shown(path: str) -> str:
    """A path as people can read it; bytes that are not UTF-8 are shown as escapes."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
