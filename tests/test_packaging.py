"""What is shipped, and what is pinned."""

import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import herorun
from wording import mentions

TOP = Path(__file__).parents[1]
PROJECT = tomllib.loads((TOP / "pyproject.toml").read_text())
REQUIREMENTS = [
    *PROJECT["project"]["dependencies"],
    *PROJECT["project"]["optional-dependencies"]["demo"],
]
BUILD = PROJECT["build-system"]["requires"]
DEVELOPMENT = PROJECT["dependency-groups"]["dev"]


def pins(name: str) -> dict[str, str]:
    """Package to version; anything else in the file is an error."""
    lines = [line for line in (TOP / name).read_text().splitlines() if not line.startswith("#")]
    pins = [re.fullmatch(r"([A-Za-z0-9._-]+)==([A-Za-z0-9.+!]+)", line) for line in lines]
    assert all(pins), [line for line, ok in zip(lines, pins, strict=True) if not ok]
    return {canonicalize_name(pin[1]): pin[2] for pin in pins if pin}


RUNNING = pins("requirements.txt")
ALL = RUNNING | pins("requirements-dev.txt")


def unmet(lines: list[str], pinned_versions: dict[str, str]) -> list[str]:
    """What is asked for and not pinned, or pinned to a version that does not do."""
    requirements = [Requirement(text) for text in lines]
    versions = [(need, pinned_versions.get(canonicalize_name(need.name))) for need in requirements]
    return [
        str(need)
        for need, version in versions
        if not (version and need.specifier.contains(version, True))
    ]


def needs(name: str) -> list[str]:
    """What an installed package needs here, extras apart."""
    try:
        requirements = [Requirement(text) for text in requires(name) or []]
    except PackageNotFoundError:
        return []  # pinned for another platform, or only to develop
    return [
        str(need) for need in requirements if not need.marker or need.marker.evaluate({"extra": ""})
    ]


def test_what_is_asked_for_is_pinned() -> None:
    assert unmet([*REQUIREMENTS, *BUILD], RUNNING) == []
    assert unmet(DEVELOPMENT, ALL) == []


@pytest.mark.parametrize("pinned_versions", [RUNNING, ALL], ids=["to run", "to develop"])
def test_what_the_pinned_ones_need_is_pinned_too(pinned_versions: dict[str, str]) -> None:
    names = [
        canonicalize_name(Requirement(need).name)
        for name in pinned_versions
        for need in needs(name)
    ]
    assert len(names) > 50
    assert set(names) - pinned_versions.keys() - {"pip", "setuptools"} == set()


def test_to_run_it_nothing_is_needed_that_only_developers_use() -> None:
    assert not {"pytest", "mypy", "ruff", "import-linter", "hypothesis"} & RUNNING.keys()
    assert not RUNNING.keys() & pins("requirements-dev.txt").keys()


def test_lower_bounds_stay_loose() -> None:
    for text in [*REQUIREMENTS, *DEVELOPMENT]:
        assert not [s for s in Requirement(text).specifier if s.operator in ("==", "~=")], text


def wheel_of(project: Path, folder: Path) -> Path:
    words = ["-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    process = subprocess.run(
        [sys.executable, *words], cwd=project, capture_output=True, text=True, timeout=60
    )
    assert process.returncode == 0, process.stderr
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def built_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wheel_of(TOP, tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def light(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wheel_of(TOP / "checkin", tmp_path_factory.mktemp("light"))


def checked_in(python: Path | str, tmp_path: Path, site: str = "") -> str:
    """The file of `herorun` and the receipt's outcome, in a job with an empty PATH."""
    admission = tmp_path / "admission.json"
    admission.write_text(
        json.dumps({"schema": 1, "instance": "tiny-1", "output_root": str(tmp_path)})
    )
    script = "import herorun; print(herorun.__file__, herorun.check_in(required=True)['outcome'])"
    env = {"PYTHONPATH": site, "PATH": "", "HERORUN_ADMISSION": str(admission)}
    process = subprocess.run(
        [str(python), *(["-S"] if site else []), "-c", script],
        env=env,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert process.returncode == 0, process.stderr
    return process.stdout


def test_a_training_environment_gets_the_check_in_and_nothing_else(
    light: Path, tmp_path: Path
) -> None:
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True, timeout=60)
    python = venv / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
    install = [*pip, "install", "--quiet", "--no-index", "--no-compile", str(light)]
    subprocess.run(install, check=True, timeout=120)
    listing = "from importlib.metadata import distributions\nfor each in distributions(): "
    freeze = subprocess.run(
        [python, "-I", "-c", listing + "print(each.name, each.version)"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert freeze.stdout == f"herorun-checkin {herorun.__version__}\n"
    assert checked_in(python, tmp_path).endswith("site-packages/herorun.py pass\n")
    script = "from herorun.checkin import check_in; import herorun; herorun.log({}, step=0)"
    process = subprocess.run(
        [python, "-c", script + "; herorun.seal"], capture_output=True, text=True, timeout=30
    )
    assert mentions(process.stderr, "attribute", "herorun-checkin")


def test_both_distributions_share_no_file_and_the_full_one_is_imported(
    built_wheel: Path, light: Path, tmp_path: Path
) -> None:
    with zipfile.ZipFile(built_wheel) as full, zipfile.ZipFile(light) as part:
        assert not set(full.namelist()) & set(part.namelist())
        full.extractall(tmp_path / "site")
        part.extractall(tmp_path / "site")
        part.extractall(tmp_path / "first")
    package = f"{tmp_path}/site/herorun/__init__.py pass\n"
    assert checked_in(sys.executable, tmp_path, f"{tmp_path}/site") == package
    both = f"{tmp_path}/first{os.pathsep}{tmp_path}/site"  # as an editable install of the package
    assert checked_in(sys.executable, tmp_path, both) == package


def test_a_job_checks_in_with_the_wheel_alone_and_with_no_program_at_hand(
    built_wheel: Path, tmp_path: Path
) -> None:
    """As in a container: installed without its dependencies, no git, no network, no tracker."""
    with zipfile.ZipFile(built_wheel) as wheel:
        wheel.extractall(tmp_path / "site")
    package = f"{tmp_path}/site/herorun/__init__.py pass\n"
    assert checked_in(sys.executable, tmp_path, f"{tmp_path}/site") == package


def test_the_wheel_holds_the_templates_and_the_types(built_wheel: Path) -> None:
    with zipfile.ZipFile(built_wheel) as wheel:
        names = set(wheel.namelist())
        metadata = wheel.read(f"herorun-{herorun.__version__}.dist-info/METADATA").decode()
    templates = {
        path
        for path in (TOP / "templates").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {f"herorun/{path.relative_to(TOP).as_posix()}" for path in templates} <= names
    assert len(templates) > 10
    rows = {
        f"herorun/signatures/{path.name}"
        for path in (TOP / "src/herorun/signatures").glob("*.toml")
    }
    assert rows <= names and len(rows) > 5
    assert {"herorun/py.typed", "herorun/cli.py", "herorun/checks/launch/dirty_tree.py"} <= names
    assert not [name for name in names if "__pycache__" in name or not name.startswith("herorun")]
    assert "Requires-Python: >=3.11" in metadata
    assert "Provides-Extra: demo" in metadata


def test_the_versions_agree() -> None:
    assert Version(herorun.__version__)
    process = subprocess.run(
        [sys.executable, "-m", "herorun", "--version"], capture_output=True, text=True, timeout=60
    )
    assert process.stdout == f"herorun, version {herorun.__version__}\n"


def rehearse_make(target: str, python: str = sys.executable) -> str:
    """What make would do on a fresh machine."""
    argv = ["make", "--dry-run", "VENV=not-there-yet", f"PYTHON={python}", target]
    return subprocess.run(
        argv, cwd=TOP, capture_output=True, text=True, timeout=60, check=True
    ).stdout


@pytest.mark.thorough
@pytest.mark.parametrize(
    "target", ["demo", "test", "crash", "lint", "types", "docs", "docs-check", "bench", "wheel"]
)
def test_every_target_sets_itself_up(target: str) -> None:
    text = rehearse_make(target)
    assert "-m venv not-there-yet" in text
    assert "--requirement requirements.txt" in text
    assert "--editable ." in text


@pytest.mark.thorough
def test_the_demo_needs_none_of_the_developers_tools() -> None:
    assert "requirements-dev" not in rehearse_make("demo")
    assert "requirements-dev" in rehearse_make("test")


def test_a_folder_with_a_space_may_hold_the_python() -> None:
    assert '"/my programs/python3" -m venv' in rehearse_make("demo", "/my programs/python3")


def test_an_unpacked_source_archive_has_what_make_runs() -> None:
    archive = tomllib.loads((TOP / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    programs = set(
        re.findall(r"(?<![\w$(/])(?:\.ci|tests|docs)/[\w/.-]+", (TOP / "Makefile").read_text())
    )
    assert ".ci/python" in programs
    include = archive["targets"]["sdist"]["include"]
    assert {each.partition("/")[0] for each in programs} <= set(include)


def chosen_python(*folders: Path) -> str:
    """For the environments, of those on such a PATH."""
    argv = ["/bin/sh", TOP / ".ci" / "python", "python3.0", "python3"]
    env = {"PATH": ":".join(map(str, folders))}
    return subprocess.run(
        argv, env=env, capture_output=True, text=True, timeout=60, check=True
    ).stdout.strip()


def test_the_fastest_python_that_fits_is_chosen(tmp_path: Path) -> None:
    for name, code, microseconds in (("old", 1, 1), ("slow", 0, 900), ("fast", 0, 700)):
        python = tmp_path / name / "python3"
        python.parent.mkdir()
        condition = f'case $2 in *ensurepip*) echo "$0"; exit {code};; esac'
        python.write_text(f"#!/bin/sh\n{condition}\necho {microseconds}\n")
        python.chmod(0o755)
    old, slow, fast = (tmp_path / name for name in ("old", "slow", "fast"))
    assert chosen_python(old, slow, fast) == chosen_python(fast, slow) == f"{fast}/python3"
    assert chosen_python(old, slow) == f"{slow}/python3"
    assert chosen_python(old) == ""


def test_a_real_python_is_chosen_and_runs() -> None:
    python = chosen_python(Path(sys.base_prefix) / "bin", Path("/usr/bin"))
    code = "import sys; print(sys.version_info >= (3, 11))"
    assert subprocess.check_output([python, "-c", code], timeout=60) == b"True\n"


def test_too_old_a_python_is_reported(tmp_path: Path) -> None:
    argv = ["make", "VENV=" + str(tmp_path / "venv"), "PYTHON=", "demo"]
    process = subprocess.run(argv, cwd=TOP, capture_output=True, text=True, timeout=60)
    assert process.returncode == 2
    assert mentions(process.stderr, "herorun", "Python 3.11", "make PYTHON=", "demo")
    assert not (tmp_path / "venv").exists()


def test_ci_can_be_run() -> None:
    script = TOP / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert subprocess.run(["bash", "-n", script], timeout=60).returncode == 0
    text = script.read_text()
    for words in (
        "make test\n",
        "make lint types docs-check site",
        "make test-thorough",
        'herorun" demo',
    ):
        assert words in text
