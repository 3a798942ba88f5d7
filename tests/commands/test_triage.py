"""`herorun triage`."""

import io
import json
import os
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from herorun.cli import run
from herorun.commands import triage
from wording import mentions

OOM = (
    "step 1 loss 2.0\n[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 "
    "GiB\n"
)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "train.log"
    path.write_text(OOM)
    return path


def test_the_promised_shape(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["triage", str(log), "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    (failure,) = document["files"]
    assert document["schema"] == 1
    assert {"file", "class", "role", "line", "excerpt", "fingerprint", "advice"} <= set(failure)
    assert (failure["file"], failure["class"], failure["role"], failure["line"]) == (
        str(log),
        "oom-accelerator",
        "root",
        2,
    )
    assert (
        failure["excerpt"].startswith("[rank1]: torch.OutOfMemoryError")
        and failure["advice"]
        and failure["fingerprint"]
    )


def test_one_line_a_file_for_people(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bug = log.with_name("bug.log")
    bug.write_text(
        'Traceback (most recent call last):\n  File "a.py", line 7, in f\n    x\nNameError: x\n'
    )
    assert run(["triage", str(log), str(bug)]) == 1
    first, advice, second, _ = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{log}: oom-accelerator, line 2: ") and "memory" in advice
    assert second == f"{bug}: code-bug-small at a.py:7, line 4: NameError: x"


@pytest.mark.parametrize(
    ("text", "code"),
    [("step 1 loss 2.0\n", 0), ("", 3), ("Killed\n", 3), ("KeyboardInterrupt\n", 0)],
)
def test_no_failure_that_the_log_explains(log: Path, text: str, code: int) -> None:
    log.write_text(text)
    assert run(["triage", str(log)]) == code


def test_an_exit_code_is_evidence(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log.write_text("step 1\n")
    assert run(["triage", str(log), "--exit-code", "78", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["files"][0]["class"] == "refused"
    assert run(["triage", str(log), "--exit-code", "-9"]) == 3
    assert run(["triage", str(log), "--exit-code", "0"]) == 0


@pytest.mark.parametrize("exit_code", ["1", "137", "139"])
def test_nobody_reads_no_failure_of_a_job_that_failed(
    log: Path, exit_code: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither by its words nor by its exit code."""
    log.write_text("step 1\n")
    assert run(["triage", str(log), "--exit-code", exit_code]) != 0
    assert not mentions(capsys.readouterr().out, "no failure")


def test_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        "sys.stdin",
        SimpleNamespace(buffer=io.BytesIO(OOM.encode()), encoding="utf-8", errors="strict"),
    )
    assert run(["triage", "-"]) == 1
    assert capsys.readouterr().out.startswith("-: oom-accelerator, line 2")


@pytest.mark.parametrize(
    ("text", "failure"), [(OOM, "oom-accelerator"), ("step 1 loss 2.0\n", "benign")]
)
def test_a_pipe_is_read_once_and_whole(
    tmp_path: Path, text: str, failure: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """`herorun triage <(zcat log.gz)`: the search for a check-in would take the bytes away, and the
    time of the pipe says nothing about its writer.
    """
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    os.utime(pipe, (0, 0))
    threading.Thread(target=pipe.write_text, args=(text,), daemon=True).start()
    run(["-C", str(tmp_path), "triage", "pipe", "--json"])
    (answer,) = json.loads(capsys.readouterr().out)["files"]
    assert answer["class"] == failure


def test_options_about_a_log_need_one(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`zcat log.gz | herorun triage --exit-code 137`, with `-` forgotten."""
    assert run(["-C", str(log.parent), "triage", "--exit-code", "137"]) == 2
    assert mentions(capsys.readouterr().err, "standard input")


@pytest.mark.parametrize("name", ["missing.log", "."])
def test_what_cannot_be_read_is_wrong_use(
    log: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["-C", str(log.parent), "triage", log.name, name]) == 2
    output = capsys.readouterr()
    assert not output.out and len(output.err.splitlines()) == 1


def test_signatures_of_ones_own(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = log.with_name("own.toml")
    own.write_text(
        '[[signature]]\nid = "flux"\nclass = "data"\nrole = "root"\nkeywords = ["flux"]\n'
        'pattern = "flux capacitor"\nadvice = "Mend it."\n'
    )
    log.write_text("the FLUX capacitor broke\n")
    assert run(["triage", str(log), "--signatures", str(own)]) == 1
    assert "Mend it." in capsys.readouterr().out


@pytest.mark.parametrize("text", ["[[signature]]\nid = 'x'\n", "= 1", "[other]\n"])
def test_a_wrong_catalogue_is_named(
    log: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    own = log.with_name("own.toml")
    own.write_text(text)
    assert run(["triage", str(log), "--signatures", str(own)]) == 2
    assert "own.toml" in capsys.readouterr().err
    assert run(["triage", str(log), "--signatures", str(own.with_name("none.toml"))]) == 2


def test_a_secret_in_a_log_is_not_repeated(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log.write_text(
        "botocore.exceptions.NoCredentialsError: https://u:hunter2secret@x.example/b "
        "token=abcdefgh12345678\n"
    )
    run(["triage", str(log)])
    run(["triage", str(log), "--json"])
    output = capsys.readouterr().out
    assert "hunter2secret" not in output and "abcdefgh12345678" not in output


def test_what_a_log_prints_moves_no_terminal(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log.write_text("CUDA out of memory \x9b2J\x1b]0;title\x07 here\n")
    run(["triage", str(log)])
    assert "\x1b" not in (out := capsys.readouterr().out) and "\x9b" not in out


def test_what_is_no_text_is_not_called_benign(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log.write_bytes(bytes(range(256)) * 400)
    assert run(["triage", str(log), "--json"]) == 3
    (failure,) = json.loads(capsys.readouterr().out)["files"]
    assert failure["class"] == "unknown" and "no text" in failure["advice"]


@pytest.mark.parametrize("name", ["README.md", "train.py", "notes.RST"])
def test_a_document_that_speaks_of_a_failure_is_no_log_of_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    (tmp_path / name).write_text("# It refuses with exit code 78: the code differs\n")
    assert run(["triage", str(tmp_path / name), "--json"]) == 3
    (failure,) = json.loads(capsys.readouterr().out)["files"]
    assert (failure["class"], failure["line"]) == ("unknown", None)
    assert "no log" in failure["advice"]


@pytest.mark.parametrize(
    "line", ["FutureWarning: this is deprecated, number {}", "step {} loss 2.0"]
)
def test_of_a_log_that_takes_too_long_the_end_is_read_and_nothing_good_is_reported(
    log: Path, line: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(triage, "PATIENCE", 0.0)
    monkeypatch.setattr(triage, "_BLOCK", 4_096)
    text = "".join(line.format(number) + "\n" for number in range(1_000))
    log.write_text(text)
    assert run(["triage", str(log), "--json"]) == 3
    (failure,) = json.loads(capsys.readouterr().out)["files"]
    assert (failure["class"], failure["needs_person"]) == ("unknown", True)
    assert mentions(failure["advice"], "MiB", "middle")
    log.write_text(text + OOM)
    assert run(["triage", str(log), "--json"]) == 1
    (failure,) = json.loads(capsys.readouterr().out)["files"]
    assert (failure["class"], failure["line"]) == ("oom-accelerator", 1_002)
    assert mentions(failure["advice"], "read")


def test_a_check_in_of_no_run_of_this_repository_leaves_the_log_to_be_read_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "job.out"
    log.write_text(f'HERORUN_RECEIPT {{"instance": "other-1"}}\n{OOM}\n')
    assert run(["-C", str(tmp_path), "triage", str(log), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["files"][0]["role"] == "root"


def test_a_log_that_nobody_writes_any_more_needs_a_message_of_its_end(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log.write_text("step 1 loss 2.0\nstep 2 loss 1.9\n")
    assert run(["triage", str(log)]) == 0
    two_hours_ago = time.time() - 7200
    os.utime(log, (two_hours_ago, two_hours_ago))
    capsys.readouterr()
    assert run(["triage", str(log), "--json"]) == 3
    (failure,) = json.loads(capsys.readouterr().out)["files"]
    assert (failure["class"], "120 min" in failure["advice"]) == ("unknown", True)
    assert run(["triage", str(log), "--exit-code", "0"]) == 0
    log.write_text("step 1 loss 2.0\nTraining finished.\n")
    os.utime(log, (two_hours_ago, two_hours_ago))
    assert run(["triage", str(log)]) == 0
