"""What a patrol remembers of the tick before, and the commands that it proposes."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from builders import NOON, a_contract, an_instance
from core.patrol.test_table import GIB, NOW, a_look
from herorun.core.canonical_json import canonical, timestamp
from herorun.core.event import Ordered, Word
from herorun.core.journal import Memory
from herorun.core.patrol.observation import (
    HostObservation,
    Liveness,
    LogEnd,
    MachineUnread,
    MemoryUse,
    PreviousTick,
)
from herorun.core.patrol.summary_line import facts_of, movement_of, news_facts, patrol_line
from herorun.core.patrol.table import decide
from herorun.core.recovery.policy import ActionPause, RelaunchAnswer
from herorun.core.remote.target import RemoteTarget, SshLogin
from herorun.operations.remote import patrol
from herorun.operations.remote.patrol import (
    PatrolTick,
    decide_advice,
    read_previous_tick,
    remember,
    ways_of,
)
from herorun.system.clock import now
from herorun.system.files import hold_lock
from wording import mentions

CHAIN = {"folder": "/c", "stage": [{"name": "eval", "run": "true"}]}


LAUNCHED_MEMORY = Memory(instances=(an_instance(),))
STOP = Ordered(at=NOON, word=Word.STOP, about=("tiny-1",), by="ada")


def a_run(folder: Path, memory: Memory | None = None, reach: Any = None, **tables: Any) -> Any:
    return SimpleNamespace(
        slug="tiny",
        state=folder,
        other_babysit_owner="",
        prepare=lambda: None,
        lock=lambda name: folder / f"{name}.lock",
        contract=a_contract(**tables),
        dri="@dri",
        record=SimpleNamespace(memory=lambda: memory or Memory(), remote_unread=""),
        place=SimpleNamespace(repository="/my work", reach=reach),
    )


def test_a_tick_is_remembered_for_the_next_one(tmp_path: Path) -> None:
    run, look = a_run(tmp_path), a_look(memory=MemoryUse(GIB, 4 * GIB, 0.25, 2))

    def after(observation: HostObservation, before: PreviousTick | None) -> PreviousTick | None:
        advice = decide(observation, ways_of(run))
        remember(run, PatrolTick(observation, advice, "", before))
        return read_previous_tick(run)

    facts = facts_of(look, decide(look, ways_of(run)))
    first = after(look, None)
    assert first == PreviousTick(NOW, facts, 120, NOW, movement_of(look), 2)
    later = NOW + timedelta(minutes=30)
    still = replace(look, at=later, output_age=None)
    moving = replace(look, at=later, log=LogEnd(line="step 121", step=121))
    before = replace(first, movement=movement_of(still))
    assert getattr(after(still, before), "since", None) == NOW
    assert getattr(after(moving, before), "since", None) == later
    bare = after(replace(moving, log=MachineUnread("x"), memory=MachineUnread("x")), None)
    assert bare is not None and (bare.step, bare.oom_kill) == (None, None)
    assert after(replace(look, unreachable="cut"), before) == bare


def propose(monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    monkeypatch.setattr(patrol, "continuation_command", lambda proposer: command)
    monkeypatch.setattr(patrol, "with_taints_now", lambda run, memory: memory)
    tick = SimpleNamespace(stays_down=False)
    monkeypatch.setattr(patrol, "evaluate", lambda run: (tick, {}))


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"step": 5}'])
def test_a_damaged_memory_is_none(tmp_path: Path, content: bytes) -> None:
    run = a_run(tmp_path)
    assert read_previous_tick(run) is None
    (tmp_path / patrol.MEMORY).write_bytes(content)
    assert read_previous_tick(run) is None


def test_the_commands_of_a_run(tmp_path: Path) -> None:
    tables: dict[str, Any] = {"patrol": {"copies": {"/d/set": "set"}, "memory_fraction": 0.8}}
    others = ways_of(a_run(tmp_path, **tables))
    assert (others.resume, others.chain, others.memory) == ("", "", 0.8)
    assert others.transfer == (("/d/set", "rsync -a --partial '/my work/set/' /d/set/"),)
    assert "herorun-patrol-tiny.timer" in others.remove
    box = RemoteTarget(SshLogin(host="box1"))
    ours = ways_of(a_run(tmp_path, LAUNCHED_MEMORY, box, chain=CHAIN, **tables))
    assert ours.resume == "herorun -C '/my work' status tiny"
    assert ours.chain.startswith("herorun -C '/my work' box chain tiny | ssh ")
    assert ours.transfer[0][1].endswith("'/my work/set/' box1:/d/set/")
    own = ways_of(a_run(tmp_path, LAUNCHED_MEMORY, patrol={"resume_command": "make again"}))
    assert own.resume == "make again"


@pytest.mark.parametrize(
    ("changes", "current", "table", "command"),
    [
        ({}, True, {}, "herorun -C '/my work' relaunch tiny # herorun"),
        ({}, False, {}, ""),
        ({}, True, {"resume_command": "make again"}, "make again"),
    ],
)
def test_the_gate_is_asked_for_the_command_of_a_run_that_is_down(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    changes: dict[str, Any],
    current: bool,
    table: dict[str, Any],
    command: str,
) -> None:
    propose(monkeypatch, "herorun relaunch tiny # herorun")
    run = a_run(tmp_path, LAUNCHED_MEMORY if current else None, patrol=table)
    (row,) = decide_advice(run, a_look(alive=Liveness.NO, **changes)).advice
    assert (row.row, row.command) == ("gone", command)
    monitoring = [] if not current else ["unmonitored"]
    assert [each.row for each in decide_advice(run, a_look()).advice] == monitoring
    (unproven,) = decide_advice(
        run, a_look(alive=Liveness.NO, succeeded=True, markers={"/d/DONE": None})
    ).advice
    assert mentions(unproven.message, "/d/DONE") and "relaunch" not in unproven.command


@pytest.mark.parametrize("recovery", ["relaunch", "ask"])
def test_a_patrol_says_where_a_babysitter_relaunches_the_run_itself(
    tmp_path: Path, recovery: str
) -> None:
    run = a_run(tmp_path, LAUNCHED_MEMORY, babysit={"recovery": recovery})
    assert not ways_of(run).relaunches_itself
    with hold_lock(run.lock("babysitter"), what="the babysitter"):
        ways = ways_of(run)
    assert ways.relaunches_itself is (recovery == "relaunch")
    (row,) = decide(a_look(alive=Liveness.NO), ways).advice
    assert mentions(row.message, "babysitter") is ways.relaunches_itself
    assert f"{ways.status}`" in row.message


@pytest.mark.parametrize(
    ("verb", "names"),
    [
        ("rollback", ("DRI", "roll")),
        ("fork", ("new", "DRI")),
        ("approve", ("babysitter", "yes")),
        ("preflight", ("cause", "fixed")),
        ("relaunch", ("next command",)),
    ],
)
def test_what_comes_before_the_next_command_depends_on_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str, names: tuple[str, ...]
) -> None:
    propose(monkeypatch, f"herorun {verb} tiny")
    (row,) = decide_advice(a_run(tmp_path, LAUNCHED_MEMORY), a_look(alive=Liveness.NO)).advice
    assert row.command == f"herorun -C '/my work' {verb} tiny"
    assert mentions(row.message, *names)


@pytest.mark.parametrize(
    ("order", "names"),
    [
        ({"orders": (STOP,)}, ("ada",)),
        ({"done": {"stop/tiny-1": "submitted"}}, ("contract",)),
        (
            {"answers": {"tiny-1": RelaunchAnswer(False, NOON, "ada", "bad data")}},
            ("ada", "bad data"),
        ),
        ({"answers": {"tiny-1": RelaunchAnswer(True, NOON, "ada")}}, ()),
        ({"pause": ActionPause(now() + timedelta(hours=2), "ada", NOON)}, ("ada", "paused")),
        ({"pause": ActionPause(NOON, "ada", NOON)}, ()),
        ({}, ()),
    ],
)
def test_whose_order_a_relaunch_would_override(
    tmp_path: Path, order: dict[str, Any], names: tuple[str, ...]
) -> None:
    ways = ways_of(a_run(tmp_path, replace(LAUNCHED_MEMORY, **order)))
    assert bool(ways.stays_down) is bool(names)
    assert ways.is_settled is (bool(names) and "paused" not in names)
    (row,) = decide(a_look(alive=Liveness.NO), ways).advice
    assert mentions(row.message, *names) and ways.stays_down in row.message
    assert "ada" in names or "ada" not in row.message
    assert ways.logs in row.message and ways.status in row.message


@pytest.mark.parametrize("owner", ["", "eve@node7"])
def test_a_patrol_says_whether_the_run_is_monitored(tmp_path: Path, owner: str) -> None:
    run = a_run(tmp_path, LAUNCHED_MEMORY)
    run.other_babysit_owner = owner
    ways = ways_of(run)
    assert ways.monitor == patrol.NO_MONITOR and mentions(
        ways.unmonitored, owner, "herorun -C '/my work' "
    )
    with hold_lock(run.lock("babysitter"), what="another babysitter"):
        ways = ways_of(run)
    assert ways.monitor != patrol.NO_MONITOR and not ways.unmonitored
    ticked_memory = replace(LAUNCHED_MEMORY, last_seen=now() - timedelta(minutes=3))
    ways = ways_of(a_run(tmp_path, ticked_memory))
    assert mentions(ways.monitor, "3m") and not ways.unmonitored
    advice = decide(a_look(), ways)
    assert ways.monitor in patrol_line(a_look(), advice)
    assert ways_of(a_run(tmp_path)).unmonitored == ""  # herorun did not launch it


@pytest.mark.parametrize(
    ("minutes", "tables", "owner", "unread_part", "code"),
    [
        (25, {}, "", "", 0),  # within two cadences, of 15 minutes each
        (35, {}, "", "", 1),
        (35, {}, "", "no answer", 1),  # only this clone can have monitored it
        (35, {}, "eve@node7", "", 1),  # the record on the remote has no tick either
        (35, {}, "eve@node7", "no answer", 0),  # its newest tick may be there
        (35, {"declined": "a smoke test"}, "", "", 0),
    ],
)
def test_a_live_run_that_nobody_has_monitored_for_two_cadences_is_something_to_do(
    tmp_path: Path, minutes: int, tables: dict[str, Any], owner: str, unread_part: str, code: int
) -> None:
    launched_memory = Memory(instances=(an_instance(started=now() - timedelta(minutes=minutes)),))
    run = a_run(tmp_path, launched_memory, babysit={"cadence": "15m", **tables})
    run.other_babysit_owner, run.record.remote_unread = owner, unread_part
    advice = decide(a_look(), ways_of(run))
    assert advice.code == code and bool(advice.advice) is not bool(tables)
    assert ("unmonitored" in news_facts(a_look(), advice)) is bool(code)  # --notify sends it
    with hold_lock(run.lock("babysitter"), what="the babysitter"):
        assert decide(a_look(), ways_of(run)).code == 0
    assert decide(a_look(alive=Liveness.UNKNOWN), ways_of(run)).code == 3


def test_a_babysitter_that_hangs_neither_monitors_nor_relaunches(tmp_path: Path) -> None:
    ticked_memory = replace(
        LAUNCHED_MEMORY, last_seen=now() - timedelta(minutes=3)
    )  # as by a tick by hand
    run = a_run(tmp_path, ticked_memory, babysit={"recovery": "relaunch"})
    heart = {"at": timestamp(now() - timedelta(hours=9)), "pid": 4711}
    (tmp_path / "heartbeat.json").write_text(canonical(heart))
    with hold_lock(run.lock("babysitter"), what="the babysitter"):
        ways = ways_of(run)
    assert (ways.monitor, ways.relaunches_itself) == ("", False)
    assert mentions(ways.unmonitored, "4711", "herorun -C '/my work' babysit tiny")
    assert decide(a_look(), ways).code == 1
