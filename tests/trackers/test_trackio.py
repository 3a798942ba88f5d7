"""Trackio's database: the contract suite, then what is special about it."""

import json
import math
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from herorun.core.errors import WrongUse
from herorun.core.ports import Place
from herorun.trackers import trackio
from herorun.trackers.trackio import Trackio
from ports.tracker_suite import LoggedRow, TrackerBench, TrackerSuite, drain
from trackers.written import NOON, execute, trackio_rows


class Bench:
    def __init__(self, folder: Path) -> None:
        self.place = Place("tiny", str(folder / "state"), str(folder), str(folder))
        self.path = folder / "trackio" / "proj.db"

    def connect(self, **options: str) -> Trackio:
        fields = {"project": "pr.oj", "id": "tiny-run", "name": "tiny", **options}
        return trackio.connect(trackio.Options.model_validate(fields), self.place)

    def log(self, *rows: LoggedRow) -> None:
        trackio_rows(
            self.path,
            *((step, json.dumps(values).replace("NaN", '"NaN"')) for step, values in rows),
        )

    def replace(self, *rows: LoggedRow) -> None:
        for path in self.path.parent.iterdir():
            path.unlink()
        self.log(*rows)

    def spoil(self, text: str) -> None:
        trackio_rows(self.path, (7, text))

    def cut_off(self) -> None:
        self.path.unlink()
        self.path.symlink_to(self.path.name)  # a loop: there, and not to be opened


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


class TestTrackio(TrackerSuite):
    @pytest.fixture
    def bench(self, tmp_path: Path) -> TrackerBench:
        return Bench(tmp_path / "with space?" / "ünï\nline#%41")


# --- rows ----------------------------------------------------------------------------------------


def test_values_as_trackio_writes_them_are_numbers_under_dotted_names(bench: Bench) -> None:
    text = b'{"loss":0.5,"a":{"b":{"c":1}},"n":"NaN","u":"Infinity","d":"-Infinity","t":"x","f":true,"l":[1],"z":null}'  # noqa: E501  # one entry of a table, or one recorded value
    trackio_rows(bench.path, (3, text))
    (row,), _, problems = drain(bench.connect())
    assert math.isnan(row.values["n"])
    assert {name: n for name, n in row.values.items() if name != "n"} == {
        "loss": 0.5,
        "a.b.c": 1.0,
        "u": math.inf,
        "d": -math.inf,
    }
    assert (row.step, row.attempt, problems) == (3, "3f2a", [])
    assert row.at is not None
    assert row.at.isoformat() == "2026-11-21T12:00:00.500000+00:00"


def test_another_run_of_the_project_is_not_read_and_another_process_of_this_one_is_an_attempt(
    bench: Bench,
) -> None:
    bench.log((0, {"loss": 1.0}))
    trackio_rows(bench.path, (1, "{}"), run="77", name="other")
    trackio_rows(bench.path, (2, "{}"), run="9b1c")
    trackio_rows(bench.path, (3, "{}"), run="tiny-run", name="renamed")
    rows, _, _ = drain(bench.connect())
    assert [(row.step, row.attempt) for row in rows] == [(0, "3f2a"), (2, "9b1c"), (3, "tiny-run")]


def test_rows_still_in_the_write_ahead_log_of_a_live_writer_are_seen(bench: Bench) -> None:
    bench.log((0, {"loss": 1.0}))
    _, cursor, _ = drain(bench.connect())
    with closing(sqlite3.connect(bench.path)) as writer:
        writer.execute("pragma wal_autocheckpoint = 0")
        statement = (
            "insert into metrics (run_id, timestamp, run_name, step, metrics) values ('3f2a', ?, "
            "'tiny', ?, '{}')"
        )
        writer.execute(statement, (NOON, 1))
        writer.commit()
        writer.execute(statement, (NOON, 2))  # not yet
        rows, cursor, _ = drain(bench.connect(), cursor)
        assert [row.step for row in rows] == [1]
        writer.commit()
        assert [row.step for row in drain(bench.connect(), cursor)[0]] == [2]


def test_nothing_is_written(bench: Bench) -> None:
    bench.log((0, {"loss": 1.0}))
    before = bench.path.read_bytes()
    drain(bench.connect())
    bench.connect().alerts()
    assert bench.path.read_bytes() == before


def test_a_deleted_run_is_read_again(bench: Bench) -> None:
    bench.log((0, {"loss": 1.0}), (1, {"loss": 1.0}))
    _, cursor, _ = drain(bench.connect())
    execute(bench.path, "delete from metrics where run_id = ?", [("3f2a",)])
    bench.log((0, {"loss": 2.0}))
    batch = bench.connect().read(cursor)
    assert ([row.step for row in batch.rows], batch.restarted) == ([0], True)


def test_one_read_is_bounded_and_never_ends_on_nothing(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trackio, "MAX_ROWS", 3)
    for _ in range(10):
        bench.spoil("{")
    bench.log(*((step, {"loss": 1.0}) for step in range(8)))
    first = bench.connect().read("")
    assert [row.step for row in first.rows] == [0, 1]
    assert len(first.problems) == 10
    assert [row.step for row in drain(bench.connect(), first.cursor)[0]] == list(range(2, 8))


# --- the database --------------------------------------------------------------------------------


def test_a_database_without_tables_is_none_yet_and_another_file_is_unreadable(bench: Bench) -> None:
    bench.path.parent.mkdir()
    bench.path.touch()
    with pytest.raises(FileNotFoundError, match="no metrics"):
        bench.connect().read("")
    bench.path.write_text("words " * 500)
    with pytest.raises(OSError, match="read"):
        bench.connect().read("")


def test_a_file_may_be_named_itself_and_a_folder_needs_the_project(bench: Bench) -> None:
    bench.log((0, {"loss": 1.0}))
    assert len(drain(bench.connect(path=str(bench.path)))[0]) == 1
    with pytest.raises(WrongUse, match="`project`"):
        trackio.connect(trackio.Options(), bench.place)


def test_a_remote_path_is_refused_with_what_to_do(bench: Bench) -> None:
    with pytest.raises(WrongUse, match="absolute `path`"):
        bench.connect(path="gs://bucket/trackio")


# --- alerts --------------------------------------------------------------------------------------


def alert(bench: Bench, title: str, run: str = "3f2a", name: str = "tiny") -> None:
    statement = (
        "insert into alerts (run_id, timestamp, run_name, title, text, level, step) values (?, ?, "
        "?, ?, ?, ?, ?)"
    )
    execute(bench.path, statement, [(run, NOON, name, title, None, "error", 12)])


def test_the_runs_alerts_come_once(bench: Bench) -> None:
    alert(bench, "loss is up")
    alert(bench, "somebody else's", "77", "other")
    alert(bench, "again")
    first, second = bench.connect().alerts()
    assert (first.title, first.text, first.level, first.step, first.attempt) == (
        "loss is up",
        "",
        "error",
        12,
        "3f2a",
    )
    assert first.at is not None
    assert second.title == "again"
    assert bench.connect().alerts(first.number) == (second,)
    assert bench.connect().alerts(second.number) == ()
