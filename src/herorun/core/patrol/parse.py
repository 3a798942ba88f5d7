"""Parses the remote machine's raw answers. What did not arrive is `Blind`, never "not there".
Pure.
"""

import base64
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from herorun.core.evidence import Job
from herorun.core.finding import count
from herorun.core.patrol.observation import (
    Alive,
    Blind,
    ChainSeen,
    CommandOutput,
    Copy,
    Count,
    DiskRoom,
    Gpu,
    MemoryUse,
)
from herorun.core.ports import Absent, Found, Unknown
from herorun.core.redaction.scrub import scrub


def alive_by(job: Any, own: Any) -> tuple[Alive, str, bool]:
    """The scheduler's word about a job of its own; else the session, the process or the queue."""
    alive, why, well = _by_scheduler(job)
    if alive is not Alive.UNKNOWN or own is None:
        return alive, why, well
    if isinstance(own, Blind):
        return Alive.UNKNOWN, own.why, False
    seen = own["seen"]
    if any(found is True or (isinstance(found, list) and found) for found in seen.values()):
        return Alive.YES, "", False
    blind = [found["why"] for found in seen.values() if isinstance(found, dict) and "why" in found]
    if blind or why:
        return Alive.UNKNOWN, (blind or [why])[0], False
    ended = [found["ended"] for found in seen.values() if isinstance(found, dict)]
    if ended:
        return Alive.NO, *_by_accounts(ended[0])
    return (
        Alive.NO,
        f"there is no such {' and no such '.join(_NAMES[name] for name in seen)}",
        False,
    )


_NAMES = {"session": "tmux session", "process": "process", "slurm": "job in Slurm's queue"}


def _by_accounts(parts: list[list[str]]) -> tuple[str, bool]:
    """How Slurm's job ended, the first part that did not end well before the others; whether all
    did.
    """
    failed = [part for part in parts if part[0] != "COMPLETED"]
    state, code = (failed or parts)[0]
    several = (
        f", {len(failed)} of its {count(len(parts), 'part')}" if failed and len(parts) > 1 else ""
    )
    return f"Slurm calls it {state}, exit code {code}{several}", not failed


def _by_scheduler(job: Any) -> tuple[Alive, str, bool]:
    match job:
        case None:
            return Alive.UNKNOWN, "", False
        case Blind(why) | Unknown(why):
            return Alive.UNKNOWN, why, False
        case Absent():
            return Alive.UNKNOWN, "the scheduler does not know it; it may run elsewhere", False
        case Found(Job() as found) if found.state.live:
            return Alive.YES, "", False
        case Found(Job() as found) if found.state.in_doubt:
            return Alive.UNKNOWN, found.ending, False
        case Found(Job() as found):
            return Alive.NO, found.ending, found.state == "succeeded"
    raise TypeError(job)


def unreachable(box: Mapping[str, Any], job: Any) -> str:
    """Why no question to the box was answered; empty where one was, or where only its disks
    hang.
    """
    blind = [found.why for found in box.values() if isinstance(found, Blind)]
    if (
        len(blind) < len(box)
        or not blind
        or isinstance(job, Found)
        or any("could be reached" in why for why in blind)
    ):
        return ""
    return blind[0].removesuffix(" Try again.")


def part_of(answers: Mapping[str, Any], part: str) -> Any:
    return answers.get(part, Blind("it is not looked at"))


def told_of(files: Any, part: str, path: str) -> Any:
    if isinstance(files, Blind):
        return files
    found = files[part].get(path)
    return Blind(found["why"]) if isinstance(found, dict) and "why" in found else found


def moment_of(found: Any) -> datetime | Blind | None:
    return datetime.fromtimestamp(found, UTC) if isinstance(found, (int, float)) else found


def result_of(found: Any) -> CommandOutput | Blind | None:
    if not isinstance(found, dict):
        unread: Blind | None = found
        return unread
    return CommandOutput(base64.b64decode(found["text"]).decode("utf-8", "replace"), found["whole"])


def room_of(found: Any) -> DiskRoom | Blind:
    return (
        DiskRoom(*found)
        if isinstance(found, list)
        else found
        if isinstance(found, Blind)
        else Blind("the answer has no figures")
    )


def newest_of(files: Any) -> float | None:
    times = (
        []
        if isinstance(files, Blind)
        else [t for t in files["newest"].values() if isinstance(t, (int, float))]
    )
    return max(0.0, files["now"] - max(times)) if times else None


def gpus_of(machine: Any) -> tuple[Gpu, ...] | Blind | None:
    if machine is None or isinstance(machine, Blind):
        return machine
    found = machine["gpus"]
    if not isinstance(found, list):
        return Blind(found["why"]) if found else None
    told = [(gpu["index"], [use for use in gpu["use"] if use is not None]) for gpu in found]
    return tuple(Gpu(index, sum(use) / len(use)) for index, use in told if use)


def memory_of(machine: Any) -> MemoryUse | Blind | None:
    if machine is None or isinstance(machine, Blind):
        return machine
    found = machine["memory"]
    return Blind(found["why"]) if "why" in found else MemoryUse(**found)


def copy_of(path: str, source: str, there: Any, here: Any) -> Copy:
    counts = (Count(**found) if isinstance(found, dict) else found for found in (there, here))
    return Copy(path, source, *counts)


def chain_of(files: Any) -> ChainSeen | Blind:
    if isinstance(files, Blind):
        return files
    found = files["chain"]
    if "why" in found:
        return Blind(found["why"])
    failed = base64.b64decode(found["failed"] or "").decode("utf-8", "replace").strip()
    stage = base64.b64decode(found.get("stage") or "").decode("utf-8", "replace").strip()
    return ChainSeen(found["runs"], scrub(failed), scrub(stage))
