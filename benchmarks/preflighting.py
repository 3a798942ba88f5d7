"""A whole preflight in a repository of 2,000 files; beside what a careful person types."""

import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.scratch import FILES, opened, repository
from benchmarks.timing import Row, in_turns, process
from herorun.acts.beginning import begin

ROUNDS = 9


def rows(home: Path) -> Iterator[Row]:
    work = repository(home)
    begin(opened(work))
    by_hand = "git status --porcelain && git ls-remote origin"
    taken = in_turns(
        {
            "preflight": process(sys.executable, "-m", "herorun", "preflight", "tiny", cwd=work),
            "by hand": process("sh", "-c", by_hand, cwd=work),
        },
        ROUNDS,
    )
    what = f"`herorun preflight`, {FILES:,} files, local origin"
    yield Row(what, taken["preflight"], "`git status --porcelain`, `git ls-remote origin`", taken["by hand"])
