"""Room on this machine's disks, and an older look of the same."""

from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

from builders import NOON, a_contract
from herorun.core.canonical_json import timestamp
from herorun.core.evidence import Disk, Disks
from herorun.core.evidence_log import canonical_facts, encode_evidence, evidence_line
from herorun.core.ports import Place
from herorun.core.remote.target import RemoteTarget, SshLogin
from herorun.sources.disks import read_disks


class Far:
    """A store that tells the room on another machine."""

    def room(self, path: str) -> tuple[int, int, int | None]:
        return 5, 9, None


def read(
    home: Path, kind: str = "local", root: str = "", reach: RemoteTarget | None = None
) -> Disks:
    fields = {"root": root or str(home / "not" / "there"), "temporary_root": None}
    contract = a_contract(output=fields, scheduler={"kind": kind})
    scheduler = SimpleNamespace(runs_here=kind == "local")
    return read_disks(Place("tiny", str(home / "state"), "", "", reach), contract, Far(), scheduler)


def line_of(at: datetime, disk: Disk) -> str:
    """What a tick keeps of a reading of `/a`."""
    facts = canonical_facts(encode_evidence({Disks: Disks({"/a": disk})}))
    return evidence_line(timestamp(at), facts) + "\n"


def test_a_path_that_is_not_there_yet_is_measured_where_it_would_be_made(tmp_path: Path) -> None:
    evidence = read(tmp_path)

    assert set(evidence.now) == {str(tmp_path / "state"), str(tmp_path / "not" / "there")}
    assert all(0 < disk.free <= disk.total for disk in evidence.now.values())
    assert (evidence.before, evidence.before_at) == ({}, None)


def test_roots_elsewhere_are_not_this_machines_disks(tmp_path: Path) -> None:
    assert list(read(tmp_path, kind="slurm").now) == [str(tmp_path / "state")]
    assert list(read(tmp_path, root="gs://bucket/tiny").now) == [str(tmp_path / "state")]


def test_roots_on_a_box_are_measured_there(tmp_path: Path) -> None:
    evidence = read(
        tmp_path, kind="ssh", root="/data/tiny", reach=RemoteTarget(SshLogin(host="box1"))
    )
    assert evidence.now["/data/tiny"] == Disk(5, 9, None)
    assert set(evidence.now) == {str(tmp_path / "state"), "/data/tiny"}


def test_the_oldest_look_of_the_last_days(tmp_path: Path) -> None:
    folder = tmp_path / "state" / "evidence"
    folder.mkdir(parents=True)
    for day in (1, 2, 3):
        at = NOON - timedelta(days=3 - day)
        looks = [line_of(at, Disk(100 * day + n, 999)) for n in (0, 1)]
        (folder / f"2026010{day}.jsonl").write_text("".join(looks))
    evidence = read(tmp_path)

    assert evidence.before == {"/a": Disk(200, 999)}
    assert evidence.before_at == NOON - timedelta(days=1)


def test_another_first_reading_is_noticed(tmp_path: Path) -> None:
    folder = tmp_path / "state" / "evidence"
    folder.mkdir(parents=True)
    for free in (1, 1, 2):
        (folder / "20260101.jsonl").write_text(line_of(NOON, Disk(free, 9)))
        assert read(tmp_path).before == {"/a": Disk(free, 9)}
    (folder / "20260101.jsonl").unlink()
    assert read(tmp_path).before == {}


def test_a_torn_look_is_none(tmp_path: Path) -> None:
    folder = tmp_path / "state" / "evidence"
    folder.mkdir(parents=True)
    (folder / "20260101.jsonl").write_text("{torn")
    (folder / "20260102.jsonl").write_text('{"at": "2026-01-02T00:00:00Z", "evidence": {}}\n')

    assert read(tmp_path).before == {}
