"""The progress of the demo: the training process, its newest step, and what the babysitter did."""

import json
import os
from pathlib import Path

from herorun.core.errors import CouldNotLook
from herorun.demo.sandbox import SLUG, Sandbox
from herorun.runs import Run


def trainer(run: Run, instance: str) -> int:
    """The training process of an instance on this machine: as noted at its start, or by its
    environment and command.
    """
    start_file = run.state / "jobs" / instance / "started.json"
    if start_file.exists():
        return int(json.loads(start_file.read_text())["pid"])
    mark = f"HERORUN_INSTANCE={instance}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            environment = (folder / "environ").read_bytes().split(b"\0")
            if mark in environment and b"train.py" in (folder / "cmdline").read_bytes().split(
                b"\0"
            ):
                return int(folder.name)
        except OSError:  # ended meanwhile, or of another user
            continue
    raise CouldNotLook(
        f"The training process of {instance} is not on this machine: the demo kills it here."
    )


def step(stage: Sandbox) -> int:
    """The newest logged step, from the end of the metrics file."""
    try:
        with (stage.data / SLUG / "metrics.jsonl").open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - 4096))
            lines = file.read().split(b"\n")[:-1]
        return int(json.loads(lines[-1])["step"])
    except (OSError, ValueError, IndexError, KeyError):
        return -1


def has_done_action(run: Run, prefix: str) -> bool:
    return any(key.startswith(prefix) for key in run.record.memory().done)


def babysitter_runs(run: Run) -> bool:
    from herorun.system.files import is_locked

    return is_locked(run.lock("babysitter"))
