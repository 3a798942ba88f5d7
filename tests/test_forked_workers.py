"""What forked workers run is what one process would run, and nothing is lost with a worker."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from forked_workers import Queues

HERE = Path(__file__).parent
TESTS = """\
import os, signal, time, warnings
from pathlib import Path
import pytest

@pytest.fixture(scope="session", autouse=True)
def server(tmp_path_factory):
    yield
    Path("stopped").open("a").write(f"{tmp_path_factory.getbasetemp().name}\\n")

@pytest.mark.parametrize("number", range(40))
def test_passes(number):
    pass

def test_fails():
    print("what it printed")
    assert [1] == [2]

def test_warns():
    warnings.warn("an old way")

@pytest.mark.skip(reason="no such machine")
def test_is_skipped():
    pass

@pytest.fixture
def broken():
    raise OSError("no disk")

def test_cannot_begin(broken):
    pass
"""
DIES = """
def test_dies():
    os.kill(os.getpid(), signal.SIGKILL)
"""


def run(folder: Path, text: str, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_it.py").write_text(text)
    (folder / "conftest.py").write_text("def pytest_runtest_setup(item): pass\n")
    plugins = ["-p", "forked_workers", "-p", "no:cacheprovider", "-p", "no:hypothesispytest"]
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-ra", *plugins, "--workers", "3", *options],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(HERE), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("workers", [1, 2, 3, 7])
def test_each_test_is_taken_once(workers: int) -> None:
    queues = Queues(20, workers)
    order = [queues.take(number % workers) for number in range(20 + workers)]
    assert sorted(order[:20], key=str) == sorted(range(20), key=str)
    assert order[20:] == [None] * workers


def test_one_worker_alone_takes_its_own_part_first_and_then_all_of_the_others() -> None:
    queues = Queues(20, 4)
    order = [queues.take(2) for _ in range(20)]
    assert order[:5] == [10, 11, 12, 13, 14]
    assert sorted(order, key=str) == sorted(range(20), key=str)


def test_after_clearing_there_is_nothing_to_take() -> None:
    queues = Queues(20, 4)
    queues.clear()
    assert queues.take(0) is None


def test_each_outcome_is_reported_as_by_one_process(tmp_path: Path) -> None:
    done = run(tmp_path, TESTS)
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert "1 failed, 41 passed, 1 skipped, 1 warning, 1 error" in done.stdout
    for text in (
        "assert [1] == [2]",
        "what it printed",
        "an old way",
        "no disk",
        "no such machine",
    ):
        assert text in done.stdout
    stopped = (tmp_path / "stopped").read_text().split()  # once by each that had a test to run
    assert stopped and len(set(stopped)) == len(stopped)


def test_a_worker_that_dies_fails_its_test_and_the_one_it_had_next_and_no_other(
    tmp_path: Path,
) -> None:
    after = "def test_was_to_follow():\n    pass\n"
    done = run(tmp_path, TESTS.replace("def test_fails", f"{DIES}\n{after}\ndef test_fails"))
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    for name in ("test_dies", "test_was_to_follow"):
        why = f"test_it.py::{name} - not run to its end: a worker ended with -9"
        assert f"FAILED {why}" in done.stdout
    assert "3 failed, 41 passed, 1 skipped, 1 warning, 1 error" in done.stdout


def test_the_first_failure_ends_all_where_that_is_asked_for(tmp_path: Path) -> None:
    first = "import time\n\ndef test_fails_first():\n    assert False\n"
    many = TESTS.replace("    pass\n", "    time.sleep(0.1)\n", 1).replace(
        "range(40)", "range(400)"
    )
    done = run(tmp_path, first + many, "-x")
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert "1 failed" in done.stdout
    assert " passed" not in done.stdout or int(done.stdout.split(" passed")[0].split()[-1]) < 200
    stopped = (tmp_path / "stopped").read_text().split()
    assert stopped and len(set(stopped)) == len(stopped)
