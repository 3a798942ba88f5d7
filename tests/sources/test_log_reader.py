"""The job's own log is read once, byte by byte, and what it said is kept from tick to tick."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from builders import a_contract, a_history, a_job
from herorun import signatures
from herorun.core.evidence import Nothing, Unavailable
from herorun.core.ports import LogPart, Place
from herorun.core.triage.incremental import OwnLog, verdict_of_log
from herorun.schedulers import local
from herorun.sources import log_reader
from herorun.sources.log_reader import CACHE, keep_own_log, read_own_log
from wording import mentions

BUG = (
    b'Traceback (most recent call last):\n  File "/w/a.py", line 3, in f\n    g\nNameError: '
    b"name 'g' is not defined\n"
)


class Counted:
    """The local scheduler, with what was read of the log."""

    def __init__(self, state: Path) -> None:
        self._local = local.connect(local.Options(), Place("tiny", str(state), "/data/tiny", "."))
        self.read: list[tuple[int, int]] = []  # offset, bytes

    def read_log(self, instance: str, offset: int, limit: int, mark: str = "") -> LogPart:
        part = self._local.read_log(instance, offset, limit, mark)
        if part.data:
            self.read.append((part.offset - len(part.data), len(part.data)))
        return part


class OnlyTail:
    """An adapter that can give a log's end, and nothing else."""

    def __init__(self, text: str) -> None:
        self.text = text

    def tail(self, instance: str, lines: int) -> str:
        return "".join(self.text.splitlines(keepends=True)[-lines:])


@pytest.fixture
def state(tmp_path: Path) -> Path:
    (tmp_path / "jobs" / "tiny-1").mkdir(parents=True)
    return tmp_path


@pytest.fixture
def log(state: Path) -> Path:
    return state / "jobs" / "tiny-1" / "job.log"


def look(state: Path, scheduler: Any = None, keep: bool = True) -> OwnLog:
    place = Place("tiny", str(state), "/data/tiny", ".")
    own_log = read_own_log(scheduler or Counted(state), a_job(), a_history(), a_contract(), place)
    assert isinstance(own_log, OwnLog)
    if keep:
        keep_own_log(place, own_log)
    return own_log


def failure(log: OwnLog) -> str:
    return verdict_of_log(signatures.load_signature_set(), log, 1).failure.value


def add(log: Path, data: bytes) -> None:
    with log.open("ab") as file:
        file.write(data)


def test_each_byte_is_read_once(state: Path, log: Path) -> None:
    scheduler = Counted(state)
    for data in (b"step 1\n", BUG[:50], BUG[50:], b"bye\n"):
        add(log, data)
        look(state, scheduler)
    look(state, scheduler)
    edges = [0, *(offset + size for offset, size in scheduler.read)]
    assert [offset for offset, _ in scheduler.read] == edges[:-1]
    assert edges[-1] == log.stat().st_size


@pytest.mark.parametrize("cut", [1, 20, 36, 70, len(BUG) - 1])
def test_cut_anywhere_between_two_ticks_it_says_the_same(state: Path, log: Path, cut: int) -> None:
    log.write_bytes("é ".encode() + BUG[:cut])
    look(state)
    add(log, BUG[cut:])
    cached_answer = look(state)
    (state / CACHE).unlink()
    assert replace(look(state), changed_at=None) == replace(cached_answer, changed_at=None)
    assert failure(cached_answer) == "code-bug-small"


def test_a_character_cut_in_half_is_put_together(state: Path, log: Path) -> None:
    wandb = "wandb: 🚀 View run é at: https://wandb.ai/lab/hero/runs/tiny\n".encode()
    for at in range(len(wandb)):
        add(log, wandb[at : at + 1])
        snapshot = look(state)
    assert snapshot.signs.runs == ("lab/hero/tiny",)


@pytest.mark.parametrize("data", [b"step 1\n", b"step 1\nhal", BUG, BUG[:50], b"\xff\n"])
def test_a_log_that_says_nothing_more_is_not_stored_again(
    state: Path, log: Path, data: bytes
) -> None:
    log.write_bytes(data)
    look(state)
    inode = (state / CACHE).stat().st_ino
    look(state)
    assert (state / CACHE).stat().st_ino == inode
    add(log, b"bye\n")
    look(state)
    assert (state / CACHE).stat().st_ino != inode


def test_a_look_that_was_not_journalled_moves_nothing_on(state: Path, log: Path) -> None:
    log.write_bytes(BUG)
    scheduler = Counted(state)
    first = look(state, scheduler, keep=False)
    assert look(state, scheduler) == first
    assert scheduler.read == [(0, len(BUG))] * 2


@pytest.mark.parametrize("again", [b"step 1\n", b"step 1 of another story\n" * 9])
def test_a_log_that_was_replaced_is_read_from_its_start(
    state: Path, log: Path, again: bytes
) -> None:
    log.write_bytes(BUG)
    look(state)
    log.write_bytes(again)
    snapshot = look(state)
    assert (snapshot.offset, snapshot.attempt_log.root) == (len(again), None)


@pytest.mark.parametrize(
    "harm",
    [
        lambda text: text[: len(text) // 2],
        lambda text: "",
        lambda text: text.replace("tiny-1", "tiny-2"),
        lambda text: text.replace("sha256:", "sha256:0"),
        lambda text: "[]",
    ],
)
def test_a_cache_that_does_not_fit_is_built_again(
    state: Path, log: Path, harm: Callable[[str], str]
) -> None:
    log.write_bytes(BUG)
    before = look(state)
    (state / CACHE).write_text(harm((state / CACHE).read_text()))
    scheduler = Counted(state)
    assert look(state, scheduler) == before
    assert scheduler.read == [(0, len(BUG))]


def test_of_a_huge_log_the_end_is_read_and_the_rest_is_reported(
    state: Path, log: Path, monkeypatch
) -> None:
    monkeypatch.setattr(log_reader, "MAX_BYTES", 10_000)
    monkeypatch.setattr(log_reader, "PART", 3_000)
    log.write_bytes(b"x" * 50_000 + b"\n" + BUG)
    scheduler = Counted(state)
    snapshot = look(state, scheduler)
    assert (snapshot.skipped, failure(snapshot)) == (log.stat().st_size - 10_000, "code-bug-small")
    assert (
        sum(size for _, size in scheduler.read) == 10_000
        and max(s for _, s in scheduler.read) == 3_000
    )
    add(log, b"step 2\n")
    assert look(state).skipped == 0


def test_of_a_log_that_takes_long_to_judge_the_end_is_read_and_the_rest_is_reported(
    state: Path, log: Path, monkeypatch
) -> None:
    monkeypatch.setattr(log_reader, "PATIENCE", 0.0)
    monkeypatch.setattr(log_reader, "PART", 3_000)
    monkeypatch.setattr(log_reader, "LAST", 2_000)
    log.write_bytes(b"Segmentation fault (core dumped)\n" * 2_000 + BUG)
    scheduler = Counted(state)
    snapshot = look(state, scheduler)
    size = log.stat().st_size
    assert scheduler.read == [(0, 3_000), (size - 2_000, 2_000)]
    assert (snapshot.offset, snapshot.skipped) == (size, size - 5_000)
    end_verdict = verdict_of_log(signatures.with_own(), snapshot, None)
    assert end_verdict.person and mentions(end_verdict.advice, "MiB", "middle")


def test_what_was_known_survives_a_stretch_that_was_passed_over(
    state: Path, log: Path, monkeypatch
) -> None:
    monkeypatch.setattr(log_reader, "MAX_BYTES", 10_000)
    log.write_bytes(BUG)
    look(state)
    add(log, b"a line that means nothing\n" * 1_000)
    snapshot = look(state)
    assert snapshot.skipped == 16_000 and failure(snapshot) == "code-bug-small"


@pytest.mark.thorough
def test_a_line_without_an_end_takes_no_memory(state: Path, log: Path) -> None:
    log.write_bytes(b"y" * 9_000_000 + b" CUDA out of memory")
    snapshot = look(state)
    assert len(snapshot.scan.carry) <= 2**14 and failure(snapshot) == "oom-accelerator"
    assert (state / CACHE).stat().st_size < 2**16


def test_a_scheduler_that_gives_only_the_end_is_asked_for_that_each_time(state: Path) -> None:
    scheduler = OnlyTail(BUG.decode())
    assert failure(look(state, scheduler)) == "code-bug-small"
    scheduler.text = "step 1\n"
    assert failure(look(state, scheduler)) == "unknown"


def test_no_log_and_no_instance_are_nothing_yet(state: Path) -> None:
    place = Place("tiny", str(state), "/data/tiny", ".")
    assert isinstance(
        read_own_log(Counted(state), a_job(), a_history(), a_contract(), place), Nothing
    )
    assert isinstance(
        read_own_log(Counted(state), Unavailable("no answer"), a_history(0), a_contract(), place),
        Nothing,
    )
