"""`make mutate`: change the code in one place after the other, and see whether a test fails.

`mutmut` makes the changes; each is tried in a fork of one process that has collected the tests, so
that a mutant costs its tests alone. Functions below a decorator are left out, as mutmut does.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

TOP = Path(__file__).parents[1]
SLOWER = 10.0  # times the tests without a change: then the mutant hangs, and is killed


class Mutation:
    """A plugin of pytest, which runs the collected tests once for each mutant."""

    def __init__(self, mutants: list[str]) -> None:
        self.mutants = mutants
        self.survivors: list[str] = []

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        began = time.monotonic()
        if killed(session, "", 600.0):
            raise pytest.UsageError("the tests fail without a change too")
        longest = SLOWER * (time.monotonic() - began) + 5.0
        for number, mutant in enumerate(self.mutants, 1):
            if not killed(session, mutant, longest):
                self.survivors.append(mutant)
                print(f"{number}/{len(self.mutants)} survives: {mutant}", flush=True)
        return True


def killed(session: pytest.Session, mutant: str, longest: float) -> bool:
    """Whether a test failed, or did not come to an end."""
    child = os.fork()
    if child == 0:
        os.environ["MUTANT_UNDER_TEST"] = mutant
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        os._exit(first_failure(session))
    until = time.monotonic() + longest
    while time.monotonic() < until:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status != 0
        time.sleep(0.01)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return True


def first_failure(session: pytest.Session) -> int:
    try:
        for item, following in zip(session.items, [*session.items[1:], None], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if session.testsfailed:
                return 1
    except BaseException:  # a mutant that ends the process is noticed too
        return 1
    return 0


def mutated(source: Path, chosen: list[str], every: int) -> Iterator[str]:
    """The names of the mutants, which are written into the files below `source`."""
    from mutmut.mutation.file_mutation import mutate_file_contents

    for pattern in chosen:
        found = source / "herorun" / pattern
        for path in [found] if found.is_file() else sorted(found.rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            module = ".".join(path.relative_to(source).with_suffix("").parts)
            result: Any = mutate_file_contents(str(path), text)
            path.write_text(result.code, encoding="utf-8")
            names = result.mutant_names
            yield from (f"{module.removesuffix('.__init__')}.{name}" for name in names[::every])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--module", action="append", required=True, help="below src/herorun")
    parser.add_argument("--every", type=int, default=1, help="only each N-th mutant of a module")
    parser.add_argument("tests", nargs="+")
    told = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "src"
        shutil.copytree(TOP / "src", source)
        mutants = list(mutated(source, told.module, told.every))
        sys.path.insert(0, str(source))
        import herorun  # from the copy, before pytest puts the tree's own path first

        assert str(source) in herorun.__file__
        plugin = Mutation(mutants)
        options = ["-q", "-p", "no:cacheprovider", "-m", "not back_end and not thorough"]
        pytest.main([*options, *told.tests], plugins=[plugin])
        whole, alive = len(mutants), len(plugin.survivors)
        print(f"{' '.join(told.module)}: {whole - alive} of {whole} killed")
        diffs(source, plugin.survivors)
    return 0


def diffs(source: Path, survivors: list[str]) -> None:
    """What each survivor changed, line by line."""
    import difflib

    for name in survivors:
        module, _, mutant = name.rpartition(".")
        base = source / Path(*module.split("."))
        path = base / "__init__.py" if base.is_dir() else base.with_suffix(".py")
        text = path.read_text(encoding="utf-8").splitlines()
        original = f"{mutant.rpartition('__mutmut_')[0]}__mutmut_orig"
        one, other = function(text, original), function(text, mutant)
        changes = [
            line
            for line in difflib.ndiff(one[1:], other[1:])
            if line.startswith(("- ", "+ ")) and "mutmut" not in line
        ]
        print("\n".join([name, *changes]))


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
