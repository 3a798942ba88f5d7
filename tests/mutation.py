"""`make mutate`: change the code in one place after the other, and see whether a test fails.

`mutmut` makes the changes; each is tried in a fork of one process that has collected the tests,
with the tests that call the changed function, the quickest first. Functions below a decorator are
left out, as mutmut does. With `--write` the survivors go to `tests/surviving_mutants.txt`.
"""

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import survivors

TOP = Path(__file__).parents[1]
SLOWER = 10.0  # times the tests without a change: then the mutant hangs, and is killed
BASELINE_SECONDS = 1800.0  # of all tests without a change
STATS = "stats"  # mutmut's trampolines then report each call


class Mutation:
    """A plugin of pytest, which runs the collected tests once for each mutant, and calls `done`
    after each room.
    """

    def __init__(
        self,
        rooms: dict[str, list[str]],
        folder: Path,
        longest_test: float,
        report: Callable[[str, "Mutation"], None],
    ) -> None:
        self.rooms = rooms
        self.folder = folder
        self.longest_test = longest_test
        self.report_room = report
        self.output = os.fdopen(os.dup(1), "w", buffering=1)  # pytest captures what is printed
        self.survivors: list[str] = []
        self.uncalled_mutants: list[str] = []  # the survivors of which no test calls the function
        self.hanging: list[str] = []  # noticed by the time limit

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        seconds, callers = baseline(session, self.folder / "baseline.json")
        for room, mutants in self.rooms.items():
            for number, mutant in enumerate(mutants, 1):
                callers_of_it = callers.get(survivors.function_name(mutant), ())
                quick = [test for test in callers_of_it if seconds[test] <= self.longest_test]
                how = self.run_mutant(
                    session, sorted(quick, key=seconds.__getitem__), seconds, mutant
                )
                if how:
                    print(f"{number}/{len(mutants)} {how}: {mutant}", file=self.output)
            self.report_room(room, self)
        return True

    def run_mutant(
        self, session: pytest.Session, tests: list[int], seconds: list[float], mutant: str
    ) -> str:
        """What is to be said of it: nothing if a test fails."""
        if not tests:
            self.survivors.append(mutant)
            self.uncalled_mutants.append(mutant)
            return "is called by no test"
        longest = SLOWER * sum(seconds[test] for test in tests) + 5.0
        status = outcome(session, [session.items[n] for n in tests], mutant, longest)
        if status is None:
            self.hanging.append(mutant)
            return "hangs"
        if status == 0:
            self.survivors.append(mutant)
            return "survives"
        return ""


def baseline(session: pytest.Session, path: Path) -> tuple[list[float], dict[str, list[int]]]:
    """The seconds of each test without a change, and the tests that call each function."""
    child = os.fork()
    if child == 0:
        os._exit(measure(session, path))
    if wait_for_end(child, BASELINE_SECONDS) != 0:
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


def outcome(
    session: pytest.Session, items: list[pytest.Item], mutant: str, longest: float
) -> int | None:
    """Not 0 if a test failed; None if they took longer than `longest` seconds."""
    child = os.fork()
    if child == 0:
        from mutmut.mutation import trampoline

        trampoline.set_mutant_under_test(mutant)
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        os._exit(first_failure(session, items))
    return wait_for_end(child, longest)


def wait_for_end(child: int, longest: float) -> int | None:
    """The exit status; None of a process that had to be killed."""
    until = time.monotonic() + longest
    while time.monotonic() < until:
        process, status = os.waitpid(child, os.WNOHANG)
        if process:
            return status
        time.sleep(0.01)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return None


def first_failure(session: pytest.Session, items: Sequence[pytest.Item]) -> int:
    try:
        for item, following in zip(items, [*items[1:], None], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if session.testsfailed:
                return 1
    except BaseException:  # a mutant that ends the process is noticed too
        return 1
    return 0


def mutant_names(source: Path, pattern: str) -> Iterator[str]:
    """The names of the mutants, which are written into the files below `source`."""
    from mutmut.mutation.file_mutation import mutate_file_contents

    package = source / "herorun"
    place = package / pattern
    for path in sorted(place.rglob("*.py") if place.is_dir() else package.glob(pattern)):
        text = path.read_text(encoding="utf-8")
        module = ".".join(path.relative_to(source).with_suffix("").parts)
        mutants: Any = mutate_file_contents(str(path), text)
        path.write_text(mutants.code, encoding="utf-8")
        yield from (f"{module.removesuffix('.__init__')}.{name}" for name in mutants.mutant_names)


def sample(names: list[str], most: int, seed: int) -> list[str]:
    """No more than `most` of them, chosen by the seed, in their order."""
    numbers = random.Random(seed).sample(range(len(names)), min(most, len(names)))
    return [names[number] for number in sorted(numbers)]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--module", action="append", required=True, help="below src/herorun")
    parser.add_argument("--most", type=int, default=10**6, help="mutants of each module")
    parser.add_argument("--seed", type=int, default=1, help="which of them, if there are more")
    parser.add_argument("--only", type=Path, help="a file with the names of mutants, one a line")
    parser.add_argument(
        "--longest-test", type=float, default=BASELINE_SECONDS, help="seconds: slower ones not run"
    )
    parser.add_argument("--marks", default="not back_end and not thorough", help="as pytest's -m")
    parser.add_argument("--write", action="store_true", help=f"into {survivors.FILE.name}")
    parser.add_argument("tests", nargs="+")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    with tempfile.TemporaryDirectory() as folder:
        source = copy_sources(Path(folder))
        every = {room: list(mutant_names(source, room)) for room in options.module}
        rooms = {room: sample(names, options.most, options.seed) for room, names in every.items()}
        if options.only:
            selected_names = set(options.only.read_text(encoding="utf-8").split())
            rooms = {
                room: [n for n in names if n in selected_names] for room, names in every.items()
            }
        sys.path.insert(0, str(source))
        import herorun  # from the copy, before pytest puts the tree's own path first

        assert str(source) in herorun.__file__

        def report_room(room: str, run: Mutation) -> None:
            outcome = survivors.result(source, room, rooms[room], run)
            how = f"{len(rooms[room])} of {len(every[room])} mutants, seed {options.seed}"
            print(survivors.report(outcome, how, options.tests, options.write), file=run.output)

        plugin = Mutation(rooms, Path(folder), options.longest_test, report_room)
        flags = ["-q", "-p", "no:cacheprovider", "-m", options.marks]
        code = pytest.main([*flags, *options.tests], plugins=[plugin])
    return int(code)


def copy_sources(folder: Path) -> Path:
    """The sources, to be changed, next to all that they read."""
    for path in TOP.iterdir():
        if path.name != "src" and not path.name.startswith("."):
            (folder / path.name).symlink_to(path)
    shutil.copytree(TOP / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
    return folder / "src"


if __name__ == "__main__":
    sys.exit(main())
