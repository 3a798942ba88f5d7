"""The world around a run goes wrong: disk, clock, a second babysitter, and the remote. Each is said
in one sentence.

And when it is right again, all continues as if nothing had been: nothing is lost, and nothing is
there twice.
"""

import errno
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from builders import NOON
from crash.outages import impatient
from crash.stages import STAGES, Stage, must_hold
from crash.world import Clock, full, read_only, small_disk
from herorun.core.event import Initialised, Noted
from herorun.operations.record.verify import verify_record
from herorun.record import Record
from herorun.system import clock
from herorun.system.git import find_repository
from herorun.system.templates import template
from stories import CRASH, SLUG, WAIT, Story, eventually, git, note
from wording import mentions

EVERY = bool(os.environ.get("HERORUN_CRASH_ALL"))
CAPTURE = pytest.CaptureFixture[str]
STAGE_BY_NAME = {stage.name: stage for stage in STAGES}
BRANCH = "refs/heads/herorun/tiny"


def every(*cases: Any) -> list[Any]:
    """What is told each time."""
    return list(cases)


def at_length(*cases: Any) -> list[Any]:
    """What is told with HERORUN_CRASH_ALL=1 alone: it goes nearly the same way."""
    return list(cases) if EVERY else []


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    impatient(monkeypatch)


@pytest.fixture
def disk(request: pytest.FixtureRequest, home: Path) -> Iterator[Path]:
    """Where the clone lies, or the run's output: a small one."""
    with small_disk(home / getattr(request, "param", "work")) as folder:
        yield folder


@pytest.fixture
def small(disk: Path, home: Path) -> Iterator[Story]:
    story = Story(home)
    with ExitStack() as after:
        after.callback(story.end)
        yield story.begin()


def sentence(capsys: CAPTURE, story: Story, stage: Stage) -> tuple[int, str]:
    """How the command ended, and what it said of it."""
    capsys.readouterr()
    code = stage.act(story)
    output = capsys.readouterr()
    assert "internal error" not in output.err and "Traceback" not in output.err, output.err
    return code, output.out + output.err


# --- the disk -------------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "disk", "room"),
    every(("launch", "work", 0), ("tick", "work", 65_536), ("tick", "data", 0))
    + at_length(("tick", "work", 0), ("launch", "work", 131_072), ("launch", "data", 0)),
    indirect=["disk"],
)
def test_a_full_disk_is_reported_and_loses_nothing(
    name: str, disk: Path, room: int, small: Story, capsys: CAPTURE
) -> None:
    stage = STAGE_BY_NAME[name]
    stage.before(small)
    with full(disk, room):
        code, output = sentence(capsys, small, stage)
        assert code in (1, 3)
        full_disk = (os.strerror(errno.ENOSPC).lower(), "out of disk", "full-disk")
        assert any(reason in output.lower() for reason in full_disk), output
        if name == "launch" and room == 0:
            assert small.starts == []
    stage.again(small)
    stage.rest(small)
    must_hold(small)
    assert len(small.starts) == (1 if name == "launch" else 2)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "disk"),
    every(("launch", "work"), ("tick", "data")) + at_length(("tick", "work")),
    indirect=["disk"],
)
def test_a_disk_that_is_read_only_is_reported_and_nothing_is_done(
    name: str, disk: Path, small: Story, capsys: CAPTURE
) -> None:
    stage = STAGE_BY_NAME[name]
    stage.before(small)
    before = list(small.starts)
    with read_only(disk):
        code, output = sentence(capsys, small, stage)
    assert code in (1, 3) and "Read-only file system" in output
    if disk.name == "work":
        assert f"herorun: {disk}" in output  # it names the file
        assert mentions(output, "accessible")
    assert small.starts == before
    stage.again(small)
    stage.rest(small)
    must_hold(small)
    assert len(small.starts) == len(before) + 1


@pytest.mark.thorough
@pytest.mark.parametrize("damaged_ref", every(b"") + at_length(b"0123456789abcdef", bytes(41)))
def test_a_ref_that_was_cut_off_stops_every_act_and_is_not_touched(
    damaged_ref: bytes, story: Story, capsys: CAPTURE
) -> None:
    """As a machine that loses its power leaves it: the record is whole, and nothing says where it
    ends.
    """
    story.init()
    ref = story.work / ".git" / "refs" / "herorun" / "record" / SLUG
    good = ref.read_bytes()
    ref.write_bytes(damaged_ref)
    code, output = sentence(capsys, story, STAGE_BY_NAME["launch"])
    assert code == 3 and mentions(output, "refs/herorun/record/tiny", "damaged")
    assert ref.read_bytes() == damaged_ref and story.starts == []
    ref.write_bytes(good)
    assert story.launch() == 0
    story.wait_for_end()


@pytest.mark.thorough
def test_a_journal_whose_last_line_was_torn_stops_every_act(story: Story, capsys: CAPTURE) -> None:
    story.run_first_job(CRASH)
    story.tamper(".jsonl", lambda text: text[:-40])
    tip = story.run.record.tip
    code, output = sentence(capsys, story, STAGE_BY_NAME["tick"])
    assert code == 1 and mentions(output, "tiny", "damaged")
    assert mentions(output, story.shown_commands("`herorun verify tiny`"))
    assert story.run.record.tip == tip and len(story.starts) == 1


@pytest.mark.thorough
def test_the_local_line_of_evidence_that_was_torn_stays_one_line(
    story: Story, capsys: CAPTURE
) -> None:
    story.run_first_job(WAIT)
    assert story.tick() == 0
    (paths,) = (story.state / "evidence").glob("*.jsonl")
    whole = paths.read_bytes()
    paths.write_bytes(whole[:-40])
    assert story.tick() == 0
    lines = paths.read_bytes().splitlines()
    assert len(lines) == 2 and lines[0] == whole[:-40].splitlines()[0]
    code, output = sentence(capsys, story, replace(STAGE_BY_NAME["tick"], words=("replay", SLUG)))
    assert code == 3 and mentions(output, "complete", "line")


# --- the clock ------------------------------------------------------------------------------------


def test_a_clock_that_is_set_back_makes_nothing_happen_twice(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock, "datetime", Clock)
    story.run_first_job(CRASH)
    for hours in (3, -2):
        monkeypatch.setattr(Clock, "by", timedelta(hours=hours))
        assert story.tick() in (0, 1, 3)
        story.wait_for_end("tiny-2")
    STAGE_BY_NAME["tick"].rest(story)
    must_hold(story)
    assert [start.partition(" ")[0] for start in story.starts] == ["tiny-1", "tiny-2"]
    at = [line.event.at for line in story.lines]
    assert at != sorted(at)


# --- two at once ----------------------------------------------------------------------------------


@pytest.mark.thorough
def test_of_two_babysitters_that_start_at_once_one_watches(story: Story) -> None:
    story.sign(babysit={"cadence": "1s"})
    story.order("tiny-2", WAIT)
    story.run_first_job(CRASH)
    argv = [sys.executable, "-m", "herorun", "-C", str(story.work), "babysit", SLUG]
    both = [
        subprocess.Popen(argv, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) for _ in range(2)
    ]
    try:
        eventually(lambda: any(one.poll() is not None for one in both))
        eventually(lambda: len(story.starts) == 2)
        (story.data / "go").touch()
        outputs = [one.communicate(timeout=180)[1].decode() for one in both]
    finally:
        for one in both:
            one.kill()
            one.wait()
    ends = {one.returncode: output for one, output in zip(both, outputs, strict=True)}
    assert sorted(ends) == [0, 2]
    assert mentions(ends[2], "babysitter", "tiny")
    assert ends[2].count("\n") == 1
    must_hold(story)
    assert len(story.starts) == 2


# --- the remote -----------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_remote_that_rejects_holds_up_no_relaunch_and_gets_all_later(
    story: Story, capsys: CAPTURE
) -> None:
    story.run_first_job(CRASH)
    hook = story.refuse_pushes()
    code, output = sentence(capsys, story, STAGE_BY_NAME["tick"])
    story.wait_for_end("tiny-2")
    assert code == 1 and "no room" in output
    assert len(story.starts) == 2
    assert story.run.record.pushed_tip != story.run.record.tip
    hook.unlink()
    STAGE_BY_NAME["tick"].rest(story)
    must_hold(story)


@pytest.mark.thorough
@pytest.mark.parametrize("name", every("launch", "tick") + at_length("seal"))
def test_a_record_that_somebody_rewrote_on_the_remote_is_never_overwritten(
    name: str, story: Story, capsys: CAPTURE
) -> None:
    stage = STAGE_BY_NAME[name]
    stage.begin(story)
    before = len(story.starts)
    tree = git(story.origin, "rev-parse", f"{BRANCH}^{{tree}}").strip()
    identity = ("-c", "user.name=x", "-c", "user.email=x")
    forged_commit = git(story.origin, *identity, "commit-tree", tree, "-m", "rewritten").strip()
    true = git(story.origin, "rev-parse", BRANCH).strip()
    git(story.origin, "update-ref", BRANCH, forged_commit)
    code, output = sentence(capsys, story, stage)
    why = f"herorun/tiny on origin was rewritten: it does not contain {true[:9]}"
    assert (
        why if name != "seal" else "unpushed-record"
    ) in output  # a seal pushes nothing then, and asks first
    assert git(story.origin, "rev-parse", BRANCH).strip() == forged_commit
    assert not story.tags(story.origin)
    if name != "tick":  # whose relaunch is worth more than the remote
        assert code != 0 and len(story.starts) == before
    git(story.origin, "update-ref", BRANCH, true)
    stage.again(story)
    stage.rest(story)
    must_hold(story)


@pytest.mark.thorough
def test_a_remote_that_is_away_for_a_day_has_all_of_it_afterwards_by_one_push(
    story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock, "datetime", Clock)
    story.sign(babysit={"cadence": "4h"})
    story.run_first_job(WAIT)
    pushes = count_pushes(story)
    away = story.home / "away"
    story.origin.rename(away)
    for hours in range(4, 29, 4):
        monkeypatch.setattr(Clock, "by", timedelta(hours=hours))
        _, output = sentence(capsys, story, STAGE_BY_NAME["tick"])
        assert "not pushed" in output
    queued_tip = story.run.record.tip
    away.rename(story.origin)
    assert pushes() == 0
    STAGE_BY_NAME["tick"].act(story)
    assert pushes() == 1
    record = story.run.record
    assert record.pushed_tip == record.tip == git(story.origin, "rev-parse", BRANCH).strip()
    assert queued_tip and record.repository.is_ancestor(queued_tip, record.tip)
    assert [key for key in story.comments if "/day" in key] == ["tell/tiny-1/day-1"]
    assert story.herorun("logbook", "verify", SLUG) == 0


def count_pushes(story: Story) -> Callable[[], int]:
    """Counted where they are received."""
    pushes = story.home / "pushes"
    hook = story.origin / "hooks" / "post-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\nwc -l >> {shlex.quote(str(pushes))}\n")
    hook.chmod(0o755)
    return lambda: len(pushes.read_text().splitlines()) if pushes.exists() else 0


@pytest.mark.thorough
@pytest.mark.parametrize("others", every(True) + at_length(False))
def test_after_a_long_outage_a_thousand_events_go_out_in_order_in_one_push(
    story: Story, others: bool
) -> None:
    """Also where another clone has written meanwhile, and they must go on top of that."""

    def open_copy(of: Story) -> Record:
        return Record(
            find_repository(of.work), SLUG, "herorun/tiny", "origin", lambda: template("logbook.md")
        )

    mine = open_copy(story)
    mine.append(Initialised(NOON, SLUG, {"DRI": "@dri"}, "issue.md"))
    assert mine.push()
    if others:
        theirs = open_copy(story.clone("elsewhere"))
        theirs.fetch()
        theirs.append(note("theirs"))
    away = story.home / "away"
    story.origin.rename(away)
    for first in range(0, 1000, 100):
        mine.append(
            *(note(f"{n:04}", NOON + timedelta(minutes=n)) for n in range(first, first + 100))
        )
        assert not mine.push()
    away.rename(story.origin)
    if others:
        assert theirs.push()
    pushes = count_pushes(story)
    assert mine.push()
    assert pushes() == 1
    there = open_copy(story.clone("afterwards"))
    there.fetch()
    titles = [line.event.title for line in there.lines() if isinstance(line.event, Noted)]
    assert titles == [*(["theirs"] if others else []), *(f"{n:04}" for n in range(1000))]
    assert verify_record(there).verdict == "clear"
    assert not there.push().why and pushes() == 1
