"""The lines that install herorun from a clone, typed in one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pages.blocks import commands

TOP = Path(__file__).parents[2]
PAGES = ("README.md", "docs/tutorial.md")
COMMANDS, TRAINING = "uv tool install .", "pip install ./checkin"


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("install") / "herorun"
    subprocess.run(["git", "clone", "-q", "--depth=1", TOP.as_uri(), folder], check=True)
    return folder


def type_line(line: str, clone: Path, programs: Path, **variables: str) -> None:
    path = os.pathsep.join([str(programs), os.environ["PATH"]])
    env = {**os.environ, "PATH": path, **variables}
    env.pop("PIP_REQUIRE_VIRTUALENV", None)
    process = subprocess.run(
        ["sh", "-c", line], cwd=clone, env=env, capture_output=True, text=True, timeout=280
    )
    assert process.returncode == 0, process.stderr


@pytest.mark.parametrize("page", PAGES)
def test_a_page_installs_both_parts_from_a_clone(page: str) -> None:
    lines = [command.line for command in commands(page, (TOP / page).read_text(encoding="utf-8"))]
    assert {COMMANDS, TRAINING} <= set(lines)


@pytest.mark.thorough
def test_the_commands_are_installed_as_typed(clone: Path, tmp_path: Path) -> None:
    tools = {"UV_TOOL_DIR": str(tmp_path / "tools"), "UV_TOOL_BIN_DIR": str(tmp_path / "bin")}
    uv = Path(sys.executable).parent
    type_line(COMMANDS, clone, uv, UV_PYTHON=sys.executable, **tools)
    subprocess.run([tmp_path / "bin" / "herorun", "--version"], check=True, timeout=60)


@pytest.mark.thorough
def test_the_training_side_is_installed_as_typed(clone: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True, timeout=120)
    programs = tmp_path / "venv" / "bin"
    type_line(TRAINING, clone, programs)
    script = "import herorun; herorun.check_in"
    subprocess.run([programs / "python", "-I", "-c", script], check=True, cwd=tmp_path, timeout=60)
