"""The demo's steps, from a blocked gate to a sealed run."""

import json
import os
import signal
import time
from itertools import chain
from pathlib import Path

from herorun.core.babysit.action_key import Verb, write_key
from herorun.core.durations import format_span
from herorun.demo.display import babysitter_runs, has_done_action, step, trainer
from herorun.demo.sandbox import SLUG, Sandbox
from herorun.demo.setup import (
    block_the_gate,
    commit,
    needs_numpy,
    reach_scheduler,
    set_the_stage,
    sign,
)
from herorun.schemas.machines import Demo

KILL_AT = 330  # steps: between two checkpoints


def run_walkthrough(
    folder: Path, quiet: bool, colour: bool, scheduler: str = "local", address: str = ""
) -> Demo:
    """Run the story in an empty folder, and say how it ended."""
    needs_numpy()
    stage = Sandbox(folder, quiet, colour, scheduler, address)
    reach_scheduler(stage)
    set_the_stage(stage)
    _launch_gate(stage)
    try:
        _launch(stage)
        _kill_the_trainer(stage)
        _wait_for_the_spike(stage)
        _wait_for_the_end(stage)
    finally:
        _clear_away(stage)
    _seal(stage)
    return _ending(stage)


def _launch_gate(stage: Sandbox) -> None:
    block_the_gate(stage)
    stage.show_heading(
        "The launch is blocked by an uncommitted edit and by the start: step-100 is newer than "
        "step-90"
    )
    stage.do("herorun", "preflight", SLUG, expect=(1,))
    stage.do("herorun", "explain", "start-checkpoint-not-newest")
    stage.show_heading(
        "Fixed: the edit is committed and pushed, and the contract names the newest checkpoint "
        "by number"
    )
    sign(stage, "step-100")
    commit(stage, "The edit, and the right start checkpoint")
    stage.do("herorun", "preflight", SLUG, "--out", str(stage.folder / "plan.json"))


def _launch(stage: Sandbox) -> None:
    stage.show_heading("Launch exactly the reviewed plan; the babysitter starts with it")
    stage.do("herorun", "launch", SLUG, "--plan", str(stage.folder / "plan.json"))
    stage.wait(f"step {KILL_AT - 120}", lambda: step(stage) >= KILL_AT - 120)
    stage.do("herorun", "status", SLUG)


def _kill_the_trainer(stage: Sandbox) -> None:
    """The babysitter relaunches the job, which passes the step that it had reached."""
    run = stage.run
    stage.wait(f"step {KILL_AT}", lambda: step(stage) >= KILL_AT)
    stage.show_heading("The demo kills the training process; the babysitter relaunches the job")
    pid = trainer(run, f"{SLUG}-1")
    stage.show(f"$ kill -KILL {pid}")
    os.kill(pid, signal.SIGKILL)
    step_text = step(stage)
    stage.wait("the job is relaunched", lambda: len(run.record.memory().instances) == 2)
    # Until it logs steps of its own the run is `starting`, and `status` says so with exit code 3.
    stage.wait(
        "it passes the step that the first instance reached", lambda: step(stage) > step_text
    )
    # On a slow machine the spike, which comes next, may be an alert already: exit code 1.
    stage.do("herorun", "status", SLUG, expect=(0, 1))


def _wait_for_the_spike(stage: Sandbox) -> None:
    """The babysitter escalates it, and a person decides to continue."""
    run = stage.run
    stage.show_heading("A broken data shard comes at step 640: the loss jumps")
    stage.wait(
        "the spike is escalated",
        lambda: has_done_action(run, write_key(Verb.ESCALATE, "loss-spike")),
    )
    note = {
        "--status": "the loss spiked at step 640",
        "--evidence": "data shard at steps 640-655 is noise",
        "--decision": "continue: the shard ends at step 655; look at the loss after it",
        "--next": "seal",
        "--caveat": "steps 640-655 trained on noise",
    }
    stage.do("herorun", "note", SLUG, *chain.from_iterable(note.items()))


def _wait_for_the_end(stage: Sandbox) -> None:
    run = stage.run
    stage.wait(
        "the run has finished",
        lambda: has_done_action(run, write_key(Verb.TELL, f"{SLUG}-2", "finished")),
    )
    stage.wait("the babysitter has ended", lambda: not babysitter_runs(run))
    stage.show_heading("The log of the babysitter")
    stage.do("cat", str(run.state / "babysit.log"))


def _seal(stage: Sandbox) -> None:
    stage.show_heading("Seal the run: check, tag, push, announce; then verify the record")
    stage.do("herorun", "seal", SLUG)
    stage.do("herorun", "verify", SLUG)
    stage.show_heading("The logbook, the issue's last comment and the tag's message")
    stage.do("herorun", "logbook", "show", SLUG)
    stage.do("tail", "-n", "19", str(stage.run.state / "issue.md"))
    stage.do("git", "tag", "--list", "-n14", f"herorun/{SLUG}/seal-1")
    stage.do("git", "ls-remote", "origin")
    stage.show_heading("The report: one page for a browser")
    stage.do("herorun", "report", SLUG)


def _clear_away(stage: Sandbox) -> None:
    """Whatever still runs was started by this demo: its babysitter and its job, each by its own
    id.
    """
    run = stage.run
    if babysitter_runs(run):
        heart = json.loads((run.state / "heartbeat.json").read_text())
        os.kill(int(heart["pid"]), signal.SIGTERM)
    for job in run.scheduler.live_jobs(SLUG):
        run.scheduler.stop(job.instance, run.launcher.owner)


def _ending(stage: Sandbox) -> Demo:
    memory = stage.run.record.memory()
    seconds = time.monotonic() - stage.began
    stage.show(
        f"\nThe demo took {format_span(seconds)}. Everything is in {stage.folder}: look around, "
        "then delete it."
    )
    return Demo(
        folder=str(stage.folder),
        slug=SLUG,
        instances=[instance.name for instance in memory.instances],
        tag=memory.sealed.tag if memory.sealed else None,
        record=stage.run.record.tip,
        issue=str(stage.run.state / "issue.md"),
        seconds=round(seconds, 1),
    )
