"""Metrics on a box: the jsonl tracker reads them there, from where it stopped; others say that they
cannot.
"""

import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from herorun import adapters
from herorun.core.errors import WrongUse
from herorun.core.ports import Place, Tracker
from herorun.core.remote.target import RemoteTarget, SshLogin
from herorun.system import remote_file
from herorun.trackers import jsonl
from ports.tracker_suite import TrackerBench, TrackerSuite, drain
from services.boxes import Box
from trackers.test_jsonl import Bench as HereBench

pytestmark = pytest.mark.back_end


class Bench(HereBench):
    """The same programs, run by a Python of this machine."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.place = Place(
            "tiny", "state", str(folder), ".", RemoteTarget(SshLogin(), sys.executable)
        )


class TestJsonlOverSsh(TrackerSuite):
    @pytest.fixture
    def bench(self, tmp_path: Path) -> TrackerBench:
        return Bench(tmp_path / "with space" / "ünï\nline")


@pytest.fixture
def round_trips(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Every round trip, and what it asked for."""
    objects: list[object] = []
    whole = remote_file.RemoteFile._fetch
    monkeypatch.setattr(
        remote_file.RemoteFile,
        "_fetch",
        lambda self, spans: objects.append(spans) or whole(self, spans),
    )
    return objects


def test_only_what_is_new_travels_and_by_one_round_trip(
    tmp_path: Path, round_trips: list[object]
) -> None:
    bench = Bench(tmp_path)
    bench.log(*((step, {"loss": 1.0}) for step in range(20_000)))
    size = bench.path.stat().st_size
    _, cursor, _ = drain(bench.connect())
    round_trips.clear()
    bench.log((20_000, {"loss": 2.0}))
    batch = bench.connect().read(cursor)
    assert [row.step for row in batch.rows] == [20_000]
    assert round_trips == [
        [
            [0, remote_file.BEFORE],
            [size - remote_file.BEFORE, remote_file.BEFORE + remote_file.AHEAD],
        ]
    ]


def test_what_is_larger_than_one_round_trip_arrives_whole(
    tmp_path: Path, round_trips: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_file, "AHEAD", 50_000)
    bench = Bench(tmp_path)
    bench.log(*((step, {"loss": 1.0}) for step in range(5_000)))
    rows, _, problems = drain(bench.connect())
    assert [row.step for row in rows] == list(range(5_000)) and problems == []
    assert 3 < len(round_trips) < 12


@pytest.fixture
def root(box: Box, tmp_path: Path) -> Iterator[str]:
    folder = f"{box.home}/{tmp_path.name}"
    box.ssh(f"mkdir {shlex.quote(folder)}")
    yield folder
    box.fix()
    box.ssh(f"rm -rf {shlex.quote(folder)}")


def test_a_cut_link_is_no_missing_file_and_no_row_is_lost_over_it(box: Box, root: str) -> None:
    place = Place(
        "tiny",
        "state",
        root,
        ".",
        RemoteTarget(SshLogin(host=box.name, ssh_config=str(box.config)), connect=2),
    )
    tracker: Tracker = jsonl.connect(jsonl.Options(), place)
    with pytest.raises(FileNotFoundError):
        tracker.read("")
    box.ssh(f'echo \'{{"step": 0, "loss": 1}}\' >> {root}/metrics.jsonl')
    cursor = tracker.read("").cursor
    box.ssh(f'echo \'{{"step": 1, "loss": 1}}\' >> {root}/metrics.jsonl')
    box.cut()
    with pytest.raises(ConnectionError, match=f"{box.name} .*Try again"):
        tracker.read(cursor)
    box.fix()
    assert [row.step for row in tracker.read(cursor).rows] == [1]


@pytest.mark.parametrize("kind", ["levanter_log", "tensorboard", "trackio", "wandb_offline"])
def test_a_tracker_of_local_files_does_not_take_the_boxs_path_for_its_own(
    kind: str, tmp_path: Path
) -> None:
    place = Place("tiny", "state", os.fspath(tmp_path), ".", RemoteTarget(SshLogin(host="box1")))
    with pytest.raises(WrongUse, match=rf"\b{kind}\b.*this machine.*box1"):
        adapters.connect("trackers", kind, {}, place)


def test_a_hole_of_gigabytes_does_not_travel(tmp_path: Path, round_trips: list[object]) -> None:
    """What a crash of the file system leaves: the machine itself is asked where it ends."""
    bench = Bench(tmp_path)
    bench.log(*((step, {"loss": 1.0}) for step in range(3)))
    with bench.path.open("ab") as file:
        file.truncate(8 << 30)
        file.seek(0, os.SEEK_END)
        file.write(b'\n{"step": 3, "loss": 1.0}\n')
    rows, _, _ = drain(bench.connect())
    assert [row.step for row in rows] == [0, 1, 2, 3] and len(round_trips) < 20
