"""The recipes of CONTRIBUTING.md, followed to the letter in a copy of the tree."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).parents[1]
GUIDE = (TOP / "CONTRIBUTING.md").read_text(encoding="utf-8")
COPIES = re.findall(r"^cp (\S+) (\S+)$", GUIDE, re.MULTILINE)
BLOCKS = re.findall(r"^```python\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tree with every recipe followed, and nothing else done."""
    top = tmp_path_factory.mktemp("tree")
    shutil.copy(TOP / "pyproject.toml", top)
    for folder in ("src", "tests", "templates"):
        shutil.copytree(TOP / folder, top / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for source, target in COPIES:
        (top / target).parent.mkdir(parents=True, exist_ok=True)
        assert not (top / target).exists(), (
            f"{target} is there already: the recipe needs another example"
        )
        shutil.copy(top / source, top / target)
    (evidence,) = [block for block in BLOCKS if block.startswith("@dataclass")]
    with (top / "src/herorun/core/evidence/runtime.py").open("a", encoding="utf-8") as file:
        file.write(f"\n\n{evidence}")
    return top


def run(copy: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(copy / "src"), "PYTEST_ADDOPTS": "-p no:cacheprovider"}
    argv = (sys.executable, "-m", *argv)
    return subprocess.run(argv, cwd=copy, env=env, capture_output=True, text=True, timeout=120)


def test_every_recipe_is_two_files_and_one_is_its_test() -> None:
    things = [target for _, target in COPIES if target.startswith("src/herorun/")]
    tests = [target for _, target in COPIES if target.startswith("tests/")]
    mirrored = [
        re.sub(r"^src/herorun/(.*)/(\w+\.py)$", r"tests/\1/test_\2", thing) for thing in things
    ]
    assert len(things) == 5
    assert mirrored == tests


def test_the_check_that_is_shown_is_the_one_that_is_copied() -> None:
    assert (TOP / "templates/check.py").read_text(encoding="utf-8") in BLOCKS


@pytest.mark.thorough
def test_the_recipes_work_and_their_tests_pass(copy: Path) -> None:
    tests = [target for _, target in COPIES if target.startswith("tests/")]
    done = run(copy, "pytest", "-n0", *tests, "tests/checks/test_pages.py")
    assert done.returncode == 0, done.stdout[-3000:]


def test_the_new_check_is_found_without_another_edit(copy: Path) -> None:
    listed = run(copy, "herorun", "explain", "--list").stdout
    assert re.search(
        r"^launch +detached-head +The launch is from no branch\.$", listed, re.MULTILINE
    )


@pytest.mark.thorough
def test_the_new_kinds_are_found_by_their_names(copy: Path) -> None:
    asked = (
        "from herorun import discover; print([discover.adapter_kinds(p) for p in "
        "discover.ADAPTERS])"
    )
    env = {**os.environ, "PYTHONPATH": str(copy / "src")}
    told = subprocess.run(
        [sys.executable, "-c", asked], cwd=copy, env=env, capture_output=True, text=True, timeout=60
    )
    for kind in ("jobq", "key_values", "folder"):
        assert f"'{kind}'" in told.stdout, told.stderr


@pytest.mark.thorough
def test_the_new_files_keep_the_house_rules(copy: Path) -> None:
    made = [target for _, target in COPIES]
    assert run(copy, "ruff", "check", "--no-cache", *made).stdout.strip() == "All checks passed!"
    env = {**os.environ, "PYTHONPATH": str(copy / "src")}
    linter = Path(sys.executable).parent / "lint-imports"
    contracts = subprocess.run(
        [linter, "--no-cache"], cwd=copy, env=env, capture_output=True, timeout=60
    )
    assert contracts.returncode == 0, contracts.stdout.decode()
