"""Files that git ignores and Python would import: found by whichever rule hides them, and nothing
else is named.
"""

from pathlib import Path

import pytest

from builders import a_contract
from herorun.sources.work_tree import read_work_tree
from herorun.system.git import find_repository
from stories import git


@pytest.fixture
def work(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(home / "global"))
    (home / "global").write_text("[user]\nname = Dri\nemail = dri@example.org\n")
    work = home / "work"
    git(home, "init", "-q", "-b", "main", str(work))
    put(work, "train.py", "jobs/my-job/train.py", "pkg/__init__.py")
    put(
        work,
        ".gitignore",
        content="ignored*\n*.so\n*.pyc\n__pycache__/\nvenv\nnode_modules/\nbuild/\nout*/\n.*/\n",
    )
    git(work, "add", "-A")
    git(work, "commit", "-q", "-m", "code")
    return work


def put(work: Path, *names: str, content: str = "x = 1\n") -> None:
    for name in names:
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(content)


def importable_files(work: Path, **command: object) -> list[str]:
    contract = a_contract(command={"argv": ["python", "train.py"], **command})
    return sorted(read_work_tree(find_repository(work), contract).importable)


@pytest.mark.parametrize("where", [".gitignore", ".git/info/exclude", "global"])
def test_whichever_rule_hides_it(work: Path, where: str) -> None:
    rules = work.parent / "excludes" if where == "global" else work / where
    git(work, "config", "--global", "core.excludesFile", str(work.parent / "excludes"))
    with rules.open("a") as file:
        file.write("secretly.py\n")
    put(work, "pkg/secretly.py")
    assert importable_files(work) == ["pkg/secretly.py"]


def test_everything_that_python_or_the_loader_takes(work: Path) -> None:
    names = ["ignored.py", "pkg/fast.cpython-311-x86_64-linux-gnu.so", "pkg/ignored_source.pyc"]
    names += ["ignored_package/__init__.py", "ignored_package/deep/part.py", "out/namespace.py"]
    names += ["ignored.pth", "pkg/ignored.so.1.2"]
    put(work, *names)
    assert importable_files(work) == sorted(names)


def test_what_is_no_code_of_ours(work: Path) -> None:
    put(work, "pkg/__pycache__/a.cpython-311.pyc", "ignored.txt", "ignored.pyi", "out/data.json")
    put(work, "venv/pyvenv.cfg", "venv/lib/a.py", "out/env/conda-meta/history", "out/env/b.py")
    put(work, "node_modules/x/a.py", "out/site-packages/a.py", ".cache/a.py", ".herorun/code/a.py")
    put(work, "build/lib/pkg/a.py", "out-2026-01-01/a.py", "out/run-1/a.py", "ignored-folder/a.py")
    assert importable_files(work) == []


def test_untracked_files_are_named_once(work: Path) -> None:
    put(work, "new.py")
    assert importable_files(work) == []


def test_a_link_to_modules_is_code_and_a_link_to_data_is_not(work: Path) -> None:
    elsewhere = work.parent / "elsewhere"
    put(elsewhere, "package/part.py", "data/shard-1.bin", "env/pyvenv.cfg", "env/a.py")
    for name in ("package", "data", "env"):
        (work / f"ignored_{name}").symlink_to(elsewhere / name)
    (work / "ignored_nowhere").symlink_to(elsewhere / "nowhere")
    assert importable_files(work) == ["ignored_package"]


@pytest.mark.parametrize(
    "command",
    [
        {"argv": ["python", "jobs/my-job/train.py"]},
        {"argv": ["python", "my-job/train.py"], "cwd": "jobs"},
        {"cwd": "jobs/my-job"},
        {"env": {"PYTHONPATH": "jobs/my-job:/elsewhere"}},
    ],
)
def test_a_folder_that_no_import_can_name_counts_as_a_root(
    work: Path, command: dict[str, object]
) -> None:
    put(work, "jobs/my-job/ignored.py")
    assert importable_files(work) == []
    assert importable_files(work, **command) == ["jobs/my-job/ignored.py"]


def test_a_tracked_link_to_modules_outside_of_the_work_tree(work: Path) -> None:
    outside = work.parent / "outside"
    put(outside, "lib/__init__.py", "one.py", "data/a.json")
    for name, target in (
        ("lib", outside / "lib"),
        ("pkg/one.py", outside / "one.py"),
        ("data", outside / "data"),
        ("gone.py", outside / "gone.py"),
        ("again", work / "pkg"),
    ):
        (work / name).symlink_to(target)
    git(work, "add", "-A")
    git(work, "commit", "-q", "-m", "links")
    assert importable_files(work) == ["lib", "pkg/one.py"]
