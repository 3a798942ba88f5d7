"""What a long week has beyond the short one: lost data, another host, a clock that is set, and a
GitHub that refuses.
"""

import os
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from subprocess import TimeoutExpired

from chaos.bucket import CUT, LISTING
from chaos.faults import (
    OF_A_RUN,
    OF_THE_MACHINE,
    Fault,
    full_root,
    full_state,
    kill_a_job,
    kill_babysitter,
    kill_job,
)
from chaos.job_faults import OF_A_JOB, WARM, await_step, await_ticks, order
from chaos.world import SET, World

AWAY = 5.0  # seconds that a fault of a server or of the clock lasts
RATE_LIMIT = {"message": "You have exceeded a secondary rate limit. Please wait a few minutes."}


def cut_rows(world: World, fault: Fault) -> None:
    """The last third of what was logged is gone, and the job writes on behind it."""
    path = world.root(fault.slug) / "metrics.jsonl"
    os.truncate(path, path.stat().st_size * 2 // 3)


def rotate_rows(world: World, fault: Fault) -> None:
    path = world.root(fault.slug) / "metrics.jsonl"
    path.rename(path.with_name(f"metrics.{time.time():.0f}"))


def lose_checkpoint(world: World, fault: Fault) -> None:
    """One in the middle, that nothing continues from."""
    steps = sorted(int(path.name[5:]) for path in world.root(fault.slug).glob("step-*"))
    fault.facts["steps"] = len(steps)
    shutil.rmtree(world.root(fault.slug) / f"step-{steps[len(steps) // 2]}")


def kill_both(world: World, fault: Fault) -> None:
    kill_babysitter(world, fault)
    kill_job(world, fault)


def other_host(world: World, fault: Fault) -> None:
    """A host that shares the disks alone: another name, and no network; it sees the job die, and
    may only look.
    """
    other = world.second_babysitter(fault.slug, host="beside")
    time.sleep(3)
    kill_job(world, fault)
    time.sleep(4)
    other.terminate()
    with suppress(TimeoutExpired):
        other.wait(30)


def clock_forward(world: World, fault: Fault) -> None:
    _set_clock(world, SET)


def clock_back(world: World, fault: Fault) -> None:
    _set_clock(world, -SET)


def _set_clock(world: World, seconds: float) -> None:
    """An hour off, as by a wrong time zone, and right again."""
    with world.hour:
        world.set_clock(seconds)
        time.sleep(AWAY)
        world.set_clock(0)


def clock_back_in_a_spike(world: World, fault: Fault) -> None:
    """The loss rises and is back while every new row is dated before the launch of its instance."""
    await_step(world, fault.slug, WARM)
    with world.hour:
        world.set_clock(-SET)
        await_ticks(world, fault.slug, 1)
        order(world, fault, "spike", rows=12)
        await_step(world, fault.slug, world.step(fault.slug) + 4)
        await_ticks(world, fault.slug, 2)
        world.set_clock(0)


def github_limits(world: World, fault: Fault) -> None:
    _github(world, fault, status=403, body=RATE_LIMIT, headers={"Retry-After": "2"})


def github_fails(world: World, fault: Fault) -> None:
    _github(world, fault, status=502, body="<html>Unicorn!</html>")


def github_loses_answers(world: World, fault: Fault) -> None:
    """What was asked is done, and the connection ends before the answer."""
    _github(world, fault, status=0, after=True)


def _github(world: World, fault: Fault, **answer: object) -> None:
    """With a death in it, which must be told."""
    assert world.github is not None
    world.github.fault(times=-1, **answer)
    kill_a_job(world, fault)
    time.sleep(AWAY)
    world.github.heal()


def bucket_refuses(world: World, fault: Fault) -> None:
    _bucket(world, fault, status=403)


def bucket_fails(world: World, fault: Fault) -> None:
    _bucket(world, fault, status=503)


def bucket_cuts_answers(world: World, fault: Fault) -> None:
    """Listings only: what an object holds comes whole or not at all."""
    _bucket(world, fault, url=LISTING, status=200, body=CUT)


def _bucket(world: World, fault: Fault, **answer: object) -> None:
    """For some ticks, of which one may have begun before."""
    assert world.bucket is not None
    world.bucket.fail(**answer)
    await_ticks(world, fault.slug, 2)
    world.bucket.server.heal()


def of_a_run(world: World, slug: str) -> tuple[Callable[[World, Fault], None], ...]:
    return (
        *((bucket_refuses, bucket_fails, bucket_cuts_answers) if world.in_bucket(slug) else ()),
        *OF_A_RUN,
        *OF_A_JOB,
        cut_rows,
        rotate_rows,
        lose_checkpoint,
        kill_both,
        *([other_host] if os.geteuid() == 0 else []),
        *([clock_back_in_a_spike] if world.other_clock else []),
    )


def of_the_machine(world: World, may_fill: bool) -> tuple[Callable[[World, Fault], None], ...]:
    """As far as this machine can do them."""
    disks = (full_root, full_state) if may_fill else ()
    clocks = (clock_forward, clock_back) if world.other_clock else ()
    issues = (github_limits, github_fails, github_loses_answers) if world.github else ()
    return (*OF_THE_MACHINE, *disks, *clocks, *issues)
