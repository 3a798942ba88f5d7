"""A scratch repository with its origin, and a run in it that has been initialised."""

from pathlib import Path

from benchmarks.timing import run
from herorun.runs import Run, open_run

FILES = 2000
CONTRACT = """\
slug = "tiny"
goal = "be measured"
dri = "@dri"
final_step = 200

[command]
argv = ["python", "train.py"]

[output]
root = "{data}/tiny"

[tracker]
kind = "jsonl"
"""


def repository(home: Path, files: int = FILES) -> Path:
    """Committed and pushed; returns the work tree."""
    work = home / "work"
    run(["git", "init", "--quiet", "--bare", str(home / "origin.git")])
    run(["git", "init", "--quiet", "--initial-branch=main", str(work)])
    for key, value in (
        ("user.name", "dri"),
        ("user.email", "dri@localhost"),
        ("commit.gpgSign", "false"),
    ):
        run(["git", "config", key, value], work)
    for number in range(files):
        path = work / "package" / f"part_{number // 100}" / f"module_{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"VALUE = {number}\n" * 60, encoding="utf-8")
    (work / "train.py").write_text("print('trains')\n", encoding="utf-8")
    (work / "runs").mkdir()
    (work / "runs" / "tiny.toml").write_text(CONTRACT.format(data=home / "data"), encoding="utf-8")
    run(["git", "remote", "add", "origin", str(home / "origin.git")], work)
    run(["git", "add", "--all"], work)
    run(["git", "commit", "--quiet", "--message", "the code"], work)
    run(["git", "push", "--quiet", "--set-upstream", "origin", "main"], work)
    return work


def open_tiny(work: Path) -> Run:
    return open_run("tiny", work)
