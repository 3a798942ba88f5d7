"""What preflight asks git, by herorun's own calls; beside GitPython, already imported and open. Its import comes first."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.scratch import FILES, repository
from benchmarks.timing import Row, in_turns, process
from herorun.system.git import find_repository
from herorun.system.git.finding import _found

ROUNDS = 15


def rows(home: Path) -> Iterator[Row]:
    from git import Repo

    work = repository(home)
    theirs: Any = Repo(work)
    ours = find_repository(work)
    head = theirs.head.commit.hexsha
    acts: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "find the repository": (
            lambda: _found.__wrapped__(work),
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
    taken = in_turns(
        {f"{name}|{at}": act for name, pair in acts.items() for at, act in enumerate(pair)}, ROUNDS
    )
    for name in acts:
        yield Row(name, taken[f"{name}|0"], "GitPython, imported before", taken[f"{name}|1"])
    started = in_turns(
        {
            "git": process("git", "rev-parse", "--show-toplevel", cwd=work),
            "import": process(sys.executable, "-c", "import git"),
            "bare": process(sys.executable, "-c", "pass"),
        },
        ROUNDS,
    )
    yield Row(
        "one `git rev-parse`, a whole process", started["git"], "`python -c 'import git'`", started["import"]
    )
    yield Row("`python -c pass`", started["bare"], "`python -c 'import git'`", started["import"])
