"""`herorun.log` in real processes: what it writes is what the tracker reads, whole lines whoever
else writes.
"""

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import herorun
from herorun.checkin import _RANKS
from herorun.core.ports import Place, Row
from herorun.log import log
from herorun.trackers.jsonl import Options, connect
from wording import mentions

MANY = """
import sys, herorun
for step in range(200):
    herorun.log({"who/" + sys.argv[1]: step, "padding": 1.0}, step=step)
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The output root that the admission in the environment names."""
    for name in _RANKS:
        monkeypatch.delenv(name, raising=False)
    admission = tmp_path / "admission.json"
    admission.write_text(
        json.dumps({"output_root": str(tmp_path / "root"), "metrics": "logs/metrics.jsonl"})
    )
    monkeypatch.setenv("HERORUN_ADMISSION", str(admission))
    return tmp_path / "root"


def rows(root: Path) -> tuple[Row, ...]:
    place = Place("tiny", str(root), str(root), str(root))
    batch = connect(Options(path="logs/metrics.jsonl"), place).read("")
    assert batch.problems == ()
    return batch.rows


def test_it_writes_where_the_contracts_tracker_reads(root: Path) -> None:
    assert herorun.log({"train/loss": 2.5, "eval": {"loss": 3}}, step=7)
    (row,) = rows(root)
    assert (row.step, dict(row.values)) == (7, {"train/loss": 2.5, "eval/loss": 3.0})
    assert row.at is not None


def test_what_is_not_finite_stays_so_and_is_json(root: Path) -> None:
    log({"loss": math.nan, "norm": math.inf, "low": -math.inf}, step=0)
    text = (root / "logs" / "metrics.jsonl").read_text()
    json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    (row,) = rows(root)
    assert math.isnan(row.values["loss"]) and (row.values["norm"], row.values["low"]) == (
        math.inf,
        -math.inf,
    )


class Tensor:
    """One element, or several, as arrays behave."""

    def __init__(self, *values: float) -> None:
        self.values = values

    def item(self) -> float:
        (one,) = self.values  # ValueError, as numpy's
        return one


def test_what_is_no_number_is_left_out_and_said_once(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    values: dict[str, Any] = {
        "a": Tensor(1.5),
        "b": Tensor(1, 2),
        "c": "text",
        "d": None,
        "e": True,
    }
    assert log(values, step=1) and log(values, step=2)
    assert [dict(row.values) for row in rows(root)] == [{"a": 1.5, "e": 1.0}] * 2
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(" ")[2] for line in lines] == ["'b'", "'c'"]


def test_a_step_is_an_integer(root: Path) -> None:
    with pytest.raises(TypeError):
        log({"loss": 1.0}, step=1.5)


@pytest.mark.parametrize("name", ["RANK", "JOB_COMPLETION_INDEX"])
def test_only_the_first_rank_writes(name: str, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "3")
    assert not log({"loss": 1.0}, step=1)
    assert not root.exists()


def test_a_line_that_a_crash_tore_off_does_not_spoil_the_next(root: Path) -> None:
    log({"loss": 1.0}, step=0)
    path = root / "logs" / "metrics.jsonl"
    with path.open("a") as file:
        file.write('{"loss": 2.0, "st')
    log({"loss": 3.0}, step=2)
    lines = path.read_text().splitlines()
    assert len(lines) == 3 and json.loads(lines[2])["step"] == 2


def test_several_processes_at_once_write_whole_lines(root: Path) -> None:
    source = str(Path(herorun.__file__).parents[1])
    env = {**os.environ, "PYTHONPATH": source}
    workers = [
        subprocess.Popen([sys.executable, "-S", "-c", MANY, name], env=env) for name in "abcd"
    ]
    assert [worker.wait(60) for worker in workers] == [0] * 4
    all_rows = rows(root)
    for name in "abcd":
        assert [row.step for row in all_rows if f"who/{name}" in row.values] == list(range(200))


def test_by_hand_nothing_is_written_and_that_is_reported_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("HERORUN_ADMISSION", raising=False)
    monkeypatch.chdir(tmp_path)
    assert not log({"loss": 1.0}, step=0) and not log({"loss": 1.0}, step=1, path="here.jsonl")
    assert len(capsys.readouterr().err.splitlines()) <= 1
    assert list(tmp_path.iterdir()) == []
    assert log({"loss": 1.0}, step=0, path=tmp_path / "here.jsonl")


def test_a_file_that_cannot_be_written_does_not_end_the_training(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert not log({"loss": 1.0}, step=0, path=tmp_path / "file" / "metrics.jsonl")
    assert mentions(capsys.readouterr().err, "training", "continues")


def test_the_module_of_the_same_name_can_be_called_too() -> None:
    code = (
        "import herorun.log, herorun; herorun.log({}, step=0); from herorun.log import log; "
        "herorun.log({}, step=1)"
    )
    env = {**os.environ, "PYTHONPATH": str(Path(herorun.__file__).parents[1])}
    process = subprocess.run(
        [sys.executable, "-S", "-c", code], env=env, capture_output=True, text=True
    )
    assert process.returncode == 0, process.stderr
