"""What goes wrong inside a job, and what a person orders meanwhile: NaN, a spike of the loss, a
slow-down, a hang, a flood of the log, a refused start, a bug, a stop, an output root that nobody
can read.

Each leaves the run training again, by a person's own command where herorun must not.
"""

import json
import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress

from chaos.faults import Fault
from chaos.world import World

WARM = 400  # steps before which no detector knows what is usual
WAIT = 5.0  # seconds in which nothing may start by itself
HANG = 20.0  # seconds at least; the week's limit for `stalled-steps` is half of it
UNREADABLE = 6  # ticks in which nobody can read the output root
DETECTION_TICKS = 4  # ticks that must see a job slow
WITHIN = 240.0  # seconds until what was ordered is seen
# What a fault must be told by, and what it may be: names of checks.
LOSS_CHECKS = (
    "crashed|ended-short|late-checkpoints|nothing-saved|error-in-log|failing-log|repeated-crash"
)
BLIND = "monitor-blind"  # or any tick that says that it could not see
SAVES = "unkept-checkpoint|incomplete-checkpoint|late-checkpoints|nothing-saved"
TOLD_BY = {
    "nan_and_kill": ("not-finite", f"not-finite|{LOSS_CHECKS}"),
    "spike_of_the_loss": ("loss-spike", "loss-.*|weights-reset|resume-mismatch"),
    "clock_back_in_a_spike": ("loss-spike", "loss-.*|weights-reset|resume-mismatch"),
    "slow_down": ("throughput-collapse", "throughput-.*|late-checkpoints|stalled-.*"),
    "hang": ("stalled-steps", "stalled-.*|late-checkpoints|silent-tracker|throughput-.*"),
    "log_flood": ("", "-"),
    "refuse_to_start": ("refused-at-check-in|crashed", f"refused-at-check-in|{LOSS_CHECKS}"),
    "bug": ("crashed", LOSS_CHECKS),
    "stop_by_a_person": ("", f"stopped-.*|{LOSS_CHECKS}"),
    **dict.fromkeys(
        ("unreadable_root", "bucket_refuses", "bucket_fails", "bucket_cuts_answers"),
        (
            BLIND,
            f"monitor-blind|lost-.*|shrinking-rollback|stalled-.*|silent-tracker|unreported-steps|{SAVES}",
        ),
    ),
}


def order(world: World, fault: Fault, what: str, rows: int = 0) -> None:
    """The newest job does it at its next step, while there is room for its rows."""
    path = world.orders_file(fault.slug)
    aside = path.with_suffix(".aside")
    await_step(world, fault.slug, world.step(fault.slug) + 1)
    with world.room:
        aside.write_text(json.dumps({"id": time.monotonic_ns(), "what": what, "rows": rows}))
        aside.rename(path)
        fault.struck_at = time.time()
        if rows:
            await_step(world, fault.slug, world.step(fault.slug) + rows)


def nan_and_kill(world: World, fault: Fault) -> None:
    """No later checkpoint may be gone on from: a person goes back."""
    sound = world.newest_saved(fault.slug)
    order(world, fault, "nan", rows=5)
    await_step(world, fault.slug, world.step(fault.slug) + 40)
    _await_alert(world, fault, "not-finite")
    world.kill_job(fault.slug)
    _watch_for_starts(world, fault)
    _bring_back(world, fault, "rollback", "--to", str(sound))


def spike_of_the_loss(world: World, fault: Fault) -> None:
    await_step(world, fault.slug, WARM)
    order(world, fault, "spike", rows=12)


def slow_down(world: World, fault: Fault) -> None:
    """For eighty rows at least, and for some ticks: one alone holds the alert as pending."""
    await_step(world, fault.slug, WARM)
    enough, began = world.ticks(fault.slug) + DETECTION_TICKS, time.time()
    until = time.monotonic() + WITHIN
    while time.monotonic() < until:
        order(world, fault, "slow", rows=80)
        if world.ticks(fault.slug) >= enough:
            break
    fault.struck_at = began
    _await_alert(world, fault, "throughput-collapse")


def hang(world: World, fault: Fault) -> None:
    await_step(world, fault.slug, world.step(fault.slug) + 1)
    newest = world.starts(fault.slug)[-1]
    with suppress(ProcessLookupError):
        os.kill(newest["pid"], signal.SIGSTOP)
        time.sleep(HANG)
        _await_alert(world, fault, TOLD_BY["hang"][0])
        os.kill(newest["pid"], signal.SIGCONT)


def log_flood(world: World, fault: Fault) -> None:
    """Twelve megabytes at once."""
    order(world, fault, "flood")


def refuse_to_start(world: World, fault: Fault) -> None:
    order(world, fault, "exit 78")
    _await_alert(world, fault, TOLD_BY["refuse_to_start"][0])
    _watch_for_starts(world, fault)
    _bring_back(world, fault, "relaunch")


def bug(world: World, fault: Fault) -> None:
    """A traceback of the training code: an approval does not start the same bug again, a person's
    own relaunch does.
    """
    order(world, fault, "bug")
    _await_alert(world, fault, "crashed")
    fault.facts["approved a bug"] = world.herorun("approve", fault.slug, "--reason", "yes") == 0
    _watch_for_starts(world, fault)
    _bring_back(world, fault, "relaunch")


def stop_by_a_person(world: World, fault: Fault) -> None:
    argv = ("--reason", "a person says so", "--wait", "60s")
    fault.code = world.herorun("stop", fault.slug, *argv)
    _watch_for_starts(world, fault)
    _bring_back(world, fault, "relaunch")


def unreadable_root(world: World, fault: Fault) -> None:
    """A link to itself, which root cannot read either, for a few ticks: a babysitter that is
    started again meanwhile takes its time.
    """
    root = world.root(fault.slug)
    aside = root.with_name(f"{root.name}.aside")
    root.rename(aside)
    root.symlink_to(root.name)
    await_ticks(world, fault.slug, UNREADABLE)
    root.unlink()
    aside.rename(root)


def _watch_for_starts(world: World, fault: Fault) -> None:
    before = len(world.starts(fault.slug))
    time.sleep(WAIT)
    fault.facts["starts on its own"] = len(world.starts(fault.slug)) - before


def _bring_back(world: World, fault: Fault, *argv: str) -> None:
    """Typed again where the machine was busy with the run."""
    command, *more = argv
    for _ in range(3):
        options = ("--reason", "a person brings it back", "--yes", "--no-babysit")
        fault.facts["brought back"] = world.herorun(command, fault.slug, *more, *options)
        if fault.facts["brought back"] == 0:
            return
        time.sleep(2)
    fault.facts["said"] = world.commands[-1]["said"][-400:]


def await_step(world: World, slug: str, step: int) -> None:
    until = time.monotonic() + WITHIN
    while world.step(slug) < step and time.monotonic() < until:
        time.sleep(0.2)


def await_ticks(world: World, slug: str, count: int) -> None:
    enough, until = world.ticks(slug) + count, time.monotonic() + WITHIN
    while world.ticks(slug) < enough and time.monotonic() < until:
        time.sleep(0.5)


def _await_alert(world: World, fault: Fault, checks: str) -> None:
    """Until the babysitter has said it, or it is missed."""
    until = time.monotonic() + WITHIN
    while not world.has_told(fault.slug, checks, fault.began) and time.monotonic() < until:
        time.sleep(0.5)


OF_A_JOB: tuple[Callable[[World, Fault], None], ...] = (
    nan_and_kill,
    spike_of_the_loss,
    slow_down,
    hang,
    log_flood,
    refuse_to_start,
    bug,
    stop_by_a_person,
    unreadable_root,
)
