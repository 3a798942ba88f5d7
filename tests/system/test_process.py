"""Programs that write without end, take no input, or say nothing: each ends in time, and nothing
grows without bound.
"""

import resource
import sys
import time
from pathlib import Path

import pytest

from herorun.core.errors import CouldNotLook
from herorun.core.remote.target import SshLogin
from herorun.system import process, transport
from herorun.system.process import OutputTooLong, ProcessResult, run, run_lines
from herorun.trackers.wandb import ask_client
from wording import mentions

ENDLESS = [sys.executable, "-c", "import os\nwhile True: os.write({to}, b'x' * 65536)"]


def _endless(to: int) -> list[str]:
    return [word.replace("{to}", str(to)) for word in ENDLESS]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "MAX_BYTES", 8 << 20)


@pytest.mark.parametrize("to", [1, 2])
def test_a_program_that_writes_without_end_is_ended_and_said(small: None, to: int) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(OutputTooLong, match=r"wrote.*8.*MiB"):
        run(_endless(to), 60)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10  # KiB


@pytest.mark.parametrize("to", [1, 2])
def test_so_is_one_whose_line_or_complaint_never_ends(small: None, to: int) -> None:
    code = (
        f"import os, sys\nprint('begins', flush=True)\nwhile True: os.write({to}, b'x' * 65536); "
        "os.write(1, b'x')"
    )
    with pytest.raises(OutputTooLong, match=r"wrote.*8.*MiB"):
        list(run_lines([sys.executable, "-c", code], 60))


def test_many_lines_may_amount_to_more_since_each_is_let_go(small: None) -> None:
    code = "for _ in range(20): print('x' * (1 << 20))"
    assert sum(map(len, run_lines([sys.executable, "-c", code], 60))) == 20 << 20


def test_a_box_that_writes_without_end_is_named(
    small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "ssh_argv", lambda *_: _endless(1))
    with pytest.raises(CouldNotLook, match=r"wrote.*MiB"):
        transport.SshTransport(SshLogin(host="box")).run(["uname"], 30)


def test_input_that_is_larger_than_a_pipe_meets_output_that_is_too() -> None:
    data = bytes(range(256)) * 4096
    assert run(["cat"], 30, stdin=data) == ProcessResult(0, data, b"")
    assert run(["true"], 30, stdin=data) == ProcessResult(0, b"", b"")  # it reads none of it


@pytest.mark.parametrize(
    "code",
    ["import time; time.sleep(60)", "import os, time; os.close(1); os.close(2); time.sleep(60)"],
)
def test_one_that_says_nothing_or_closed_its_outputs_is_ended_in_time(code: str) -> None:
    began = time.monotonic()
    with pytest.raises(CouldNotLook, match=r"gave.*within"):
        run([sys.executable, "-c", code], 1)
    with pytest.raises(CouldNotLook, match="nothing"):
        list(run_lines([sys.executable, "-c", code], 1))
    assert time.monotonic() - began < 50


def test_both_outputs_and_the_exit_code_are_reported() -> None:
    code = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
    assert run([sys.executable, "-c", code], 30) == ProcessResult(3, b"out\n", b"err\n")


def test_an_answer_of_wandb_without_end_is_a_fault_that_says_so(
    small: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    client = tmp_path / "python"
    client.write_text("#!/bin/sh\nexec yes\n")
    client.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(client))
    assert mentions(ask_client({}, 60)["fault"], "page", "logs")


def test_a_time_out_names_the_program_and_no_environment_that_is_set_for_it() -> None:
    with pytest.raises(CouldNotLook, match=r"^`sleep` gave"):
        run(["env", "-uHOME", "NAME=value", "sleep", "60"], 0.1)
