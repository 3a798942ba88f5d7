"""Parts of the begin of a record: the final step, scripts, the terminal; and recorded roots."""

import os
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from builders import a_contract
from herorun.core.errors import CouldNotLook
from herorun.operations.checkpoints import list as listing
from herorun.operations.record import init, script_search, session
from operations.in_memory import fails


def _a_run(**tables: Any) -> Any:
    contract = a_contract(final_step="trainer.steps", **tables)
    repository = SimpleNamespace(resolve=lambda name: "c0")
    return SimpleNamespace(
        contract=contract, repository=repository, file=SimpleNamespace(path="runs/tiny.toml")
    )


def test_a_config_command_that_fails_here_leaves_the_final_step_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(init, "resolved_config", fails(CouldNotLook("no such program")))
    final = init.resolved_final_step(_a_run(config={"command": ["resolve"], "files": None}))
    assert final.value is None and "no such program" in final.source
    with pytest.raises(CouldNotLook, match="no such program"):
        init.resolved_final_step(_a_run())


def test_a_script_that_is_not_utf_8_is_read(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_bytes(b"# caf\xe9\nparser.add_argument('--config')\n")
    repository: Any = SimpleNamespace(top=tmp_path)
    assert "--config" in script_search._text(repository, "train.py")
    assert script_search._text(repository, "none.py") == ""


def test_a_terminal_whose_leader_has_a_name_of_bytes_has_a_birth(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sleep = shutil.which("sleep")
    assert sleep is not None
    name = bytes(tmp_path) + b"/sl\xff"
    shutil.copy(sleep, os.fsdecode(name))
    with subprocess.Popen([os.fsdecode(name), "30"]) as leader:
        try:
            monkeypatch.setattr(session.os, "getsid", lambda pid: leader.pid)
            text = session.terminal()
        finally:
            leader.kill()
    begin, start_time = text.rsplit("-", 1)
    assert begin == f"terminal-{leader.pid}" and int(start_time) > 0


def test_a_root_counts_once_however_its_slash_is_written() -> None:
    output = {"root": "/out/tiny/", "temporary_root": "/tmp/tiny/"}
    run: Any = SimpleNamespace(contract=a_contract(output=output))
    instance = SimpleNamespace(output_root="/out/tiny", temporary_root="/tmp/tiny")
    memory: Any = SimpleNamespace(instances=(instance,))
    assert listing._recorded_roots(run, memory) == [("/out/tiny", False), ("/tmp/tiny", True)]
