"""The heartbeat that a babysitter of this machine writes, and what others read of it."""

import json
import os
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from builders import MINUTE, NOON
from herorun.operations.record import heartbeat
from herorun.system.files import hold_lock


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(heartbeat, "now", lambda: NOON)
    monkeypatch.setattr(heartbeat, "uptime", lambda: None)
    monkeypatch.setattr(heartbeat.host, "owner", lambda: "ada@box")
    return SimpleNamespace(
        state=tmp_path, prepare=lambda: None, lock=lambda name: tmp_path / f"{name}.lock"
    )


def test_without_a_heartbeat_nothing_is_known(run: Any) -> None:
    assert heartbeat.last_heartbeat(run) is None
    assert heartbeat.babysitter_pid(run) is None
    assert heartbeat.next_due(run) is None
    assert heartbeat.who_watches(run) == ""
    assert not heartbeat.is_lost(run)


@pytest.mark.parametrize("pid", [None, 4711])
def test_a_beat_says_who_watches_and_when_it_looks_next(run: Any, pid: int | None) -> None:
    heartbeat.beat(run, NOON + MINUTE, pid)
    own = pid or os.getpid()
    assert heartbeat.last_heartbeat(run) == NOON
    assert heartbeat.next_due(run) == NOON + MINUTE
    assert heartbeat.babysitter_pid(run) == own
    assert all(each in heartbeat.who_watches(run) for each in (str(own), "ada@box", "12:00:00"))
    assert (run.state / "heartbeat.json").read_bytes().endswith(b"\n")


def test_only_that_no_more_is_due_must_outlast_a_loss_of_power(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An older heartbeat says too that the loop was to look again; each is whole."""
    paths, real = [], os.fsync

    def sync(descriptor: int) -> None:
        paths.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", sync)
    heartbeat.beat(run, NOON + MINUTE)
    assert len(paths) == 1 and ".heartbeat.json." in paths[0]
    heartbeat.beat(run)
    assert paths[2:] == [str(run.state)]


def test_an_unchanged_heartbeat_is_read_once_and_a_new_one_again(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    contents = []
    monkeypatch.setattr(
        heartbeat, "read_json", lambda data: contents.append(data) or json.loads(data)
    )
    file = run.state / "heartbeat.json"
    for number, age in ((1, 60), (2, 60), (3, 30), (4, 0)):
        heartbeat.beat(run, NOON + number * MINUTE)
        written_at = time.time() - age
        os.utime(file, (written_at, written_at))
        for _ in range(3):
            assert heartbeat.next_due(run) == NOON + number * MINUTE
    assert len(contents) == 3 + 3  # one of this very second may be replaced at the same time


def test_a_loop_that_was_to_look_again_is_lost_once_its_process_is_gone(run: Any) -> None:
    heartbeat.beat(run)
    assert not heartbeat.is_lost(run)  # no loop: it was a single tick
    heartbeat.beat(run, NOON + MINUTE)
    assert heartbeat.is_lost(run)
    with hold_lock(run.lock("babysitter"), what="a babysitter"):
        assert not heartbeat.is_lost(run)


def test_the_age_goes_by_the_uptime_where_the_machine_tells_it(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    heartbeat.beat(run)
    for answer, read in ((NOON - MINUTE, NOON - MINUTE), (None, NOON)):
        clock = SimpleNamespace(written_at=lambda document, at, answer=answer: answer)
        monkeypatch.setattr(heartbeat, "uptime", lambda clock=clock: clock)
        assert heartbeat.last_heartbeat(run) == read


@pytest.mark.parametrize(
    ("text", "pid"),
    [
        ("{", None),
        ("[]", None),
        ('{"at": 7, "pid": "4711"}', None),
        ('{"at": "2026-01-01T12:00:00", "pid": 4711}', 4711),  # a time without its zone
    ],
)
def test_a_damaged_heartbeat_is_none(run: Any, text: str, pid: int | None) -> None:
    (run.state / "heartbeat.json").write_text(text)
    assert heartbeat.last_heartbeat(run) is None
    assert heartbeat.babysitter_pid(run) == pid
    assert heartbeat.who_watches(run) == ""


def test_an_order_rings_the_bell_of_this_machine(run: Any) -> None:
    heartbeat.ring(run)
    assert (run.state / "ordered").read_bytes() == b""
