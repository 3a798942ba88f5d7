"""The work tree's fingerprint and a whole preflight, in a repository of 100,000 tracked and 30,000
untracked files.
"""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.scratch import CONTRACT, open_tiny
from benchmarks.timing import Row, in_turns, process, run
from herorun.operations.record.init import initialise
from herorun.sources.work_tree import read_work_tree

TRACKED_FILES, UNTRACKED_FILES = 100_000, 30_000
A_FOLDER = 100  # files in each
ROUNDS = 9
LATENCY = 0.1  # seconds that the remote waits before it answers
STATUS = [
    "git",
    "status",
    "--porcelain=v2",
    "-z",
    "--branch",
    "--untracked-files=all",
    "--ignore-submodules=none",
    "--no-renames",
]
LISTING = ["git", "ls-files", "-v", "-z"]
SLOWLY = '#!/bin/sh\nsleep {seconds}\nexec git-upload-pack "$@"\n'


def rows(home: Path) -> Iterator[Row]:
    work = repository(home)
    size = f"{TRACKED_FILES:,} tracked, {UNTRACKED_FILES:,} untracked files"
    yield _source(work, size)
    initialise(open_tiny(work))
    yield _preflight(home, work, size)


def _source(work: Path, size: str) -> Row:
    run_of = open_tiny(work)
    status, listing = process(*STATUS, cwd=work), process(*LISTING, cwd=work)
    acts = {
        "source": lambda: read_work_tree(run_of.repository, run_of.contract),
        "git": lambda: (status(), listing()),
    }
    costs = in_turns(acts, ROUNDS)
    return Row(
        f"work-tree fingerprint, {size}",
        costs["source"],
        "`git status`, `git ls-files -v`",
        costs["git"],
    )


def _preflight(home: Path, work: Path, size: str) -> Row:
    slow = home / "upload-pack"
    slow.write_text(SLOWLY.format(seconds=LATENCY), encoding="utf-8")
    slow.chmod(0o755)
    run(["git", "config", "remote.origin.uploadpack", str(slow)], work)
    by_hand = "git status --porcelain && git ls-remote origin"
    costs = in_turns(
        {
            "preflight": process(sys.executable, "-m", "herorun", "preflight", "tiny", cwd=work),
            "by hand": process("sh", "-c", by_hand, cwd=work),
        },
        ROUNDS,
    )
    what = f"`herorun preflight`, {size}, an origin {LATENCY * 1000:.0f} ms away"
    alternative = "`git status --porcelain`, `git ls-remote origin`"
    return Row(what, costs["preflight"], alternative, costs["by hand"])


def repository(home: Path) -> Path:
    """Committed by one fast-import, checked out and pushed; the untracked files are notes that
    block nothing.
    """
    work, origin = home / "work", home / "origin.git"
    run(["git", "init", "--quiet", "--bare", str(origin)])
    run(["git", "init", "--quiet", "--initial-branch=main", str(work)])
    settings = {"user.name": "dri", "user.email": "dri@localhost", "remote.origin.url": str(origin)}
    settings["remote.origin.fetch"] = "+refs/heads/*:refs/remotes/origin/*"
    for key, value in settings.items():
        run(["git", "config", key, value], work)
    stream = _stream(CONTRACT.format(data=home / "data"))
    subprocess.run(["git", "fast-import", "--quiet", "--done"], input=stream, cwd=work, check=True)
    run(["git", "reset", "--quiet", "--hard"], work)
    run(["git", "push", "--quiet", "--set-upstream", "origin", "main"], work)
    for number in range(UNTRACKED_FILES):
        path = work / "notes" / f"part_{number // A_FOLDER}" / f"note_{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("a note\n", encoding="utf-8")
    return work


def _stream(contract: str) -> bytes:
    blobs = ("VALUE = 1\n", contract, "print('trains')\n")
    lines = [f"blob\nmark :{n}\ndata {len(text)}\n{text}" for n, text in enumerate(blobs, start=1)]
    lines.append(
        "commit refs/heads/main\ncommitter dri <dri@localhost> 1700000000 +0000\ndata 8\nthe code"
    )
    lines += [
        f"M 100644 :1 package/part_{n // A_FOLDER}/module_{n}.py" for n in range(TRACKED_FILES - 2)
    ]
    lines += ["M 100644 :2 runs/tiny.toml", "M 100644 :3 train.py", "", "done", ""]
    return "\n".join(lines).encode()
