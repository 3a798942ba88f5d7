"""`make mutate`: change the code in one place after the other, and see whether a test fails.

`mutmut` makes the changes; each is tried in a fork of one process that has collected the tests,
with the tests that call the changed function, the quickest first. Functions below a decorator are
left out, as mutmut does.
"""

import argparse
import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

TOP = Path(__file__).parents[1]
SLOWER = 10.0  # times the tests without a change: then the mutant hangs, and is killed
BASELINE_SECONDS = 1800.0  # of all tests without a change
STATS = "stats"  # mutmut's trampolines then report each call
PROSE = re.compile(r"""(["']).*\w+ +\w+ +\w+.*\1""")


class Mutation:
    """A plugin of pytest, which runs the collected tests once for each mutant."""

    def __init__(self, mutants: list[str], folder: Path) -> None:
        self.mutants = mutants
        self.folder = folder
        self.output = os.fdopen(os.dup(1), "w", buffering=1)  # pytest captures what is printed
        self.survivors: list[str] = []
        self.uncalled: list[str] = []  # the survivors of which no test calls the function

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        seconds, callers = baseline(session, self.folder / "baseline.json")
        for number, mutant in enumerate(self.mutants, 1):
            tests = sorted(callers.get(function_name(mutant), ()), key=seconds.__getitem__)
            longest = SLOWER * sum(seconds[test] for test in tests) + 5.0
            if not tests or not killed(session, [session.items[n] for n in tests], mutant, longest):
                self.survivors.append(mutant)
                self.uncalled += [] if tests else [mutant]
                how = "survives" if tests else "is called by no test"
                print(f"{number}/{len(self.mutants)} {how}: {mutant}", file=self.output)
        return True


def function_name(mutant: str) -> str:
    return mutant.rpartition("__mutmut_")[0]


def baseline(session: pytest.Session, path: Path) -> tuple[list[float], dict[str, list[int]]]:
    """The seconds of each test without a change, and the tests that call each function."""
    child = os.fork()
    if child == 0:
        os._exit(measure(session, path))
    if ended(child, BASELINE_SECONDS) != 0:
        raise pytest.UsageError("the tests fail without a change too")
    content = json.loads(path.read_text(encoding="utf-8"))
    return content["seconds"], content["callers"]


def measure(session: pytest.Session, path: Path) -> int:
    from mutmut.mutation import trampoline

    calls: set[str] = set()
    trampoline.record_trampoline_hit = lambda name, caller=None: calls.add(name)
    trampoline.set_mutant_under_test(STATS)
    seconds, callers = [], defaultdict(list)
    for number, item in enumerate(session.items):
        calls.clear()
        began = time.monotonic()
        if first_failure(session, [item]):
            reporter: Any = session.config.pluginmanager.get_plugin("terminalreporter")
            reports = [report.longreprtext for report in reporter.getreports("failed")]
            print(f"{item.nodeid} fails without a change", *reports, sep="\n", flush=True)
            return 1
        seconds.append(time.monotonic() - began)
        for name in calls:
            callers[name].append(number)
    path.write_text(json.dumps({"seconds": seconds, "callers": callers}), encoding="utf-8")
    return 0


def killed(session: pytest.Session, items: list[pytest.Item], mutant: str, longest: float) -> bool:
    """Whether a test failed, or did not come to an end."""
    child = os.fork()
    if child == 0:
        from mutmut.mutation import trampoline

        trampoline.set_mutant_under_test(mutant)
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        os._exit(first_failure(session, items))
    return ended(child, longest) != 0


def ended(child: int, longest: float) -> int:
    """The exit status; of a process that had to be killed, a failure."""
    until = time.monotonic() + longest
    while time.monotonic() < until:
        process, status = os.waitpid(child, os.WNOHANG)
        if process:
            return status
        time.sleep(0.01)
    os.kill(child, 9)
    return os.waitpid(child, 0)[1]


def first_failure(session: pytest.Session, items: Sequence[pytest.Item]) -> int:
    try:
        for item, following in zip(items, [*items[1:], None], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if session.testsfailed:
                return 1
    except BaseException:  # a mutant that ends the process is noticed too
        return 1
    return 0


def mutated(source: Path, pattern: str) -> Iterator[str]:
    """The names of the mutants, which are written into the files below `source`."""
    from mutmut.mutation.file_mutation import mutate_file_contents

    place = source / "herorun" / pattern
    for path in [place] if place.is_file() else sorted(place.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        module = ".".join(path.relative_to(source).with_suffix("").parts)
        result: Any = mutate_file_contents(str(path), text)
        path.write_text(result.code, encoding="utf-8")
        yield from (f"{module.removesuffix('.__init__')}.{name}" for name in result.mutant_names)


def sample(names: list[str], every: int, most: int) -> list[str]:
    """Each N-th of them, and no more than `most`, evenly spread."""
    return names[:: max(every, -(-len(names) // most))]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--module", action="append", required=True, help="below src/herorun")
    parser.add_argument("--every", type=int, default=1, help="only each N-th mutant of a module")
    parser.add_argument("--most", type=int, default=10**6, help="mutants of each module")
    parser.add_argument("--only", type=Path, help="a file with the names of mutants, one a line")
    parser.add_argument("tests", nargs="+")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source = copied(Path(folder))
        rooms = {
            room: sample(list(mutated(source, room)), options.every, options.most)
            for room in options.module
        }
        if options.only:
            selected = set(options.only.read_text(encoding="utf-8").split())
            rooms = {room: [n for n in names if n in selected] for room, names in rooms.items()}
        sys.path.insert(0, str(source))
        import herorun  # from the copy, before pytest puts the tree's own path first

        assert str(source) in herorun.__file__
        plugin = Mutation([name for names in rooms.values() for name in names], Path(folder))
        arguments = ["-q", "-p", "no:cacheprovider", "-m", "not back_end and not thorough"]
        code = pytest.main([*arguments, *options.tests], plugins=[plugin])
        if code == 0:
            report(source, rooms, plugin)
    return int(code)


def copied(folder: Path) -> Path:
    """The sources, to be changed, next to all that they read."""
    for path in TOP.iterdir():
        if path.name != "src" and not path.name.startswith("."):
            (folder / path.name).symlink_to(path)
    shutil.copytree(TOP / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
    return folder / "src"


def report(source: Path, rooms: dict[str, list[str]], plugin: Mutation) -> None:
    """What each survivor changed, and the score of each room."""
    changes = {name: change(source, name) for name in plugin.survivors}
    for name, lines in changes.items():
        print("\n".join([name, *lines]))
    print("room: mutants, killed, survive with other wording, without a test, with one")
    for room, names in rooms.items():
        alive = [name for name in names if name in changes]
        wording = [name for name in alive if is_wording(changes[name])]
        uncalled = [name for name in alive if name in plugin.uncalled and name not in wording]
        unnoticed = len(alive) - len(wording) - len(uncalled)
        print(f"{room}: {len(names)}, {len(names) - len(alive)}, "
              f"{len(wording)}, {len(uncalled)}, {unnoticed}")  # fmt: skip


def is_wording(lines: list[str]) -> bool:
    """Whether only a sentence for people changed, which `tests/screens` pins."""
    return bool(lines) and all(PROSE.search(line) for line in lines)


def change(source: Path, name: str) -> list[str]:
    """The lines that a mutant has instead of others."""
    import difflib

    module, _, mutant = name.rpartition(".")
    base = source / Path(*module.split("."))
    path = base / "__init__.py" if base.is_dir() else base.with_suffix(".py")
    text = path.read_text(encoding="utf-8").splitlines()
    one, other = function(text, f"{function_name(mutant)}__mutmut_orig"), function(text, mutant)
    return [
        line
        for line in difflib.ndiff(one[1:], other[1:])
        if line.startswith(("- ", "+ ")) and "mutmut" not in line
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


if __name__ == "__main__":
    sys.exit(main())
