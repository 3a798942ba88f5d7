"""Our finder loads a module as Python does, and leaves to Python what is not as usual."""

import os
import py_compile
import subprocess
import sys
from pathlib import Path

import pytest

LOADING_PROGRAM = """
import sys
{before}
import herorun.small as small, herorun.room.inner as inner, herorun.room as room
for each in (small, inner, room):
    spec = each.__spec__
    print(each.__name__, each.__file__, each.__cached__, each.__package__, spec.origin, spec.name,
          spec.has_location, spec.submodule_search_locations, getattr(each, "__path__", None))
print(small.VALUE, type(small.__loader__).__mro__[-3].__name__)
import inspect; print(inspect.getsource(small.ask))
try:
    import herorun.absent
except ModuleNotFoundError as error:
    print(error)
"""
OURS = f"""
import importlib.util
spec = importlib.util.spec_from_file_location("finder", {str(Path(__file__).parents[2])!r}
    + "/src/herorun/system/module_finder.py")
finder = importlib.util.module_from_spec(spec)
spec.loader.exec_module(finder)
finder.find_own_modules()
assert isinstance(sys.meta_path[0], finder.OwnModules) is {{used}}
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "herorun"
    (folder / "room").mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "small.py").write_text("VALUE = 1\ndef ask():\n    return VALUE\n")
    (folder / "room" / "__init__.py").touch()
    (folder / "room" / "inner.py").touch()
    (folder / "no_package").mkdir()
    return folder


def loaded_modules(package: Path, before: str = "", *options: str, **env: str) -> str:
    argv = [sys.executable, *options, "-c", LOADING_PROGRAM.format(before=before)]
    return subprocess.run(
        argv,
        cwd=package.parent,
        env={**os.environ, "PYTHONPATH": str(package.parent), **env},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stdout


@pytest.mark.parametrize("options", [(), ("-B",), ("-O",)])
def test_a_module_is_loaded_as_python_loads_it(package: Path, options: tuple[str, ...]) -> None:
    ours = OURS.format(used="-O" not in options)
    first = loaded_modules(package, ours, *options, PYTHONDONTWRITEBYTECODE="")
    assert first == loaded_modules(package, "", *options) == loaded_modules(package, ours, *options)
    assert "No module named 'herorun.absent'" in first
    assert "no_package" not in first


def test_bytecode_elsewhere_is_left_to_python(package: Path, tmp_path: Path) -> None:
    elsewhere = {"PYTHONPYCACHEPREFIX": str(tmp_path / "cache")}
    assert loaded_modules(package, OURS.format(used=False), **elsewhere) == loaded_modules(
        package, "", **elsewhere
    )


@pytest.mark.parametrize("changed_part", ["later", "longer", "hashed", "from elsewhere"])
def test_stale_bytecode_does_not_count(package: Path, changed_part: str) -> None:
    loaded_modules(package, PYTHONDONTWRITEBYTECODE="")
    source = package / "small.py"
    (bytecode,) = (package / "__pycache__").glob("small.*")
    text, at = source.read_text().replace("VALUE = 1", "VALUE = 2"), source.stat().st_mtime
    match changed_part:
        case "later":
            source.write_text(text)
            os.utime(source, (at + 60, at + 60))
        case "longer":
            source.write_text(f"{text}\n")
            os.utime(source, (at, at))
        case "hashed":
            source.write_text(text)
            checked_hash = py_compile.PycInvalidationMode.CHECKED_HASH
            py_compile.compile(str(source), str(bytecode), invalidation_mode=checked_hash)
        case "from elsewhere":
            (package.parent / "other.py").write_text(text)
            py_compile.compile(str(package.parent / "other.py"), str(bytecode))
    ours, python = loaded_modules(package, OURS.format(used=True)), loaded_modules(package)
    assert ours == python


def test_of_another_installation_a_new_module_is_found_and_an_old_one_is_missed(
    package: Path,
) -> None:
    text = f"""
import sys
{OURS.format(used=True)}
import herorun.room.inner, os
from pathlib import Path
room = Path({str(package)!r}) / "room"
(room / "inner.py").rename(room / "renamed.py")
(room.parent / "small.py").unlink()
import herorun.room.renamed
for name in ("small", "room.absent"):
    try:
        __import__("herorun." + name)
    except ModuleNotFoundError as error:
        print(error.name, error)
"""
    argv = [sys.executable, "-c", text]
    answer = subprocess.run(
        argv, cwd=package.parent, capture_output=True, text=True, timeout=60, check=True
    ).stdout.splitlines()
    assert answer[0].startswith("herorun.small herorun.small ")  # its name, and what happened to it
    assert answer[1:] == ["herorun.room.absent No module named 'herorun.room.absent'"]
