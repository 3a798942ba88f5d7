"""Which checkpoints are looked into, at what price, and what happens where one cannot be."""

import json
import os
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from builders import MINUTE, NOON, a_contract, a_history, an_instance
from herorun.core.contract import Contract
from herorun.core.evidence import (
    Candidate,
    Checkpoints,
    FinalStep,
    GivenUp,
    History,
    Nothing,
    Taint,
)
from herorun.core.lineage import written_later
from herorun.core.ports import Layout
from herorun.sources.checkpoints import read_checkpoints, read_start_siblings
from herorun.stores.layouts import levanter
from ports.disks import PLACE, Disk, Listed, LocalDisk, MemoryDisk, Through, Timeless, Untimed

UNKNOWN = Nothing("nothing was launched yet")
LAYOUT: Layout = levanter.connect(levanter.Options(), PLACE)
BEGAN = NOON - timedelta(days=999 * 365)  # files of today are no older than that
YOUNG = a_history(0)
LAUNCH_HISTORY = a_history(instances=(an_instance(intended=BEGAN, started=BEGAN),))


def save(
    disk: Disk, step: int, root: str = "", complete: bool = True, at: float | None = None
) -> str:
    """At a time of its own, one a step, as a trainer's are; `at` is another."""
    path = f"{root or disk.root}/step-{step}"
    disk.write(f"{path}/d/0", b"1")
    if complete:
        disk.write(f"{path}/metadata.json", json.dumps({"step": step}).encode())
    if isinstance(disk, LocalDisk):
        moment = 1_700_000_000 + step if at is None else at
        for name in ("d", "metadata.json", "."):
            if os.path.exists(f"{path}/{name}"):
                os.utime(f"{path}/{name}", (moment, moment))
    return path


@pytest.fixture(params=["local", "memory"])
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Disk:
    return LocalDisk(tmp_path) if request.param == "local" else MemoryDisk()


@pytest.fixture
def local(tmp_path: Path) -> LocalDisk:
    return LocalDisk(tmp_path)


def a_run(disk: Disk, **start: Any) -> Contract:
    return a_contract(
        output={"root": disk.root, "temporary_root": f"{disk.root}-temporary"}, start=start
    )


def look(
    disk: Disk,
    history: History = LAUNCH_HISTORY,
    final: Any = UNKNOWN,
    store: Any = None,
    **start: Any,
) -> Checkpoints:
    return read_checkpoints(a_run(disk, **start), store or disk.store, LAYOUT, history, final)


def states(checkpoints: Checkpoints) -> dict[int, str]:
    return {c.step: state(c) for c in checkpoints.candidates}


def state(candidate: Candidate) -> str:
    words = {"complete": "complete", "incomplete": "incomplete", "is_unread": "unread"}
    return next((word for name, word in words.items() if getattr(candidate, name)), "unexamined")


def test_of_thousands_only_the_newest_are_looked_into(disk: Disk) -> None:
    for step in range(0, 5000, 10):
        save(disk, step)
    store = Through(disk.store)
    snapshot = look(disk, store=store)
    assert snapshot.newest and snapshot.newest.step == 4990
    assert [c.step for c in snapshot.candidates] == list(range(0, 5000, 10))
    assert [c.step for c in snapshot.candidates if c.examined] == [4990]
    # A listing of each root, a read and a listing of the newest; those of the next two, where
    # folders have no time.
    assert len(store.calls) <= (4 if isinstance(disk, LocalDisk) else 6)


def test_newer_incomplete_ones_stay_in_sight(disk: Disk) -> None:
    for step, complete in ((10, True), (20, True), (30, False), (40, False)):
        save(disk, step, complete=complete)
    assert states(look(disk)) == {
        10: "unexamined",
        20: "complete",
        30: "incomplete",
        40: "incomplete",
    }


def test_each_root_is_looked_into(disk: Disk) -> None:
    save(disk, 100)
    save(disk, 150, root=f"{disk.root}-temporary")
    snapshot = look(disk)
    assert [(c.step, c.temporary, c.complete) for c in snapshot.candidates] == [
        (100, False, True),
        (150, True, True),
    ]


def test_no_root_yet_is_no_checkpoint(disk: Disk) -> None:
    assert look(disk) == Checkpoints()


def test_a_root_that_cannot_be_listed_raises(disk: Disk) -> None:
    save(disk, 10)

    def fail_listing(call: str, path: str) -> None:
        raise PermissionError(f"{path}: permission denied")

    with pytest.raises(PermissionError):
        look(disk, store=Through(disk.store, fail_listing))


def test_a_root_that_is_a_file_is_not_empty(local: LocalDisk) -> None:
    local.write(local.root, b"")
    with pytest.raises(NotADirectoryError):
        look(local)


def test_the_one_that_was_modified_last_is_looked_into(local: LocalDisk) -> None:
    for step in (10, 20, 30, 40):
        save(local, step, at=1_800_000_000 if step == 20 else None)
    assert states(look(local)) == {
        10: "unexamined",
        20: "complete",
        30: "unexamined",
        40: "complete",
    }


def test_where_folders_have_no_time_one_that_was_written_later_is_looked_into(
    local: LocalDisk,
) -> None:
    for step in (10, 20, 30, 40):
        save(local, step, at=1_800_000_000 if step == 20 else None)
    snapshot = look(local, store=Untimed(local.store))
    assert states(snapshot) == {10: "unexamined", 20: "complete", 30: "unexamined", 40: "complete"}
    newest = snapshot.newest
    assert newest and newest.step == 40
    later = written_later(newest, snapshot.candidates)  # after a rollback
    assert later and later.step == 20


def test_where_nothing_has_a_time_the_next_ones_are_looked_into(local: LocalDisk) -> None:
    for step in (10, 20, 30, 40):
        save(local, step)
    snapshot = look(local, store=Timeless(local.store))
    assert states(snapshot) == {10: "unexamined", 20: "complete", 30: "complete", 40: "complete"}


def test_a_listing_of_five_pages_leaves_one_request_to_date_the_next(disk: Disk) -> None:
    store = Listed(disk.store, disk.root, [f"step-{step}/" for step in range(5000)])
    for step in (4997, 4998, 4999):
        save(disk, step)
    assert look(disk, store=store).newest
    dated_paths = [
        path for call, path in store.calls if call == "entries" and path.endswith(("4997", "4998"))
    ]
    assert dated_paths == [f"{disk.root}/step-4998"]


def test_the_one_that_the_contract_names_is_looked_into(disk: Disk) -> None:
    for step in (10, 20, 30):
        save(disk, step, complete=step != 10)
    assert states(look(disk, **{"from": f"{disk.root}/step-10/"}))[10] == "incomplete"


def test_those_of_the_final_step_are_looked_into(disk: Disk) -> None:
    for step in (20, 30, 40, 50):
        save(disk, step)
    assert states(look(disk, final=FinalStep(20)))[20] == "complete"
    assert states(look(disk, final=FinalStep(None, "unknown")))[20] == "unexamined"


def test_a_rejected_lineage_is_only_listed(disk: Disk) -> None:
    for step in (10, 20, 30):
        save(disk, step)
    snapshot = look(disk, rejected=[f"{disk.root}/step-30"])
    assert states(snapshot) == {10: "unexamined", 20: "complete", 30: "unexamined"}


def test_a_tainted_one_is_passed_over(local: LocalDisk) -> None:
    for step in (10, 20, 30):
        save(local, step)
    (candidate,) = (c for c in look(local).candidates if c.step == 20)
    assert candidate.modified
    taints = (Taint(check="not-finite", since=candidate.modified, step=20),)
    history = a_history(instances=LAUNCH_HISTORY.instances, taints=taints)
    assert states(look(local, history)) == {10: "unexamined", 20: "complete", 30: "complete"}


def test_what_lay_there_before_is_left_out(disk: Disk) -> None:
    path = save(disk, 10)
    save(disk, 20)
    history = a_history(instances=LAUNCH_HISTORY.instances, foreign=frozenset({path}))
    assert states(look(disk, history)) == {20: "complete"}


def test_what_a_rollback_gave_up_stands_apart_until_it_is_written_again(local: LocalDisk) -> None:
    for step in (10, 20, 30):
        save(local, step)
    (first, *_) = look(local).candidates
    assert first.modified
    back = GivenUp(10, first.modified + timedelta(hours=1))
    snapshot = look(local, a_history(instances=LAUNCH_HISTORY.instances, given_up=(back,)))
    assert states(snapshot) == {10: "complete"}
    assert [c.step for c in snapshot.given_up] == [20, 30]
    before = replace(back, at=first.modified)  # all were written since
    assert (
        look(local, a_history(instances=LAUNCH_HISTORY.instances, given_up=(before,))).given_up
        == ()
    )


def test_what_is_written_again_in_its_old_files_is_given_up_no_more(local: LocalDisk) -> None:
    """A folder's own time does not move then; only the newest ones are looked into, and this is
    none of them.
    """
    for step in (10, 20, 30, 40):
        save(local, step)
    (moment,) = (c.modified for c in look(local).candidates if c.step == 30)
    assert moment
    history = a_history(
        instances=LAUNCH_HISTORY.instances, given_up=(GivenUp(10, moment + timedelta(seconds=1)),)
    )
    os.utime(f"{local.root}/step-20/metadata.json")
    snapshot = look(local, history)
    assert states(snapshot) == {10: "unexamined", 20: "unexamined", 40: "complete"}
    assert [c.step for c in snapshot.given_up] == [30]


def test_backups_are_in_sight_and_never_the_newest(disk: Disk) -> None:
    save(disk, 10)
    disk.write(f"{disk.root}/step-1000.bak/metadata.json", b'{"step": 1000}')
    snapshot = look(disk)
    assert states(snapshot) == {10: "complete", 1000: "incomplete"}
    assert snapshot.newest and snapshot.newest.step == 10


def unreadable(path: str) -> None:
    """A pipe in place of the marker: whoever opened it would wait forever."""
    os.mkfifo(f"{path}/metadata.json")


def test_one_that_may_be_the_newest_and_cannot_be_read_raises(local: LocalDisk) -> None:
    save(local, 10)
    unreadable(save(local, 20, complete=False))
    with pytest.raises(OSError, match=r"step-20.*newest"):
        look(local)


def test_one_that_is_older_than_a_complete_one_does_not_matter(local: LocalDisk) -> None:
    unreadable(save(local, 20, root=f"{local.root}-temporary", complete=False))
    save(local, 30)
    assert states(look(local)) == {20: "unread", 30: "complete"}


def test_an_unreadable_one_of_a_rejected_lineage_does_not_matter(local: LocalDisk) -> None:
    save(local, 10)
    path = save(local, 20, complete=False)
    unreadable(path)
    assert states(look(local, rejected=[path])) == {10: "complete", 20: "unexamined"}


def test_before_the_first_launch_nothing_in_the_roots_can_be_chosen(local: LocalDisk) -> None:
    unreadable(save(local, 20, complete=False))
    assert states(look(local, YOUNG)) == {20: "unread"}


def test_one_that_is_pruned_meanwhile_is_left_out(disk: Disk) -> None:
    save(disk, 10)
    pruned_checkpoint = save(disk, 20)
    pruned_paths = []

    def prune(call: str, path: str) -> None:
        if path.startswith(pruned_checkpoint) and not pruned_paths:
            pruned_paths.append(path)
            disk.prune(pruned_checkpoint)

    assert states(look(disk, store=Through(disk.store, prune))) == {10: "complete"}


# --- beside the start -----------------------------------------------------------------------------


def beside(disk: Disk, path: str, store: Any = None, **start: Any) -> dict[int, str]:
    contract = a_contract(start={"from": path, **start})
    siblings = read_start_siblings(contract, store or disk.store, LAYOUT)
    return states(Checkpoints(siblings.candidates))


def test_next_to_the_start_the_newest_and_the_named_are_looked_into(disk: Disk) -> None:
    for step in (10, 20, 30, 40):
        save(disk, step)
    store = Through(disk.store)
    assert beside(disk, f"{disk.root}/step-20/", store) == {
        10: "unexamined",
        20: "complete",
        30: "unexamined",
        40: "complete",
    }
    assert len(store.calls) == 1 + 2 * (2 if isinstance(disk, LocalDisk) else 3)


def test_a_start_that_cannot_be_read_is_unread_and_not_incomplete(local: LocalDisk) -> None:
    path = save(local, 20, complete=False)
    unreadable(path)
    assert beside(local, path) == {20: "unread"}


def test_a_start_that_is_not_there_has_no_siblings(disk: Disk) -> None:
    assert beside(disk, f"{disk.root}/step-20") == {}
    assert read_start_siblings(a_contract(), disk.store, LAYOUT).candidates == ()


def test_the_time_of_the_first_launch_is_not_by_chance(local: LocalDisk) -> None:
    """One that is older than the first launch is nobody's: the next one is looked into."""
    save(local, 10)
    save(local, 20, at=1_000_000_000)
    began = NOON.replace(year=2020)
    history = a_history(instances=(an_instance(intended=began, started=began + MINUTE),))
    snapshot = look(local, history)
    assert states(snapshot) == {10: "complete", 20: "complete"}
