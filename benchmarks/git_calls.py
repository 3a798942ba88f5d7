"""What preflight asks git, by herorun's own calls, and by GitPython, already imported and open. Its
import comes first.

Then whole preflights: as it is, and one whose repository is found, refs listed, HEAD resolved,
files read and commits listed by GitPython, which answers these as git does. What it answers wrongly
(untracked files, what differs) stays git's.
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.scratch import FILES, open_tiny, repository
from benchmarks.timing import Row, in_turns, process
from herorun.operations.record.init import initialise
from herorun.system.git import find_repository
from herorun.system.git.discover import _repository_above

ROUNDS = 15
BY_GITPYTHON = """
import sys
from pathlib import Path
from threading import local

from git import Repo
from herorun.system.git import discover
from herorun.system.git.repository import Repository

mine = local()


def repo(top):
    # One a thread: two that share a Repo read each other's answers from its `git cat-file --batch`.
    if getattr(mine, "top", None) != top:
        mine.top, mine.repo = top, Repo(top)
    return mine.repo


def found(start):
    with Repo(start, search_parent_directories=True) as there:
        return Repository(Path(there.working_tree_dir).resolve(), Path(there.common_dir).resolve())


def resolve(self, name):
    try:
        return repo(self.top).commit(name).hexsha
    except ValueError:
        return None


def read(self, commit, paths, most=None):
    tree, held = repo(self.top).commit(commit).tree, {}
    for path in paths:
        try:
            held[path] = (tree / path).data_stream.read()
        except KeyError:
            held[path] = None
    return held


def refs(self, *prefixes):
    every = {ref.path: ref.object.hexsha for ref in repo(self.top).refs}
    return {path: oid for path, oid in every.items() if not prefixes or path.startswith(prefixes)}


def entries(self, commit, folder=""):
    tree = repo(self.top).commit(commit).tree
    below = (tree / folder) if folder else tree
    cut = len(folder) + 1 if folder else 0
    return [(f"{b.mode:o}", b.hexsha, b.path[cut:]) for b in below.traverse() if b.type == "blob"]


discover._repository_above = found
Repository.resolve, Repository.read, Repository.refs, Repository.entries = resolve, read, refs, entries
from herorun.cli import main

sys.argv = ["herorun", "preflight", "tiny"]
sys.exit(main())
"""  # noqa: E501  # a text that is read as it stands


def rows(home: Path) -> Iterator[Row]:
    from git import Repo

    work = repository(home)
    theirs: Any = Repo(work)
    ours = find_repository(work)
    head = theirs.head.commit.hexsha
    acts: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "find the repository": (
            lambda: _repository_above.__wrapped__(work),
            lambda: Repo(work / "package", search_parent_directories=True).close(),
        ),
        "list all refs": (
            lambda: ours.git("for-each-ref", "--format=%(objectname) %(refname)"),
            lambda: [(ref.path, ref.commit.hexsha) for ref in theirs.refs],
        ),
        "resolve HEAD": (lambda: ours.resolve("HEAD"), lambda: theirs.head.commit.hexsha),
        "read one file of a commit": (
            lambda: ours.read(head, ["runs/tiny.toml"]),
            lambda: (theirs.commit(head).tree / "runs/tiny.toml").data_stream.read(),
        ),
        f"list a commit's {FILES:,} files": (
            lambda: ours.entries(head),
            lambda: [(blob.path, blob.hexsha) for blob in theirs.commit(head).tree.traverse()],
        ),
        "what differs from HEAD, index and untracked": (
            lambda: ours.git("status", "--porcelain=v2", "-z"),
            lambda: (theirs.index.diff(None), theirs.index.diff("HEAD"), theirs.untracked_files),
        ),
    }
    costs = in_turns(
        {f"{name}|{at}": act for name, pair in acts.items() for at, act in enumerate(pair)}, ROUNDS
    )
    for name in acts:
        yield Row(name, costs[f"{name}|0"], "GitPython, imported before", costs[f"{name}|1"])
    times = in_turns(
        {
            "git": process("git", "rev-parse", "--show-toplevel", cwd=work),
            "import": process(sys.executable, "-c", "import git"),
            "bare": process(sys.executable, "-c", "pass"),
        },
        ROUNDS,
    )
    yield Row(
        "one `git rev-parse`, a whole process",
        times["git"],
        "`python -c 'import git'`",
        times["import"],
    )
    yield Row("`python -c pass`", times["bare"], "`python -c 'import git'`", times["import"])
    yield preflights(work)


def preflights(work: Path) -> Row:
    """In a process each; both must come to the same exit code."""
    initialise(open_tiny(work))
    costs = in_turns(
        {
            "ours": process(sys.executable, "-m", "herorun", "preflight", "tiny", cwd=work),
            "theirs": process(sys.executable, "-c", BY_GITPYTHON, cwd=work),
        },
        ROUNDS,
    )
    return Row(
        "a whole `herorun preflight`",
        costs["ours"],
        "the same, these calls by GitPython",
        costs["theirs"],
    )
