"""A whole preflight in a repository of 2,000 files; compared with what a careful person types, and
with gantry's git checks.

Gantry is another launcher's gate: it demands a clean work tree and a commit that GitHub knows. Its
question to GitHub is answered at once here, by a `gh` that says yes.
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.scratch import FILES, open_tiny, repository
from benchmarks.timing import BESIDE, LeftOut, Row, in_turns, process, run
from herorun.operations.record.init import initialise

ROUNDS = 9
GH = """#!/bin/sh
printf '{"sha": "%s", "status": null}' "$(git rev-parse HEAD)"
"""
CHECKS = """
from gantry.git_utils import GitRepoState
state = GitRepoState.from_env()
assert not state.is_dirty and state.branch == "main"
"""


def rows(home: Path) -> Iterator[Row | LeftOut]:
    work = repository(home)
    initialise(open_tiny(work))
    by_hand = "git status --porcelain && git ls-remote origin"
    acts = {
        "preflight": process(sys.executable, "-m", "herorun", "preflight", "tiny", cwd=work),
        "by hand": process("sh", "-c", by_hand, cwd=work),
    }
    if BESIDE.exists():
        acts["gantry"] = gantry(home, work)
    costs = in_turns(acts, ROUNDS)
    what = f"`herorun preflight`, {FILES:,} files, local origin"
    yield Row(
        what,
        costs["preflight"],
        "`git status --porcelain`, `git ls-remote origin`",
        costs["by hand"],
    )
    if "gantry" in costs:
        yield Row(what, costs["preflight"], "gantry's git checks, whole process", costs["gantry"])
    else:
        yield LeftOut("gantry's git checks: beaker-gantry could not be installed")


def gantry(home: Path, work: Path) -> Callable[[], None]:
    """In a clone of its own: its origin must look like one on GitHub."""
    clone, programs = home / "gantry", home / "programs"
    run(["git", "clone", "--quiet", str(work), str(clone)])
    run(["git", "remote", "set-url", "origin", "https://github.com/dri/tiny"], clone)
    programs.mkdir()
    gh = programs / "gh"
    gh.write_text(GH, encoding="utf-8")
    gh.chmod(0o755)
    script = f"import os\nos.environ['PATH'] = {f'{programs}:'!r} + os.environ['PATH']\n{CHECKS}"
    return process(str(BESIDE), "-c", script, cwd=clone, env={"PYTHONPATH": ""})
