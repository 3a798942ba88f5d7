"""The lease over time, by our own clock; and the loop's heartbeat."""

import json
import os
from pathlib import Path

import pytest

from builders import MINUTE, NOON, a_contract
from herorun.core.evidence import Heartbeat, Launcher, LeaseSeen, Nothing, Now, RecordLease
from herorun.core.ports import Place
from herorun.core.record.lease import Lease
from herorun.sources import leases
from herorun.sources.leases import read_heartbeat, read_lease_seen
from herorun.stores.local import LocalStore
from herorun.system.clock import Uptime
from herorun.system.files import lock_file, take_lock
from herorun.system.git import find_repository
from stories import git
from wording import mentions


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "state").mkdir()
    (tmp_path / "root" / "_herorun").mkdir(parents=True)
    return tmp_path


def write(home: Path, lease: Lease) -> None:
    (home / "root" / "_herorun" / "lease.json").write_bytes(lease.bytes())


IN_ROOT = Nothing("it lies in the output root")


class Machine:
    """The observer's: how long it has run since which start, and how far its clock was set."""

    def __init__(self) -> None:
        self.start()

    def start(self) -> None:
        self.boot, self.minutes, self.leap, self.knows = "first", 0, 0, True

    def uptime(self) -> Uptime | None:
        return Uptime(self.boot, 5.0 + 60 * self.minutes) if self.knows else None


HERE = Machine()


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    HERE.start()
    monkeypatch.setattr(leases, "uptime", HERE.uptime)
    return HERE


def look(
    home: Path, minutes: int = 0, recorded_lease: RecordLease | Nothing = IN_ROOT
) -> LeaseSeen | Nothing:
    HERE.minutes = minutes
    place = Place("tiny", str(home / "state"), str(home / "root"), "")
    moment = Now(NOON + (minutes + HERE.leap) * MINUTE)
    return read_lease_seen(place, LocalStore(), Launcher("dri@here", "Dri"), moment, recorded_lease)


def since(home: Path, minutes: int) -> int:
    snapshot = look(home, minutes)
    assert isinstance(snapshot, LeaseSeen), snapshot
    return (snapshot.unchanged_since - NOON) // MINUTE


def test_a_beat_that_does_not_move_is_as_old_as_its_first_sight(home: Path) -> None:
    theirs = Lease("eve@there", "tiny")
    write(home, theirs)

    assert [since(home, 0), since(home, 40)] == [0, 0]
    write(home, theirs.renew())
    assert [since(home, 50), since(home, 70)] == [50, 50]
    write(home, theirs.hand_to("bob@there"))
    assert since(home, 80) == 80


@pytest.mark.parametrize("leap", [600, -600])
def test_a_clock_that_is_set_changes_no_age(home: Path, machine: Machine, leap: int) -> None:
    write(home, Lease("eve@there", "tiny"))
    assert since(home, 0) == 0
    machine.leap = leap

    assert leap + 1 - since(home, 1) == 1


def test_what_was_seen_before_this_start_of_the_machine_does_not_count(
    home: Path, machine: Machine
) -> None:
    write(home, Lease("eve@there", "tiny"))
    assert since(home, 0) == 0
    machine.boot = "second"

    assert [since(home, 40), since(home, 50)] == [40, 40]


def test_a_note_is_not_synced_and_one_that_was_cut_short_begins_again(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A loss of power ends what it counts from, so that no tick waits for the disk."""
    sync_calls: list[int] = []
    monkeypatch.setattr(os, "fsync", sync_calls.append)
    write(home, Lease("eve@there", "tiny", 1, 7))
    assert since(home, 0) == 0
    note = home / "state" / leases.LEASE_FILE
    note.write_bytes(note.read_bytes()[:20])
    assert [since(home, 5), since(home, 9)] == [5, 5]
    note.write_bytes(b"")
    assert since(home, 12) == 12
    assert sync_calls == []


def test_a_note_of_an_earlier_version_begins_again(home: Path) -> None:
    write(home, Lease("eve@there", "tiny"))
    note = {"beat": "eve@there tiny 1 0", "since": "2020-01-01T00:00:00Z"}
    (home / "state" / "lease-seen.json").write_text(json.dumps(note))

    assert [since(home, 0), since(home, 40)] == [0, 0]


def test_a_machine_that_tells_no_uptime_goes_by_its_clock_and_says_so(
    home: Path, machine: Machine
) -> None:
    machine.knows = False
    write(home, Lease("eve@there", "tiny"))
    assert [since(home, 0), since(home, 40)] == [0, 0]
    snapshot = look(home, 41)

    assert isinstance(snapshot, LeaseSeen) and snapshot.by_wall_clock
    assert mentions(snapshot.caveat, "clock", "uptime")


def test_a_lease_in_the_record_is_seen_over_time_too(home: Path) -> None:
    theirs = Lease("eve@there", "tiny", 3, 7)
    write(home, Lease("bob@there", "tiny"))  # left from before: it is no authority any more
    first, later = look(home, 0, RecordLease(theirs)), look(home, 40, RecordLease(theirs))
    assert isinstance(first, LeaseSeen) and isinstance(later, LeaseSeen)
    assert (later.owner, later.fence, later.beat, later.mine) == ("eve@there", 3, 7, False)
    assert first.unchanged_since == later.unchanged_since == NOON
    moved_answer = look(home, 50, RecordLease(theirs.renew()))
    assert (
        isinstance(moved_answer, LeaseSeen) and moved_answer.unchanged_since == NOON + 50 * MINUTE
    )


def test_whose_it_is(home: Path) -> None:
    write(home, Lease("eve@there", "tiny"))
    snapshot = look(home)
    assert isinstance(snapshot, LeaseSeen)
    assert (snapshot.owner, snapshot.mine, snapshot.modified is not None) == (
        "eve@there",
        False,
        True,
    )
    write(home, Lease("dri@here", "tiny"))
    snapshot = look(home)
    assert isinstance(snapshot, LeaseSeen) and snapshot.mine


def test_no_lease_and_no_state_folder(home: Path) -> None:
    assert isinstance(look(home), Nothing)
    write(home, Lease("eve@there", "tiny"))
    (home / "state").rmdir()
    assert since(home, 5) == 5
    assert not (home / "state").exists()


def test_the_loops_own_heartbeat(home: Path) -> None:
    git(home, "init", "-q", "--template=")
    repository = find_repository(home)
    place = Place("tiny", str(home / "state"), "", "")

    def beat() -> Heartbeat:
        return read_heartbeat(repository, a_contract(), place, Now(NOON))

    assert beat() == Heartbeat(False, None)
    (home / "state" / "heartbeat.json").write_text(
        f'{{"at": "{NOON.isoformat()}", "pid": {os.getpid()}}}'
    )
    assert beat() == Heartbeat(False, NOON, True)
    (home / "state" / "heartbeat.json").write_text(f'{{"at": "{NOON.isoformat()}", "pid": 1}}')
    assert beat() == Heartbeat(False, NOON, False)
    lock = take_lock(lock_file(repository.common, "tiny", "babysitter"), 0.0, "the loop")
    try:
        assert beat().held
    finally:
        os.close(lock)
    (home / "state" / "heartbeat.json").write_text("{torn")
    assert beat() == Heartbeat(False, None)


@pytest.mark.parametrize(
    ("boot", "name", "minutes"),
    [("first", "uptime", 2), ("before", "uptime", 60), ("first", "seconds", 60)],
)
def test_the_age_of_the_loops_heartbeat_goes_by_our_uptime(
    home: Path, machine: Machine, boot: str, name: str, minutes: int
) -> None:
    """The clock was set back an hour; a note from before this start of the machine has a time, and
    so has one of an earlier version, which named its uptime otherwise.
    """
    git(home, "init", "-q", "--template=")
    note = {"at": (NOON + 60 * MINUTE).isoformat(), "pid": 1, "boot": boot, name: 5.0}
    (home / "state" / "heartbeat.json").write_text(json.dumps(note))
    machine.minutes = 2
    place = Place("tiny", str(home / "state"), "", "")
    beat = read_heartbeat(find_repository(home), a_contract(), place, Now(NOON))

    assert beat.at == (NOON - minutes * MINUTE if minutes == 2 else NOON + minutes * MINUTE)
