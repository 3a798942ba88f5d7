"""Levanter's log: the contract suite on lines in a job's log, then the progress bar and several
logs.
"""

import json
from pathlib import Path

import pytest

from herorun.core.errors import WrongUse
from herorun.core.evidence import TrackerTraits
from herorun.core.ports import Place, Row
from herorun.trackers import levanter_log
from herorun.trackers.levanter_log import LevanterLog, progress
from ports.tracker_suite import LoggedRow, TrackerBench, TrackerSuite, drain

PREFIX = "I20261121 10:00:00 140 levanter.json_logger json_logger.py:88] "
BAR = "Progress on:train {} rate:76.8s/it remaining:1:05:15 elapsed:31:40 postfix:loss=3.1\n"
NOISE = (
    'Using run ID: tiny\nLoading checkpoint from /data\n{"some": "json"}\nProgress on:eval '
    "3.0it/9.0it rate:1it/s\n"
)


class Bench:
    def __init__(self, folder: Path) -> None:
        self.place = Place("tiny", str(folder / "state"), str(folder), str(folder))
        self.path = folder / "train.log"

    def connect(self, **options: str) -> LevanterLog:
        return levanter_log.connect(levanter_log.Options(**options), self.place)

    def write(self, text: str) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as file:
            file.write(text)

    def log(self, *rows: LoggedRow) -> None:
        for step, values in rows:
            record = {"tracker": "json_logger", "event": "log", "step": step, "metrics": values}
            self.write(f"{NOISE}{PREFIX}{json.dumps(record)}\n")

    def replace(self, *rows: LoggedRow) -> None:
        self.path.unlink()
        self.log(*rows)

    def spoil(self, text: str) -> None:
        self.write(f'{PREFIX}{{"tracker": "json_logger", "event": "log", {text}\n')

    def cut_off(self) -> None:
        self.path.unlink()
        self.path.symlink_to(self.path.name)  # a loop: there, and not to be opened


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


class TestLevanterLog(TrackerSuite):
    declares = TrackerTraits(progress_lines="Levanter's")

    @pytest.fixture
    def bench(self, tmp_path: Path) -> TrackerBench:
        return Bench(tmp_path / "with space" / "ünï\nli[n]e*")


# --- lines ---------------------------------------------------------------------------------------


def test_other_events_and_a_row_without_a_step_are_no_rows_and_no_problems(bench: Bench) -> None:
    for event in ("hparams", "summary", "artifact", "finish"):
        bench.write(
            PREFIX + json.dumps({"tracker": "json_logger", "event": event, "step": 1}) + "\n"
        )
    bench.write(
        PREFIX
        + json.dumps({"tracker": "json_logger", "event": "log", "step": None, "metrics": {}})
        + "\n"
    )
    assert drain(bench.connect())[::2] == ([], [])


def test_nested_metrics_have_the_names_that_levanter_gives_them(bench: Bench) -> None:
    # a nested dict is the case
    bench.log((3, {"grad": {"norm": {"total": 0.5}}, "train/loss": 2.0}))
    assert drain(bench.connect())[0][0].values == {"grad/norm/total": 0.5, "train/loss": 2.0}


def test_a_torn_last_line_waits_for_its_end(bench: Bench) -> None:
    bench.log((0, {"loss": 1.0}))
    bench.write(f'{PREFIX}{{"tracker": "json_logger", "event": "log", "st')
    rows, cursor, problems = drain(bench.connect())
    assert ([row.step for row in rows], problems) == ([0], [])
    bench.write('ep": 1, "metrics": {"loss": 2.0}}\n')
    assert [row.step for row in drain(bench.connect(), cursor)[0]] == [1]


def test_a_line_too_long_to_hold_is_passed_over(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(levanter_log, "MAX_LINE", 300)
    bench.write("x" * 5000 + "\n")
    bench.log((0, {"loss": 1.0}))
    bench.spoil("y" * 5000)
    bench.log((1, {"loss": 1.0}))
    rows, _, problems = drain(bench.connect())
    assert [row.step for row in rows] == [0, 1]
    assert len(problems) == 1


# --- the progress bar ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("count", "step"),
    [
        ("19.0it/70.0it", 18),
        ("0.00it/70.0it", None),
        ("0it/70it", None),
        ("1it/70it", 0),
        ("999it/5.00kit", 998),
        ("5.01kit/70.0kit", 5004),
        ("1.19Mit/2.00Mit", 1_184_999),
        ("19.0", None),
    ],
)
def test_a_rounded_count_proves_its_smallest_step(count: str, step: int | None) -> None:
    assert progress(BAR.format(count).encode()) == step


def test_without_the_json_logger_the_bar_tells_steps_and_no_values(bench: Bench) -> None:
    bench.write(
        NOISE
        + BAR.format("0.00it/70.0it")
        + BAR.format("19.0it/70.0it")
        + BAR.format("20.0it/70.0it")
    )
    assert drain(bench.connect())[0] == [
        Row(18, {}, None, "train.log"),
        Row(19, {}, None, "train.log"),
    ]


def test_next_to_the_json_logger_the_bar_shows_nothing_also_after_a_cursor(bench: Bench) -> None:
    bench.log((17, {"loss": 1.0}))
    bench.write(BAR.format("19.0it/70.0it"))
    rows, cursor, _ = drain(bench.connect())
    assert [row.step for row in rows] == [17]
    bench.write(BAR.format("20.0it/70.0it"))
    assert drain(bench.connect(), cursor)[0] == []


# --- logs ----------------------------------------------------------------------------------------


def test_several_logs_are_read_in_the_order_of_their_numbers(bench: Bench) -> None:
    for number in (10, 9, 2):
        bench.path = bench.path.with_name(f"tiny-{number}.log")
        bench.log((number, {"loss": 1.0}))
    rows, cursor, _ = drain(bench.connect(path="tiny-*.log"))
    assert [(row.step, row.attempt) for row in rows] == [
        (2, "tiny-2.log"),
        (9, "tiny-9.log"),
        (10, "tiny-10.log"),
    ]
    bench.log((3, {"loss": 1.0}))
    batch = bench.connect(path="tiny-*.log").read(cursor)
    assert ([row.step for row in batch.rows], batch.restarted) == ([3], False)


def test_no_log_of_the_pattern_is_missing(bench: Bench) -> None:
    bench.path.parent.mkdir(exist_ok=True)
    with pytest.raises(FileNotFoundError):
        bench.connect(path="tiny-*.log").read("")


def test_a_remote_path_is_refused_with_what_to_do(bench: Bench) -> None:
    with pytest.raises(WrongUse, match="absolute `path`"):
        bench.connect(path="gs://bucket/train.log")
