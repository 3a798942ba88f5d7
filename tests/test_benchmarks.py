"""A benchmark whose stand-in has fallen behind what it stands for is noticed before somebody wants
its numbers.
"""

import csv
from pathlib import Path

import pytest
from benchmarks import fleet, judgement, sealing, sharding, slopes
from benchmarks.timing import Plot, Row

from herorun.operations.report.backtest import read_labels

EXCERPTS = Path(judgement.__file__).parent / "excerpts.json"


@pytest.mark.thorough
def test_the_benchmark_of_many_runs_can_be_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fleet, "SHOWN_RUNS", 3)
    monkeypatch.setattr(fleet, "ROUNDS", 1)
    row = fleet.measure_status(tmp_path / "few")
    assert "3 runs" in row.what
    assert row.seconds > 0 < row.alternative_seconds


@pytest.mark.thorough
def test_the_benchmark_of_several_processes_can_be_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sharding, "RUNS", 4)
    monkeypatch.setattr(sharding, "SHARDS", 2)
    (row,) = sharding.rows(tmp_path)
    assert "4 runs in 2 processes" in row.what
    assert row.seconds > 0 < row.alternative_seconds


@pytest.mark.thorough
def test_the_benchmark_of_a_seal_makes_the_digests_that_sha256sum_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sealing, "PART", 1 << 16)
    monkeypatch.setattr(sealing, "ROUNDS", 1)
    (row,) = sealing.rows(tmp_path)
    assert isinstance(row, Row) and row.seconds > 0 < row.alternative_seconds


def test_a_slope_is_that_of_the_two_largest_sizes() -> None:
    assert slopes.slope({10: 5.0, 100: 1.0, 400: 4.0}) == pytest.approx(1)
    assert slopes.slope({400: 16.0, 100: 1.0}) == pytest.approx(2)
    first, *bars = slopes.plot("rows", {100: 1.0, 400: 4.0}).splitlines()
    assert first == "rows" and [bar.count("#") for bar in bars] == [1, 5]


@pytest.mark.thorough
@pytest.mark.parametrize("growing", slopes.GROWING, ids=lambda growing: growing.what)
def test_the_cost_of_everything_that_grows_can_be_measured(
    growing: slopes.Growth, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = slopes.Growth(growing.what, (2, 4), growing.set_up)
    monkeypatch.setattr(slopes, "GROWING", (small,))
    monkeypatch.setattr(slopes, "ROUNDS", 1)
    row, picture = slopes.rows(tmp_path)
    assert isinstance(row, Row) and row.seconds > 0 < row.alternative_seconds
    assert isinstance(picture, Plot) and picture.text.count("|") == 2


@pytest.mark.parametrize("name", ["ninth", "tenth"])
def test_the_curves_kept_row_by_row_are_as_long_as_their_labels_say(
    name: str, tmp_path: Path
) -> None:
    folder = judgement.unpack_curves(EXCERPTS, name, tmp_path)
    labels = read_labels(folder / "LABELS.json")
    assert len(labels) > 20
    for key, label in labels.items():
        rows = (folder / key).read_text(encoding="utf-8").splitlines()[1:]
        assert len(rows) > 75
        assert all(0 <= first <= last < len(rows) for first, last, _ in label.events), key


def test_each_rule_that_was_tried_says_what_it_cost_and_whether_it_was_kept() -> None:
    with EXCERPTS.with_name("tried.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len({row["rule"] for row in rows}) == len(rows) > 20
    assert all(all(row.values()) and row["kept"].split()[0] in YES_OR_NO for row in rows)


YES_OR_NO = ("yes", "no", "until")


def test_judgement_without_a_set_names_those_that_it_has(
    capsys: pytest.CaptureFixture[str],
) -> None:
    judgement.main(["--list"])
    printed_text = capsys.readouterr().out
    assert (
        '"twelfth, held=benchmarks/excerpts.json"' in printed_text and "fifth" not in printed_text
    )
