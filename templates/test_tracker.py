from collections.abc import Mapping
from pathlib import Path

import pytest

from herorun.core.ports import Place, Row, Tracker
from herorun.trackers import key_values
from ports.tracker_suite import Logged, TrackerBench, TrackerSuite, drain


class Bench:
    """A real file that is logged to as a trainer does."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "metrics.txt"
        self._place = Place("tiny", str(folder / "state"), str(folder), str(folder))

    def connect(self) -> Tracker:
        return key_values.connect(key_values.Options(), self._place)

    def log(self, *rows: Logged) -> None:
        self.write("".join(line(step, values) for step, values in rows))

    def replace(self, *rows: Logged) -> None:
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


def line(step: int, values: Mapping[str, float]) -> str:
    return (
        " ".join([f"step={step}", *(f"{name}={value!r}" for name, value in values.items())]) + "\n"
    )


class TestKeyValues(TrackerSuite):
    """What every tracker must do."""

    @pytest.fixture
    def bench(self, tmp_path: Path) -> TrackerBench:
        return Bench(tmp_path)


def test_a_torn_last_line_waits_for_its_end(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write("step=0 loss=1.0\nstep=1 lo")
    rows, cursor, problems = drain(bench.connect())
    assert (rows, problems) == ([Row(0, {"loss": 1.0})], [])
    bench.write("ss=2.0\n")
    assert bench.connect().read(cursor).rows == (Row(1, {"loss": 2.0}),)
