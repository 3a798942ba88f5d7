"""What the command names and imports, told from text."""

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from builders import a_contract, a_tree
from herorun.core.contract import Contract
from herorun.core.evidence import ImportClosure, WorkTree
from herorun.sources.import_closure import read_import_closure
from herorun.system.git import Repository
from wording import mentions


def closure(
    top: Path, files: Mapping[str, str], contract: Contract, tree: WorkTree | None = None
) -> ImportClosure:
    for name, text in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return read_import_closure(Repository(top, top / ".git"), contract, tree or a_tree())


def running(*argv: str, **changes: Any) -> Contract:
    command = {"argv": list(argv), **changes.pop("command", {})}
    return a_contract(command=command, **{"config": {"files": []}, **changes})


def reached_files(top: Path, files: Mapping[str, str], contract: Contract) -> set[str]:
    return set(closure(top, files, contract).files)


# --- imports --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("import a", {"a.py"}),
        ("import os, a.b.c as x", {"a/__init__.py", "a/b/__init__.py", "a/b/c.py"}),
        ("from a import b", {"a/__init__.py", "a/b.py"}),
        ("from a.b import name", {"a/__init__.py", "a/b.py"}),
        ("from a import *", {"a/__init__.py"}),
        ("from space import b", {"space/b.py"}),
        ("import space.deep.b", {"space/deep/b.py"}),
        ("def f():\n  import a", {"a.py"}),
        (
            "try:\n  pass\nexcept E:\n  import a\nelse:\n  import b\nfinally:\n  import c",
            {"a.py", "b.py", "c.py"},
        ),
        ("class A:\n  async def f(self):\n    with x:\n      for i in y: import a", {"a.py"}),
        ("match x:\n  case 1:\n    import a", {"a.py"}),
        ("if x: import a\nelif y: import b", {"a.py", "b.py"}),
        (
            "from importlib import import_module\nx = [import_module('a.b')]",
            {"a/__init__.py", "a/b.py"},
        ),
        ("import importlib\nimportlib.import_module(name)", set()),
        ("__import__('a')", {"a.py"}),
        ("import runpy\nrunpy.run_module('a.b')", {"a/__init__.py", "a/b.py"}),
        ("import runpy\nrunpy.run_path('tools/run.py')", {"tools/run.py"}),
        ("import numpy, torch.nn", set()),
        ("x = 'import a'", set()),
        ("import lib_in_src", {"src/lib_in_src.py"}),
        ("'\\d'\nimport a", {"a.py"}),
    ],
)
def test_every_way_of_importing(tmp_path: Path, text: str, files: set[str]) -> None:
    world = dict.fromkeys(files | {"venv/numpy.py", ".venv/torch/nn.py"}, "")
    assert reached_files(
        tmp_path, {"train.py": text, **world}, running("python", "train.py")
    ) == files | {"train.py"}


def test_one_imports_the_other_and_a_circle_ends(tmp_path: Path) -> None:
    world = {
        "train.py": "from pkg.model import build",
        "pkg/__init__.py": "from . import version",
        "pkg/version.py": "",
        "pkg/model.py": (
            "from .layers import *\nfrom ..outside import x\nfrom tests.data import make"
        ),
        "pkg/layers/__init__.py": "from ..model import build\nfrom .mlp import MLP",
        "pkg/layers/mlp.py": "from ... import gone\nfrom .... import gone",
        "pkg/unused.py": "",
        "tests/data.py": "",
        "tests/test_model.py": "",
    }
    imports = closure(tmp_path, world, running("python", "train.py"))
    assert imports.files == set(world) - {"pkg/unused.py", "tests/test_model.py"}
    assert (imports.entry, imports.unresolved) == ("train.py", ())


def test_the_folder_of_the_script_comes_first(tmp_path: Path) -> None:
    world = {
        "jobs/train.py": "import model, top",
        "jobs/model.py": "",
        "model.py": "",
        "top.py": "",
    }
    reach = reached_files(tmp_path, world, running("python", "jobs/train.py"))
    assert reach == {"jobs/train.py", "jobs/model.py", "top.py"}


def test_python_path_and_the_working_directory(tmp_path: Path) -> None:
    world = {
        "jobs/train.py": "import a, b, c, d",
        "jobs/libs/a.py": "",
        "shared/b.py": "",
        "jobs/c.py": "",
        "d.py": "",
    }
    fields = {"cwd": "jobs", "env": {"PYTHONPATH": f"libs::../shared:{tmp_path.parent}:/usr/lib"}}
    assert reached_files(tmp_path, world, running("python", "train.py", command=fields)) == set(
        world
    )


# --- what the command names -----------------------------------------------------------------------

PACKAGE = {
    "pkg/__init__.py": "",
    "pkg/train.py": "import helper",
    "helper.py": "",
    "conf.yaml": "a: 1",
}


@pytest.mark.parametrize(
    "line",
    [
        "python -m pkg.train",
        "python3.11 -u -mpkg.train --config conf.yaml",
        "torchrun --nproc-per-node 8 -m pkg.train",
        "accelerate launch --module pkg.train --config=conf.yaml",
        "env A=b uv run python -O -m pkg.train",
        "python -m torch.distributed.run pkg/train.py",
        "srun -N 2 python pkg/train.py",
        "uv run pkg/train.py",
        "./pkg/train.py",
        "/opt/python/bin/python3 {top}/pkg/train.py",
        "tiny-train --steps 3",
        "uv run tiny-train",
    ],
)
def test_wrappers_are_looked_through(tmp_path: Path, line: str) -> None:
    project = {"pyproject.toml": '[project.scripts]\ntiny-train = "pkg.train:main"\n'}
    imports = closure(
        tmp_path, PACKAGE | project, running(*line.replace("{top}", str(tmp_path)).split())
    )
    assert imports.entry == "pkg/train.py"
    assert {"pkg/train.py", "helper.py"} <= imports.files
    assert ("conf.yaml" in imports.files) == ("conf.yaml" in line)


def test_text_behind_c_is_python_or_shell(tmp_path: Path) -> None:
    assert "helper.py" in reached_files(
        tmp_path, PACKAGE, running("python", "-c", "from pkg.train import x; x()")
    )
    assert "helper.py" in reached_files(
        tmp_path, PACKAGE, running("bash", "-c", "set -e; python -m pkg.train 'x y'")
    )
    assert reached_files(tmp_path, PACKAGE, running("python", "other.py", "-c", "conf.yaml")) == {
        "conf.yaml"
    }


def test_a_word_of_a_shell_ends_before_an_operator(tmp_path: Path) -> None:
    files = {"a.py": "", "b.py": "", "c d.py": ""}
    assert reached_files(tmp_path, files, running("sh", "-c", "python a.py; python b.py>log")) == {
        "a.py",
        "b.py",
    }
    assert reached_files(tmp_path, files, running("sh", "-c", "(python 'c d.py')")) == {"c d.py"}


def test_a_shell_script_is_read(tmp_path: Path) -> None:
    script = {
        "words": "",
        "run.sh": (
            "# it's the job\ncat words\nexport X='a\nb'\ntorchrun \\\n  -m pkg.train --config "
            "conf.yaml\n"
        ),
    }
    imports = closure(tmp_path, PACKAGE | script, running("sh", "run.sh", "/data"))
    assert imports.files == {"run.sh", *PACKAGE}  # and not what it only reads
    assert imports.entry == "pkg/train.py"


def test_packages_and_folders_are_run_by_their_main(tmp_path: Path) -> None:
    world = {"pkg/__init__.py": "", "pkg/__main__.py": "import helper", "helper.py": ""}
    assert reached_files(tmp_path, world, running("python", "-m", "pkg")) == set(world)
    assert reached_files(tmp_path, world, running("python", "pkg")) == {
        "pkg/__main__.py",
        "helper.py",
    }


def test_the_resume_command_and_config_files_count(tmp_path: Path) -> None:
    world = {
        "train.py": "",
        "resume.py": "import a",
        "a.py": "",
        "experiments/x.yaml": "",
        "other.yaml": "",
    }
    contract = running(
        "python",
        "train.py",
        command={"resume_argv": ["python", "resume.py", "{start}"]},
        config={"files": ["experiments/x.yaml"]},
    )
    assert reached_files(tmp_path, world, contract) == set(world) - {"other.yaml"}


def test_members_of_a_workspace_are_searched(tmp_path: Path) -> None:
    world = {
        "train.py": "import first, second.model, third",
        "pyproject.toml": '[tool.uv.workspace]\nmembers = ["lib/*", "../x"]\n'
        '[tool.uv.sources]\nthird = {path = "vendored/third"}\nodd = "x"\n',
        "lib/one/pyproject.toml": "",
        "lib/one/src/first/__init__.py": "",
        "lib/two/pyproject.toml": '[tool.setuptools.packages.find]\nwhere = ["code"]\n',
        "lib/two/code/second/model.py": "",
        "lib/none/src/first.py": "",
        "vendored/third/pyproject.toml": "",
        "vendored/third/third.py": "",
    }
    reach = reached_files(tmp_path, world, running("python", "train.py"))
    assert reach == {path for path in world if path.endswith(".py")} - {"lib/none/src/first.py"}


def test_no_python_of_this_repository(tmp_path: Path) -> None:
    imports = closure(
        tmp_path, {"other.py": ""}, running("nvidia-smi", "--loop=1", "-m", "x.y", "/etc/hostname")
    )
    assert imports == ImportClosure()


# --- what cannot be read --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "facts"),
    [
        (b"import a\nx = (\n", ["b.py: ", "line 2"]),
        (b"x = '\0'", ["b.py: "]),
        (b"\xff\xfe import", ["b.py: "]),
        (b"(" * 5000, ["b.py: "]),
        (b"#" * (5 << 20), ["b.py: ", "4 MiB"]),
    ],
)
def test_a_file_that_is_no_python_stays_and_is_named(
    tmp_path: Path, data: bytes, facts: list[str]
) -> None:
    (tmp_path / "b.py").write_bytes(data)
    imports = closure(
        tmp_path, {"train.py": "import b, a", "a.py": ""}, running("python", "train.py")
    )
    assert imports.files == {"train.py", "a.py", "b.py"}
    (reason,) = imports.unresolved
    assert reason.startswith("b.py: ") and mentions(reason, *facts)


def test_a_broken_project_file_is_named(tmp_path: Path) -> None:
    imports = closure(
        tmp_path, {"train.py": "", "pyproject.toml": "[x"}, running("python", "train.py")
    )
    assert imports.files == {"train.py"}
    assert imports.unresolved[0].startswith("pyproject.toml: ")


def test_a_file_that_was_deleted_is_imported_anyway(tmp_path: Path) -> None:
    world = {"train.py": "from tests import data"}
    tree = a_tree(unstaged=("tests/data.py",))
    imports = closure(tmp_path, world, running("python", "train.py"), tree)
    assert imports.files == {"train.py", "tests/data.py"}
    assert imports.unresolved[0].startswith("tests/data.py: ")


def test_a_link_and_what_it_leads_to_both_count(tmp_path: Path) -> None:
    os.symlink("real.py", tmp_path / "train.py")
    imports = closure(tmp_path, {"real.py": "import a", "a.py": ""}, running("python", "train.py"))
    assert imports.files == {"train.py", "real.py", "a.py"}


def test_a_repository_that_is_reached_by_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    os.symlink("real", tmp_path / "link")
    imports = closure(
        tmp_path / "real", {"train.py": ""}, running("python", str(tmp_path / "link" / "train.py"))
    )
    assert imports.entry == "train.py"


def test_a_name_that_is_not_utf8_is_shown_as_git_shows_it(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.py")).write_text("import a")
    os.symlink(os.fsdecode(b"caf\xe9.py"), tmp_path / "train.py")
    imports = closure(tmp_path, {"a.py": ""}, running("python", "train.py"))
    assert imports.files == {"train.py", "caf\\xe9.py", "a.py"}


@pytest.mark.thorough
def test_thousands_of_files_take_a_moment(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    for number in range(2000):
        text = (
            f"import numpy as np\nfrom pkg import m{number + 1}\ndef f(x):\n  return np.sum(x) + "
            f"{number}\n"
        )
        (tmp_path / "pkg" / f"m{number}.py").write_text(text * 5)
    start = time.process_time()
    imports = closure(tmp_path, {"train.py": "import pkg.m0"}, running("python", "train.py"))
    assert len(imports.files) == 2001
    assert time.process_time() - start < 2


def test_a_project_file_that_is_a_device_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").symlink_to("/dev/null")
    imports = closure(tmp_path, {"train.py": ""}, running("python", "train.py"))
    assert imports.unresolved[0].startswith("pyproject.toml: ")
