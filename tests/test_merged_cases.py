"""Merged cases fail as they would alone, and each that fails is named."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
CONFTEST = """
from merged_cases import MergingPlugin

def pytest_configure(config):
    config.pluginmanager.register(MergingPlugin(config))
"""
CASES = """
import sys

import pytest
from hypothesis import given, strategies as st

pairs = pytest.mark.parametrize(("one", "other"), [(1, 1), (2, 3), (4, 4), (5, 6)])

@pairs
def test_some_fail(one, other):
    assert one == other

@pairs
def test_one_ends_the_process(one, other):
    if one == 2:
        sys.exit(3)
    assert one != 5

@pairs
def test_each_stops_in_its_own_way(one, other):
    if one == 2:
        pytest.fail("by its own word")
    if one == 4:
        pytest.skip("not here")
    with pytest.raises(ZeroDivisionError):
        one / (other - 1)

@pairs
def test_all_pass(one, other):
    assert one <= other

@pairs
def test_one_is_left_out(one, other):
    if one == 4:
        pytest.skip("not here")

class TestOfAClass:
    @pairs
    def test_a_method(self, one, other):
        assert isinstance(self, TestOfAClass) and one < 5

@pairs
def test_a_fixture_is_made_for_each(one, other, tmp_path):
    assert not list(tmp_path.iterdir())
    (tmp_path / "it").write_text("")

@pytest.mark.parametrize("number", [1, pytest.param(2, marks=pytest.mark.xfail), 3])
def test_a_case_with_a_mark_stays_alone(number):
    assert number != 2

@pytest.fixture
def doubled(request):
    return request.param * 2

@pytest.mark.parametrize("doubled", [1, 2], indirect=True)
def test_a_value_that_a_fixture_makes(doubled):
    assert doubled in (2, 4)

@pytest.mark.parametrize("number", [1, 2])
@given(st.booleans())
def test_examples(number, yes):
    assert number
"""


# every other plugin that is installed takes its part of a second to import
PYTEST = [sys.executable, "-m", "pytest", "-p", "hypothesispytest"]


def environment(folder: Path) -> dict[str, str]:
    return {
        **os.environ,
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONPATH": str(TESTS),
        "PYTEST_DEBUG_TEMPROOT": str(folder),
    }


def test_all_cases_are_run_and_those_that_fail_are_named(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_cases.py").write_text(CASES)
    process = subprocess.run(
        [*PYTEST, "-p", "no:cacheprovider", "-rfs", "-v", "--tb=short", "."],
        cwd=tmp_path,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    results = dict(re.findall(r"^test_cases\.py::(\S+) ([A-Z]+)", process.stdout, re.MULTILINE))

    assert process.returncode == pytest.ExitCode.TESTS_FAILED, process.stderr
    assert {name: outcome for name, outcome in results.items() if "[" not in name} == {
        "test_some_fail": "FAILED",
        "test_one_ends_the_process": "FAILED",
        "test_each_stops_in_its_own_way": "FAILED",
        "test_all_pass": "PASSED",
        "test_one_is_left_out": "SKIPPED",
        "TestOfAClass::test_a_method": "FAILED",
        "test_a_case_with_a_mark_stays_alone": "PASSED",
    }
    assert sorted(name for name in results if "[" in name) == [
        "test_a_case_with_a_mark_stays_alone[2]",
        *(f"test_a_fixture_is_made_for_each[{pair}]" for pair in ("1-1", "2-3", "4-4", "5-6")),
        *(f"test_a_value_that_a_fixture_makes[{number}]" for number in (1, 2)),
        *(f"test_examples[{number}]" for number in (1, 2)),
    ]
    assert set(re.findall(r"case: test_cases\.py::(\S+)", process.stdout)) == {
        "test_some_fail[2-3]",
        "test_some_fail[5-6]",
        "test_one_ends_the_process[2-3]",
        "test_one_ends_the_process[5-6]",
        "test_each_stops_in_its_own_way[2-3]",
        "test_each_stops_in_its_own_way[5-6]",
        "TestOfAClass::test_a_method[5-6]",
    }
    assert "assert 2 == 3" in process.stdout and "assert 5 == 6" in process.stdout


def test_the_cases_that_failed_are_those_that_last_failed(tmp_path: Path) -> None:
    """Run again they are alone, by `--lf` too, until they pass."""
    (tmp_path / "conftest.py").write_text(
        CONFTEST.replace("    config", "    if not config.getoption('lf'):\n        config")
    )
    module = tmp_path / "test_cases.py"
    module.write_text(CASES[: CASES.index("@pairs\ndef test_each")])

    def failing(*options: str) -> set[str]:
        process = subprocess.run(
            [*PYTEST, "-v", "--tb=no", *options, "."],
            cwd=tmp_path,
            env=environment(tmp_path),
            capture_output=True,
            text=True,
            check=False,
        )
        return set(re.findall(r"^test_cases\.py::(\S+) FAILED", process.stdout, re.MULTILINE))

    cases = {"test_some_fail[2-3]", "test_some_fail[5-6]"}
    cases |= {f"test_one_ends_the_process[{pair}]" for pair in ("2-3", "5-6")}
    assert failing() == {"test_some_fail", "test_one_ends_the_process"}
    assert failing("--lf") == cases
    module.write_text(module.read_text().replace("one == other", "other"))
    assert failing() == {"test_one_ends_the_process"}
    assert failing("--lf") == {case for case in cases if "process" in case}
