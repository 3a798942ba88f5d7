"""Forks run each test once, and tell all that one process would."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from work_shares import NOTHING, Shares

TESTS = Path(__file__).parent
CASES = """
import os
import warnings
from pathlib import Path

import pytest

ENDS = Path("ends")

@pytest.fixture(scope="session", autouse=True)
def its_end(tmp_path_factory):
    yield
    ENDS.mkdir(exist_ok=True)
    (ENDS / os.environ["PYTEST_XDIST_WORKER"]).write_text(str(tmp_path_factory.getbasetemp()))

@pytest.fixture(scope="module")
def numbers():
    return []

@pytest.mark.parametrize("number", range(20))
def test_passes(number, numbers, tmp_path, capfd):
    numbers.append(number)
    print(number)
    os.write(1, b"of its own")
    assert capfd.readouterr().out.split() == [str(number), "of", "its", "own"]
    assert len(numbers) == len(set(numbers))

def test_fails():
    print("what it", "printed")
    assert 1 == 2

def test_is_skipped():
    pytest.skip("to see a skip reported")

@pytest.fixture
def broken():
    yield
    assert 3 == 4

def test_ends_badly(broken):
    pass

def test_warns():
    warnings.warn("look out", DeprecationWarning)

def test_dies():
    os._exit(7)

def test_comes_after_it():
    pass
"""


FAILS_FIRST = """
import time

import pytest

def test_fails():
    assert 1 == 2

@pytest.mark.parametrize("number", range(40))
def test_takes_a_while(number):
    time.sleep(0.05)
"""


def run(folder: Path, *options: str, cases: str = CASES) -> subprocess.CompletedProcess[str]:
    (folder / "test_cases.py").write_text(cases)
    plugins = ["-p", "forked_workers", "-p", "no:cacheprovider"]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *plugins, "--tb=short", "-v", *options, "."],
        cwd=folder,
        env={
            **os.environ,
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTHONPATH": str(TESTS),
            "PYTEST_DEBUG_TEMPROOT": str(folder),
        },
        capture_output=True,
        text=True,
        check=False,
    )


def test_each_test_is_run_once_and_a_dead_worker_is_a_failure(tmp_path: Path) -> None:
    process = run(tmp_path, "--forks", "3")
    results = re.findall(r"^test_cases\.py::(\S+) ([A-Z]+)", process.stdout, re.MULTILINE)

    assert process.returncode == pytest.ExitCode.TESTS_FAILED, process.stdout
    assert sorted(results) == sorted(
        [
            *((f"test_passes[{number}]", "PASSED") for number in range(20)),
            ("test_fails", "FAILED"),
            ("test_is_skipped", "SKIPPED"),
            ("test_ends_badly", "PASSED"),
            ("test_ends_badly", "ERROR"),
            ("test_warns", "PASSED"),
            ("test_dies", "FAILED"),
            ("test_comes_after_it", "PASSED"),
        ]
    )
    assert {"assert 1 == 2", "assert 3 == 4"} <= set(re.findall("assert . == .", process.stdout))
    assert "what it printed" in process.stdout and "ended with 7" in process.stdout
    assert "DeprecationWarning: look out" in process.stdout
    folders = {end.name: Path(end.read_text()).name for end in (tmp_path / "ends").iterdir()}
    assert 2 <= len(folders) <= 3 and folders == {name: f"popen-{name}" for name in folders}


def test_it_stops_where_it_is_told_to(tmp_path: Path) -> None:
    process = run(tmp_path, "--forks", "2", "-x", cases=FAILS_FIRST)

    assert process.returncode == pytest.ExitCode.TESTS_FAILED, process.stdout
    assert "stopping after 1 failures" in process.stdout
    assert len(re.findall(r"^test_cases\.py::\S+ PASSED", process.stdout, re.MULTILINE)) < 40


def take_items(shares: Shares, worker: int) -> list[tuple[int, int]]:
    """Each that it runs, with what it was told to come next."""
    pairs = []
    while (share := shares.take(worker)).current != NOTHING:
        pairs.append((share.current, share.upcoming))
    return pairs


@pytest.mark.parametrize(("items", "workers"), [(1, 1), (7, 2), (8, 3), (100, 4)])
def test_whatever_one_worker_leaves_another_takes(items: int, workers: int) -> None:
    shares = Shares(items, workers)
    pairs = [pair for worker in reversed(range(workers)) for pair in take_items(shares, worker)]

    assert sorted(current for current, _ in pairs) == list(range(items))


def test_what_comes_next_is_nobody_elses_and_stays_with_the_share() -> None:
    shares = Shares(4, 2)
    assert (shares.take(0).current, shares.of(0).upcoming) == (0, 1)

    assert take_items(shares, 1) == [(2, 3), (3, NOTHING)]
    assert take_items(shares, 0) == [(1, NOTHING)]


def test_half_of_the_longest_share_is_taken_from_its_end() -> None:
    shares = Shares(20, 2)
    shares.take(1)  # it runs 10, and 11 comes next

    currents = [current for current, _ in take_items(shares, 0)]
    assert currents == [*range(10), 16, 17, 18, 19, 14, 15, 13, 12]


def test_after_a_stop_what_was_promised_is_run_and_nothing_else() -> None:
    shares = Shares(20, 2)
    shares.take(0)
    shares.stop()

    assert take_items(shares, 0) == [(1, NOTHING)]
    assert take_items(shares, 1) == []
