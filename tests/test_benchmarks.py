"""A benchmark whose stand-in has fallen behind what it stands for is noticed before somebody wants
its numbers.
"""

from pathlib import Path

import pytest
from benchmarks import fleet, sealing
from benchmarks.timing import Row


@pytest.mark.thorough
def test_the_benchmark_of_many_runs_can_be_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fleet, "SHOWN", 3)
    monkeypatch.setattr(fleet, "ROUNDS", 1)
    row = fleet.shown(tmp_path / "few")
    assert "3 runs" in row.what
    assert row.seconds > 0 < row.beside_seconds


@pytest.mark.thorough
def test_the_benchmark_of_a_seal_makes_the_digests_that_sha256sum_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sealing, "PART", 1 << 16)
    monkeypatch.setattr(sealing, "ROUNDS", 1)
    (row,) = sealing.rows(tmp_path)
    assert isinstance(row, Row) and row.seconds > 0 < row.beside_seconds
