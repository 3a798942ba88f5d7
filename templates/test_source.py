from pathlib import Path
from typing import ClassVar

import pytest

from herorun.core.evidence import GpuTemperature, Nothing, Unavailable
from herorun.core.ports import Place
from herorun.core.remote.target import RemoteTarget, SshLogin
from ports.source_suite import SourceSuite, read

HERE = Place("tiny", "/state", "/data", "/repository")
ELSEWHERE = Place("tiny", "/state", "/data", "/repository", RemoteTarget(SshLogin(host="box")))


class TestGpuTemperature(SourceSuite):
    """What every source must do."""

    kind = GpuTemperature
    inputs: ClassVar = {Place: HERE}


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program in the place of nvidia-smi: nobody here has a GPU. A test writes what it runs."""
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\nprintf '0, 64\\n1, 71\\n'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    return program


def test_each_gpu_is_read(tool: Path) -> None:
    assert read(GpuTemperature, {Place: HERE}) == GpuTemperature({0: 64, 1: 71})


def test_gpus_of_another_machine_are_nothing(tool: Path) -> None:
    assert isinstance(read(GpuTemperature, {Place: ELSEWHERE}), Nothing)


@pytest.mark.parametrize("line", ["echo 'driver not loaded' >&2; exit 9", "echo No devices"])
def test_a_tool_that_is_there_and_fails_is_unavailable(tool: Path, line: str) -> None:
    tool.write_text(f"#!/bin/sh\n{line}\n")
    assert isinstance(read(GpuTemperature, {Place: HERE}), Unavailable)
