"""What happens in a week, in the order of a seed: one fault after another for each run, and some
for the whole machine.
"""

import contextlib
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chaos.world import World

GAP = 3.0  # seconds between two faults of one run, at least
PROGRESS = (
    # steps that it makes in between: to die twice between the same two checkpoints is another fault
    45
)
PATIENCE = 120.0  # seconds for them: what is done to a job that is down does nothing


@dataclass
class Fault:
    """One that was done, for the judge: what it hit, and what was answered meanwhile."""

    name: str
    slug: str  # empty: the whole machine
    began: float
    ended_at: float = 0.0
    struck_at: float = 0.0  # when it could be noticed, where that is later
    killed_job: str | None = None  # the instance whose job was killed
    note: str = ""  # what was noted from the other clone
    code: int = 0  # of the command that was typed
    facts: dict[str, Any] = field(default_factory=dict)


def kill_job(world: World, fault: Fault) -> None:
    fault.struck_at, fault.killed_job = time.time(), world.kill_job(fault.slug)


def kill_a_job(world: World, fault: Fault) -> None:
    """Of a run that nothing else is done to: a job that is killed heeds no order."""
    for slug in world.slugs:
        if slug not in world.busy:
            fault.facts["slug"] = slug
            fault.struck_at, fault.killed_job = time.time(), world.kill_job(slug)
            return


def kill_job_in_a_line(world: World, fault: Fault) -> None:
    """The last row is cut, where the disk has room for one."""
    kill_job(world, fault)
    with suppress(OSError), (world.root(fault.slug) / "metrics.jsonl").open("a") as rows:
        rows.write('{"step": 12, "train/lo')


def pause_and_kill(world: World, fault: Fault) -> None:
    """A person has paused it, so nothing is relaunched until the resume."""
    fault.code = world.herorun(
        "pause", fault.slug, "--until", "60s", "--reason", "a look at the node"
    )
    kill_job(world, fault)
    before = len(world.starts(fault.slug))
    time.sleep(3)
    fault.facts["starts in the pause"] = len(world.starts(fault.slug)) - before
    fault.facts["resumed"] = world.herorun("resume", fault.slug)
    fault.struck_at = time.time()  # it may go on from the resume


def second_babysitter(world: World, fault: Fault) -> None:
    """Of the same user in another clone; both see the job die."""
    other = world.second_babysitter(fault.slug)
    time.sleep(3)
    kill_job(world, fault)
    time.sleep(4)
    other.terminate()
    with suppress(subprocess.TimeoutExpired):
        other.wait(30)


def note_elsewhere(world: World, fault: Fault) -> None:
    """From a clone that nobody watches in, against a remote to which the babysitter pushes every
    second.
    """
    fault.note = f"noted-{fault.slug}-{fault.began:.0f}"
    argv = ("--status", fault.note, "--evidence", "e", "--decision", "d", "--next", "n")
    fault.code = world.herorun("note", fault.slug, *argv, where=world.other)


def kill_babysitter(world: World, fault: Fault) -> None:
    if world.sitter is not None:
        with suppress(ProcessLookupError):  # it was killed a moment ago
            os.kill(world.sitter.pid, signal.SIGKILL)


def remote_away(world: World, fault: Fault) -> None:
    moved_path = world.origin.with_name("origin.gone")
    world.origin.rename(moved_path)
    time.sleep(5)
    moved_path.rename(world.origin)


def remote_refuses(world: World, fault: Fault) -> None:
    hook = world.origin / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho no room >&2\nexit 1\n")
    hook.chmod(0o755)
    time.sleep(5)
    hook.unlink()


def full_state(world: World, fault: Fault) -> None:
    """To the last byte; and a job dies meanwhile, which is relaunched at once."""
    filling = _fill(world.state)
    time.sleep(2)
    kill_a_job(world, fault)
    time.sleep(6)
    filling.unlink()


def full_root(world: World, fault: Fault) -> None:
    """The output root's disk: rows and checkpoints are lost, and a job that dies waits for room."""
    with world.room:
        filling = _fill(world.home / "out")
        time.sleep(2)
        kill_a_job(world, fault)
        time.sleep(4)
        filling.unlink()


def _fill(folder: Path) -> Path:
    filling = folder / ".fill"
    with filling.open("wb", buffering=0) as file:
        for size in (1 << 16, 1 << 9):
            with suppress(OSError):
                while True:
                    file.write(b"\0" * size)
    return filling


OF_A_RUN: tuple[Callable[[World, Fault], None], ...] = (
    kill_job,
    kill_job_in_a_line,
    pause_and_kill,
    second_babysitter,
    note_elsewhere,
    note_elsewhere,
)
OF_THE_MACHINE = (kill_babysitter, remote_away, remote_refuses, kill_babysitter)


def happen(
    world: World,
    seed: int,
    slug: str,
    until: float,
    may: tuple[Callable[[World, Fault], None], ...],
) -> list[Fault]:
    """Do them in the order of the seed, again and again, until then (`time.monotonic`)."""
    lots, injections, bag = (
        random.Random(f"{seed}-{slug}"),
        [],
        list[Callable[[World, Fault], None]](),
    )
    while True:
        time.sleep(GAP + lots.uniform(0, 2))
        if time.monotonic() >= until:
            return injections
        if not bag:
            bag = lots.sample(may, len(may))
        injections.append(inject(world, slug, bag.pop()))


def inject(world: World, slug: str, act: Callable[[World, Fault], None]) -> Fault:
    """Do it now, and let the run make some progress."""
    fault = Fault(act.__name__, slug, time.time())
    world.busy.add(slug)
    act(world, fault)
    fault.ended_at = time.time()
    _go_on(world, slug)
    world.busy.discard(slug)
    return fault


def _go_on(world: World, slug: str) -> None:
    if slug:
        enough, until = world.step(slug) + PROGRESS, time.monotonic() + PATIENCE
        while world.step(slug) < enough and time.monotonic() < until:
            time.sleep(0.2)


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[bool]:
    """Whether the folder lies on a disk of its own that can be filled: only root may mount one."""
    argv = ["mount", "-t", "tmpfs", "-o", "size=256m", "tmpfs", str(folder)]
    is_mounted = (
        os.geteuid() == 0 and not subprocess.run(argv, capture_output=True, check=False).returncode
    )
    try:
        yield is_mounted
    finally:
        if is_mounted:
            subprocess.run(["umount", "-l", str(folder)], check=True)
