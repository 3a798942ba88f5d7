"""The recipes of CONTRIBUTING.md, followed to the letter in a copy of the tree."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

import pytest

TOP = Path(__file__).parents[1]
GUIDE = (TOP / "CONTRIBUTING.md").read_text(encoding="utf-8")
EDIT = re.compile(
    r"^(?:Append to|Insert below `(?P<anchor>[^`\n]+)` in) `(?P<path>[^`\s]+)`[^\n]*:\n\n"
    r"```(?:python|text)\n(?P<text>.*?)^```",
    re.MULTILINE | re.DOTALL,
)
NAMES = (
    "A check",
    "A detector",
    "An evidence source",
    "A scheduler",
    "A tracker",
    "A notifier",
    "A store layout",
    "A command",
)


@dataclass(frozen=True)
class Recipe:
    name: str
    text: str

    @property
    def copies(self) -> list[tuple[str, str]]:
        """Templates and where they go."""
        return re.findall(r"^cp (\S+) (\S+)$", self.text, re.MULTILINE)

    @property
    def edits(self) -> list[re.Match[str]]:
        return list(EDIT.finditer(self.text))

    @property
    def files(self) -> set[str]:
        return {target for _, target in self.copies} | {edit["path"] for edit in self.edits}

    @property
    def tests(self) -> list[str]:
        return [target for _, target in self.copies if target.startswith("tests/")]


def recipes() -> list[Recipe]:
    part = GUIDE.partition("\n## Recipes\n")[2].partition("\n### In a package of your own\n")[0]
    _, *parts = re.split(r"^### (.+)$", part, flags=re.MULTILINE)
    return [Recipe(*pair) for pair in zip(parts[::2], parts[1::2], strict=True)]


RECIPES = recipes()


def follow(top: Path, recipe: Recipe) -> None:
    for source, target in recipe.copies:
        (top / target).parent.mkdir(parents=True, exist_ok=True)
        assert not (top / target).exists(), f"{target} exists: take another example"
        shutil.copy(top / source, top / target)
    for edit in recipe.edits:
        path = top / edit["path"]
        text = path.read_text(encoding="utf-8")
        anchor = f"{edit['anchor']}\n"
        if edit["anchor"]:
            assert text.count(f"\n{anchor}") == 1, (edit["path"], edit["anchor"])
            text = text.replace(f"\n{anchor}", f"\n{anchor}{edit['text']}")
        else:
            text = f"{text}\n\n{edit['text']}"
        path.write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tree with every recipe followed, and nothing else done."""
    top = tmp_path_factory.mktemp("tree")
    shutil.copy(TOP / "pyproject.toml", top)
    for folder in ("src", "tests", "templates"):
        shutil.copytree(TOP / folder, top / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for recipe in RECIPES:
        follow(top, recipe)
    return top


def run(copy: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    # pytest removes at its end what earlier runs left in its temporary folder, tens of thousands
    # of files after `make test`: this one has a folder of its own.
    temporary = copy.parent / "temporary"
    temporary.mkdir(exist_ok=True)
    env = {
        **os.environ,
        "PYTHONPATH": str(copy / "src"),
        "PYTEST_ADDOPTS": "-p no:cacheprovider",
        "PYTEST_DEBUG_TEMPROOT": str(temporary),
    }
    argv = (sys.executable, "-m", *argv)
    return subprocess.run(argv, cwd=copy, env=env, capture_output=True, text=True, timeout=600)


def test_there_is_a_recipe_for_everything_that_is_added() -> None:
    assert tuple(recipe.name for recipe in RECIPES) == NAMES


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_a_recipe_counts_its_files_and_tests_each_thing(recipe: Recipe) -> None:
    file_count = re.match(r"\s*(\d+) files: ", recipe.text)
    assert file_count and int(file_count[1]) == len(recipe.files)
    things = [target for _, target in recipe.copies if target.startswith("src/herorun/")]
    tests = {Path(test).name for test in recipe.tests}
    assert {f"test_{Path(thing).name}" for thing in things} == tests
    assert len(things) + len(tests) == len(recipe.copies) > 0
    code_blocks = len(re.findall(r"^```(?:python|text)$", recipe.text, re.MULTILINE))
    assert len(recipe.edits) == code_blocks - (recipe.name == "A check")  # which shows its copy


def test_the_check_that_is_shown_is_the_one_that_is_copied() -> None:
    assert (TOP / "templates/check.py").read_text(encoding="utf-8") in RECIPES[0].text


@pytest.mark.thorough
def test_the_recipes_work_and_their_tests_pass(copy: Path) -> None:
    tests = [test for recipe in RECIPES for test in recipe.tests]
    process = run(copy, "pytest", "-n0", *tests, "tests/checks/test_pages.py")
    assert process.returncode == 0, process.stdout[-3000:]
    test_name = "test_every_command_with_json_has_a_schema_and_a_test_of_it"
    process = run(copy, "pytest", "-n0", f"tests/pages/test_schemas.py::{test_name}")
    assert process.returncode == 0, process.stdout[-3000:]


def test_the_new_check_is_found_without_another_edit(copy: Path) -> None:
    output = run(copy, "herorun", "explain", "--list").stdout
    assert re.search(r"^launch +detached-head +The launch .*no branch\.$", output, re.MULTILINE)


@pytest.mark.thorough
def test_the_new_kinds_are_found_by_their_names(copy: Path) -> None:
    script = (
        "from herorun import adapters, discover; print([adapters.adapter_kinds(p) for p in "
        "adapters.ADAPTERS])"
    )
    env = {**os.environ, "PYTHONPATH": str(copy / "src")}
    process = subprocess.run(
        [sys.executable, "-c", script],
        cwd=copy,
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
    )
    for kind in ("jobq", "csv_rows", "folder", "done_file"):
        assert f"'{kind}'" in process.stdout, process.stderr


LEFT_BEHIND = """

def test_that_fails_while_its_job_ignores_a_stop(rig):
    rig.submit(rig.job("trap '' TERM; echo up; exec sleep {seconds}"))
    while "up" not in rig.tail("tiny-1"):
        time.sleep(0.01)
    rig.connect().stop("tiny-1", "the test")
    assert False, "as a test that finds a fault"
"""


@pytest.mark.thorough
def test_a_failed_test_of_the_new_scheduler_leaves_no_process(copy: Path) -> None:
    seconds = f"{300 + os.getpid()}"  # nobody else sleeps as long
    failing = copy / "tests/schedulers/test_left_behind.py"
    whole = (copy / "tests/schedulers/test_jobq.py").read_text()
    failing.write_text(whole + LEFT_BEHIND.replace("{seconds}", seconds))
    process = run(copy, "pytest", "-n0", str(failing), "-k", "that_fails")
    assert "as a test that finds a fault" in process.stdout
    deadline = monotonic() + 60.0
    while running := [argv for argv in all_argv() if argv == ["sleep", seconds]]:
        assert monotonic() < deadline, running
        sleep(0.05)


def all_argv() -> Iterator[list[str]]:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            yield path.read_text().rstrip("\0").split("\0")


@pytest.mark.thorough
def test_the_new_files_keep_the_house_rules(copy: Path) -> None:
    paths = sorted({path for recipe in RECIPES for path in recipe.files})
    assert run(copy, "ruff", "check", "--no-cache", *paths).stdout.strip() == "All checks passed!"
    assert run(copy, "ruff", "format", "--no-cache", "--check", *paths).returncode == 0
    env = {**os.environ, "PYTHONPATH": str(copy / "src")}
    linter = Path(sys.executable).parent / "lint-imports"
    contracts = subprocess.run(
        [linter, "--no-cache"], cwd=copy, env=env, capture_output=True, timeout=300
    )
    assert contracts.returncode == 0, contracts.stdout.decode()
