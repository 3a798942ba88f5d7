from pathlib import Path

import pytest

from herorun.core.errors import CouldNotLook
from herorun.core.ports import Place, Row, Tracker
from herorun.core.remote.target import RemoteTarget, SshLogin
from herorun.trackers import csv_rows
from ports.tracker_suite import LoggedRow, TrackerBench, TrackerSuite, drain

COLUMNS = ("step", "train/loss", "grad", "loss", "a", "b", "c", "d")


class Bench:
    """A real file that is logged to as a trainer does."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "metrics.csv"
        self.place = Place("tiny", str(folder / "state"), str(folder), str(folder))

    def connect(self) -> Tracker:
        return csv_rows.connect(csv_rows.Options(), self.place)

    def log(self, *rows: LoggedRow) -> None:
        if not self.path.exists():
            self.write(",".join(COLUMNS) + "\n")
        self.write("".join(line(row) for row in rows))

    def replace(self, *rows: LoggedRow) -> None:
        self.path.unlink()
        self.log(*rows)

    def spoil(self, text: str) -> None:
        self.write(f"Traceback: {text}\n")

    def cut_off(self) -> None:
        self.path.unlink()
        self.path.symlink_to(self.path.name)  # a loop: there, and not to be opened

    def write(self, text: str) -> None:
        with self.path.open("a") as file:
            file.write(text)


def line(row: LoggedRow) -> str:
    step, values = row
    return ",".join(str({"step": step, **values}.get(name, "")) for name in COLUMNS) + "\n"


class TestCsvRows(TrackerSuite):
    """What every tracker must do."""

    @pytest.fixture
    def bench(self, tmp_path: Path) -> TrackerBench:
        return Bench(tmp_path)


def test_a_torn_last_line_waits_for_its_end(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write("step,loss\n0,1.0\n1,2")
    rows, cursor, problems = drain(bench.connect())
    assert (rows, problems) == ([Row(0, {"loss": 1.0})], [])
    bench.write(".5\n")
    assert bench.connect().read(cursor).rows == (Row(1, {"loss": 2.5}),)


def test_a_file_of_another_machine_is_never_read_on_this_one(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.log((0, {"loss": 1.0}))  # the same path, here
    nowhere = RemoteTarget(SshLogin(host="127.0.0.1", port=1), connect=1.0)
    there = Place("tiny", str(tmp_path / "state"), str(tmp_path), str(tmp_path), nowhere)
    with pytest.raises((OSError, CouldNotLook)):
        csv_rows.connect(csv_rows.Options(), there).read("")
