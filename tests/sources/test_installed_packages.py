"""What the command's interpreter would import, asked of real interpreters."""

import os
import sys
from pathlib import Path

import pytest

from builders import a_contract
from herorun.core.errors import CouldNotLook
from herorun.core.evidence import Installed, Nothing
from herorun.sources.installed_packages import interpreter_of, read_installed
from herorun.system.git import Repository


class Here:
    """A scheduler as far as this source knows it."""

    reach = "here"


def read(top: Path, *argv: str, **env: str) -> Installed | Nothing:
    contract = a_contract(command={"argv": list(argv), "env": env})
    return read_installed(
        contract, Here(), Repository(top, top / ".git")
    )  # a scheduler that only says where it is


def test_the_interpreter_is_asked_for_its_own_packages(tmp_path: Path) -> None:
    evidence = read(tmp_path, sys.executable, "train.py")
    assert isinstance(evidence, Installed)
    assert evidence.packages["pytest"] == pytest.__version__
    assert (evidence.interpreter, evidence.paths) == (sys.executable, ())


def test_an_editable_install_is_reported_with_its_folder(tmp_path: Path) -> None:
    site = tmp_path / "site"
    path = site / "grug-1.0.dist-info"
    path.mkdir(parents=True)
    (path / "METADATA").write_text("Metadata-Version: 2.1\nName: Grug\nVersion: 1.0\n")
    (path / "direct_url.json").write_text(
        '{"url": "file:///home/u/my%20grug", "dir_info": {"editable": true}}'
    )
    evidence = read(tmp_path / "top", sys.executable, "train.py", PYTHONPATH=str(site))
    assert isinstance(evidence, Installed)
    assert (evidence.packages["grug"], evidence.editable["grug"]) == ("1.0", "/home/u/my grug")


def test_a_module_path_into_the_checkout_is_reported_and_its_environments_are_not(
    tmp_path: Path,
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / ".venv/lib/python3.11/site-packages").mkdir(parents=True)
    path = f"{tmp_path}/src:{tmp_path}/.venv/lib/python3.11/site-packages"
    evidence = read(tmp_path, sys.executable, "train.py", PYTHONPATH=path)
    assert isinstance(evidence, Installed) and evidence.paths == (f"{tmp_path}/src",)


def test_a_job_elsewhere_is_not_asked_here(tmp_path: Path) -> None:
    class There:
        reach = "ssh"

    contract = a_contract(command={"argv": [sys.executable]})
    # as above
    assert isinstance(read_installed(contract, There(), Repository(tmp_path, tmp_path)), Nothing)


def test_a_command_that_starts_no_python_is_not_asked(tmp_path: Path) -> None:
    assert isinstance(read(tmp_path, "sh", "train.sh"), Nothing)
    assert isinstance(read(tmp_path, "there-is-no-such-command"), Nothing)


def test_an_interpreter_that_fails_is_no_answer(tmp_path: Path) -> None:
    broken_path = tmp_path / "python3"
    broken_path.write_text("#!/bin/sh\necho 'cannot start' >&2; exit 1\n")
    broken_path.chmod(0o755)
    with pytest.raises(CouldNotLook, match="cannot start"):
        read(tmp_path, str(broken_path), "train.py")
    broken_path.write_text("#!/bin/sh\necho '[]'\n")
    with pytest.raises(CouldNotLook, match=r"gave.*answer"):
        read(tmp_path, str(broken_path), "train.py")


def test_a_script_names_its_interpreter_in_its_first_line(tmp_path: Path) -> None:
    for first, expected_interpreter in (
        (sys.executable, sys.executable),
        ("/usr/bin/env python", "python"),
        ("/bin/sh", None),
    ):
        script = tmp_path / "torchrun"
        script.write_text(f"#!{first}\n")
        script.chmod(0o755)
        (tmp_path / "python").unlink(missing_ok=True)
        (tmp_path / "python").symlink_to(sys.executable)
        interpreter = interpreter_of(
            ["torchrun", "train.py"], {"PATH": f"{tmp_path}{os.pathsep}/bin"}
        )
        text = (
            str(tmp_path / "python") if expected_interpreter == "python" else expected_interpreter
        )
        assert interpreter == text
