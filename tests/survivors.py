"""The report of `make mutate`, and the file that keeps the survivors of each room."""

import difflib
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE = Path(__file__).parent / "surviving_mutants.txt"
PROSE = re.compile(r"""(["']).*\w+ +\w+ +\w+.*\1""")
ROOM = re.compile(r"^== (\S+)$", re.MULTILINE)
INTRODUCTION = """\
Changes of the code that no test notices, by `make mutate WRITE=1`; CONTRIBUTING.md says how.
A line "= ..." below a change is a person's: why it makes no difference, or why it is left.
"""


@dataclass(frozen=True)
class Result:
    """What came of a room's mutants; `changes` has the lines of each survivor."""

    room: str
    mutants: int
    hanging: int
    uncalled_mutants: int
    wording: int
    changes: dict[str, list[str]]

    def score(self) -> str:
        noticed_count = self.mutants - len(self.changes) - self.wording
        return (
            f"{noticed_count} noticed ({self.hanging} by the time limit), "
            f"{self.wording} change wording "
            f"alone, {len(self.changes)} survive ({self.uncalled_mutants} called by no test)"
        )


def function_name(mutant: str) -> str:
    return mutant.rpartition("__mutmut_")[0]


def result(source: Path, room: str, mutants: Sequence[str], run: Any) -> Result:
    changes = {name: change(source, name) for name in run.survivors if name in set(mutants)}
    wording = [name for name, lines in changes.items() if is_wording(lines)]
    changes = {name: lines for name, lines in changes.items() if name not in wording}
    return Result(
        room=room,
        mutants=len(mutants),
        hanging=len(set(run.hanging) & set(mutants)),
        uncalled_mutants=len(set(run.uncalled_mutants) & set(changes)),
        wording=len(wording),
        changes=changes,
    )


def report(result: Result, how: str, tests: Sequence[str], write: bool) -> str:
    """What each survivor changed, and the score of the room."""
    if write:
        head = subprocess.check_output(["git", "rev-parse", "--short=9", "HEAD"], text=True).strip()
        text = FILE.read_text(encoding="utf-8") if FILE.exists() else INTRODUCTION
        about = f"{how}, commit {head}, by {shorten_paths(tests)}\n{result.score()}\n"
        FILE.write_text(replace_part(text, result, about), encoding="utf-8")
    blocks = ["\n".join([name, *lines]) for name, lines in result.changes.items()]
    return "\n".join([*blocks, f"{result.room}: {how}: {result.score()}"])


def shorten_paths(tests: Sequence[str]) -> str:
    """The tests by their folders.

    >>> shortened(["tests/core/a", "tests/core/b", "tests/checks"])
    'tests/core/{a,b} tests/checks'
    """
    folders: dict[str, list[str]] = {}
    for test in tests:
        folder, _, name = test.rstrip("/").rpartition("/")
        folders.setdefault(folder, []).append(name.removesuffix(".py").removeprefix("test_"))
    return " ".join(
        f"{folder}/{{{','.join(names)}}}" if len(names) > 1 else f"{folder}/{names[0]}"
        for folder, names in folders.items()
    )


def replace_part(text: str, result: Result, about: str) -> str:
    """The file with this room's part again; a person's reasons stay with the same change."""
    introduction, *parts = ROOM.split(text)
    rooms = dict(zip(parts[::2], parts[1::2], strict=True))
    reasons = reasons_of(rooms.get(result.room, ""))
    blocks = []
    for name, lines in result.changes.items():
        block = "\n".join([function_name(name).removeprefix("herorun."), *lines])
        blocks.append("\n".join([block, *reasons.get(block, ())]))
    rooms[result.room] = "\n" + "\n".join([about, *(f"{block}\n" for block in blocks)])
    texts = [f"== {room}{part.rstrip()}\n" for room, part in sorted(rooms.items())]
    return "\n".join([introduction.rstrip() + "\n", *texts])


def reasons_of(part: str) -> dict[str, list[str]]:
    reasons = {}
    for block in part.split("\n\n"):
        lines = block.strip("\n").splitlines()
        own = [line for line in lines if line.startswith("= ")]
        reasons["\n".join(line for line in lines if not line.startswith("= "))] = own
    return reasons


def is_wording(lines: list[str]) -> bool:
    """Whether only a sentence for people changed, which `tests/screens` pins."""
    return bool(lines) and all(PROSE.search(line) for line in lines)


def change(source: Path, name: str) -> list[str]:
    """The lines that a mutant has instead of others."""
    module, _, mutant = name.rpartition(".")
    base = source / Path(*module.split("."))
    path = base / "__init__.py" if base.is_dir() else base.with_suffix(".py")
    text = path.read_text(encoding="utf-8").splitlines()
    one, other = function(text, f"{function_name(mutant)}__mutmut_orig"), function(text, mutant)
    return [
        line
        for line in difflib.ndiff(one[1:], other[1:])
        if line.startswith(("- ", "+ ")) and line[2:].strip() and "mutmut" not in line
    ]


def function(lines: list[str], name: str) -> list[str]:
    """From its `def` to the next one of the same depth."""
    (start,) = [n for n, line in enumerate(lines) if line.strip().startswith(f"def {name}(")]
    depth = len(lines[start]) - len(lines[start].lstrip())
    for end in range(start + 1, len(lines)):
        line = lines[end]
        if line.strip() and len(line) - len(line.lstrip()) <= depth and line.strip()[0] not in ")]":
            return lines[start:end]
    return lines[start:]
