"""The figures of a patrol's line, and what counts as a change or as movement."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from core.patrol.test_table import BEGAN, GIB, NOW, WAYS, a_look
from herorun.core.patrol.format import size
from herorun.core.patrol.observation import (
    ChainState,
    CommandOutput,
    Count,
    DiskRoom,
    FolderCopy,
    Gpu,
    Liveness,
    LogEnd,
    MachineUnread,
    MemoryUse,
    PreviousTick,
)
from herorun.core.patrol.summary_line import facts_of, movement_of, news_facts, patrol_line
from herorun.core.patrol.table import decide

BARE = {"log": None, "disks": {}, "gpus": None, "memory": None}
OLD = BEGAN - timedelta(hours=1)  # of an earlier run


def parts(**changes: Any) -> list[str]:
    look = a_look(**{**BARE, **changes})
    return patrol_line(look, decide(look, WAYS)).partition(": ")[2].split("; ")[1:]


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1 KiB"),
        (1 << 20, "1 MiB"),
        (3 * GIB, "3 GiB"),
        (1 << 40, "1.0 TiB"),
        (3 << 39, "1.5 TiB"),
    ],
)
def test_sizes(count: int, text: str) -> None:
    assert size(count) == text


@pytest.mark.parametrize(
    ("changes", "printed_parts"),
    [
        ({}, []),
        ({"log": LogEnd(line="step 5", step=5)}, ["step 5"]),
        (
            {"log": LogEnd(line='{"step":5,"loss":2.3456789012345678,"lr":0.0002999999999999}')},
            ['{"step":5,"loss":2.3457,"lr":0.0003}'],
        ),
        (
            {"log": LogEnd(line="[12:59:59.123456789 1764568888.1234567] step 5: 2.50000001e-05")},
            ["[12:59:59.123456789 1764568888.1235] step 5: 2.5e-05"],
        ),
        ({"log": LogEnd(line="x" * 130, age=61.0)}, ["x" * 120 + " (1m1s ago)"]),
        ({"log": LogEnd(age=7200.0)}, ["log written 2h ago"]),
        ({"log": LogEnd()}, []),
        ({"log": MachineUnread("it hangs")}, ["log unknown: it hangs"]),
        (
            {"markers": {"/a": NOW, "/b": OLD, "/c": None, "/d": MachineUnread("x")}},
            ["markers 1/4"],
        ),
        (
            {"results": {"/a": CommandOutput("1"), "/b": None, "/c": MachineUnread("x")}},
            ["results 1/3"],
        ),
        (
            {
                "copies": (
                    FolderCopy("/a", "a", Count(2, 9), Count(3, 9)),
                    FolderCopy("/b", "b", None, MachineUnread("x")),
                )
            },
            ["files 2/3", "files 0/?"],
        ),
        ({"gpus": (Gpu("0", 10.0), Gpu("1", 20.0))}, ["2 GPUs 15% busy"]),
        ({"gpus": ()}, []),
        ({"memory": MemoryUse(1, None, None, 2)}, ["oom_kill 2"]),
        ({"memory": MemoryUse(1, 2, 0.5, 0)}, ["host memory 50% used"]),
        (
            {
                "disks": {
                    "/a": DiskRoom(9 * GIB, 10 * GIB, 10, 100),
                    "/b": DiskRoom(2 * GIB, 9 * GIB, 50, 100),
                    "/c": DiskRoom(8 * GIB, 9 * GIB, 0, 0),
                    "/d": MachineUnread("x"),
                }
            },
            ["disk 2 GiB free", "inodes 10% free"],
        ),
        ({"disks": {"/d": MachineUnread("x")}}, ["disk unknown"]),
    ],
)
def test_each_figure_of_the_line(changes: dict[str, Any], printed_parts: list[str]) -> None:
    assert parts(**changes) == printed_parts


@pytest.mark.parametrize(
    ("chain", "alive", "printed_parts"),
    [
        (ChainState(True, "", "eval"), Liveness.NO, ["job gone", "chain running (eval)"]),
        (ChainState(True, "", "wait"), Liveness.YES, ["chain waiting"]),
        (ChainState(False, "x"), Liveness.YES, ["chain failed"]),
        (ChainState(False), Liveness.YES, ["chain not running"]),
        (MachineUnread("x"), Liveness.YES, ["chain unknown"]),
    ],
)
def test_the_job_and_its_chain_each_have_a_word(
    chain: ChainState | MachineUnread, alive: Liveness, printed_parts: list[str]
) -> None:
    assert parts(chain=chain, alive=alive) == printed_parts


def test_what_counts_as_a_change() -> None:
    base = a_look(markers={"/a": None}, copies=(FolderCopy("/c", "c", None, Count(1, 1)),))
    facts = facts_of(base, decide(base, WAYS))
    same = (
        {"at": NOW + timedelta(minutes=5)},
        {"load": 9.0},
        {"log": LogEnd(line="step 120 loss 2.0", step=120, size=5000, age=1.0)},
        {"memory": MemoryUse(60 * GIB, 100 * GIB, 0.6, 0)},
    )
    for changes in same:
        look = replace(base, **changes)
        assert facts_of(look, decide(look, WAYS)) == facts, changes
    other = (
        {"log": LogEnd(line="step 121 loss 2.1", step=121)},
        {"log": LogEnd(line="step 120 loss 2.1", step=120, failure="code-bug-small")},
        {"markers": {"/a": NOW}},
        {"copies": (FolderCopy("/c", "c", Count(1, 1), Count(1, 1)),)},
        {"chain": ChainState(True, "", "eval")},
        {"alive": Liveness.NO},
        {"memory": MemoryUse(95 * GIB, 100 * GIB, 0.95, 0)},
    )
    for changes in other:
        look = replace(base, **changes)
        assert facts_of(look, decide(look, WAYS)) != facts, changes
    first, second = (replace(base, log=LogEnd(line=line)) for line in ("loading", "compiling"))
    assert facts_of(first, decide(first, WAYS)) != facts_of(second, decide(second, WAYS))


def test_people_are_notified_of_states_markers_and_what_they_can_do_something_about() -> None:
    def news(**changes: Any) -> list[str]:
        look = a_look(**changes)
        return news_facts(look, decide(look, WAYS))

    assert news() == ["running", "none", ""]
    assert news(log=LogEnd(line="step 900", step=900), load=64.0, gpus=(Gpu("0", 0.0),)) == news()
    log = LogEnd(line="step 1", step=1, failure="disk-full")
    assert news(log=log, markers={"/b": NOW, "/a": NOW, "/c": None}, alive=Liveness.NO) == [
        "down",
        "none",
        "disk-full",
        "/a",
        "/b",
        "chain",
        "gone",
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {"log": LogEnd(line="other", step=120, size=4000)},
        {"log": LogEnd(line="step 120 loss 2.1", step=121, size=4000)},
        {"log": LogEnd(line="step 120 loss 2.1", step=120, size=4001)},
        {"markers": {"/a": NOW}},
        {"copies": (FolderCopy("/c", "c", Count(1, 2), Count(9, 9)),)},
        {"output_age": 59.0},
    ],
)
def test_each_thing_that_moves(changes: Mapping[str, Any]) -> None:
    still = a_look(output_age=60.0, copies=(FolderCopy("/c", "c", Count(1, 1), Count(9, 9)),))
    assert movement_of(still) == movement_of(replace(still, output_age=None, at=BEGAN))
    assert movement_of(still) != movement_of(replace(still, **changes))


def test_a_change_is_distinguished_from_none() -> None:
    look = a_look()
    before = PreviousTick(NOW - timedelta(minutes=30), facts_of(look, decide(look, WAYS)), 120)
    for facts, is_changed in ((before.facts, False), ("x", True)):
        line = patrol_line(look, decide(look, WAYS), replace(before, facts=facts))
        change = line.rpartition("; ")[2]
        assert (change.startswith("changed"), change.split()[-1]) == (is_changed, "11:30Z")


def test_steps_are_counted_since_the_last_tick() -> None:
    look = a_look(**{**BARE, "log": LogEnd(line="step 120", step=120)})
    before = PreviousTick(NOW - timedelta(minutes=10), step=90)
    for step, gain_text in ((90, " [+30 steps in 10m]"), (130, " [-10 steps in 10m]"), (None, "")):
        line = patrol_line(look, decide(look, WAYS), replace(before, step=step))
        assert f"; step 120{gain_text}; " in line
