"""An adapter of another package, loaded by its entry point, keeps the contract of its port: the
suite of each port runs on one.
"""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from herorun import adapters

TOP = Path(__file__).parents[1]
SRC, TESTS, TEMPLATES = TOP / "src", TOP / "tests", TOP / "templates"
THEIRS = TESTS / "theirs"
GROUP = re.compile(r'entry_points_of\(f?"herorun\.([^"]+)"')


@dataclass(frozen=True)
class Foreign:
    """`module` is the package's; `test` has the suite, and of its text `ours` is replaced."""

    module: str
    test: Path
    ours: str
    theirs: str


def of_template(port: str, name: str, package: str, kind: str) -> Foreign:
    """The adapter of the recipe, and the test that the recipe copies."""
    return Foreign(
        (TEMPLATES / f"{name}.py").read_text(encoding="utf-8"),
        TEMPLATES / f"test_{name}.py",
        f"from {package} import {kind}\n",
        f'from herorun import adapters\n\n{kind} = adapters.adapter_module("{port}", "theirs")\n',
    )


def of_package(name: str) -> Foreign:
    """An adapter that shares no code with ours, and the test that its package would have."""
    text = (THEIRS / f"{name}.py").read_text(encoding="utf-8")
    return Foreign(text, THEIRS / f"suite_of_{name}.py", "", "")


SUITES = {
    "schedulers": of_template("schedulers", "scheduler", "herorun.schedulers", "jobq"),
    "trackers": of_template("trackers", "tracker", "herorun.trackers", "csv_rows"),
    "notifiers": of_template("notifiers", "notifier", "herorun.notifiers", "folder"),
    "stores.layouts": of_template(
        "stores.layouts", "layout", "herorun.stores.layouts", "done_file"
    ),
    # of these two there is no template
    "stores": of_package("shelf"),
    "schedulers.external": of_package("spool"),
}


def install(folder: Path, port: str, module: str) -> None:
    facts = folder / "theirs-1.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1\n")
    (facts / "entry_points.txt").write_text(f"[herorun.{port}]\ntheirs = an_adapter_of_theirs\n")
    (folder / "an_adapter_of_theirs.py").write_text(module, encoding="utf-8")


def test_every_group_of_entry_points_has_a_suite() -> None:
    """A group that the code reads and nothing here lists would go untested."""
    texts = [path.read_text(encoding="utf-8") for path in SRC.rglob("*.py")]
    groups = {group for text in texts for group in GROUP.findall(text)}
    assert groups == {"{port}", "checks"}  # checks: tests/test_entry_points.py
    assert set(SUITES) == set(adapters.PORTS)


@pytest.mark.thorough
@pytest.mark.parametrize("port", SUITES)
def test_an_adapter_of_another_package_keeps_the_contract(port: str, tmp_path: Path) -> None:
    foreign = SUITES[port]
    install(tmp_path, port, foreign.module)
    text = foreign.test.read_text(encoding="utf-8")
    assert foreign.ours in text
    text = text.replace(foreign.ours, foreign.theirs) if foreign.ours else text
    (tmp_path / "test_theirs.py").write_text(text, encoding="utf-8")
    path = os.pathsep.join([str(tmp_path), str(SRC), str(TESTS)])
    argv = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "conftest", "-n0", "-rA"]
    argv += ["-m", "not back_end and not thorough", "--rootdir", str(TOP)]
    argv += ["-c", str(TOP / "pyproject.toml")]
    process = subprocess.run(
        [sys.executable, *argv, str(tmp_path / "test_theirs.py")],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert process.returncode == 0, process.stdout[-4000:] + process.stderr
    assert "test_it_has_every_member_of_its_port" in process.stdout
