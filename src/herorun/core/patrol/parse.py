"""Parses the remote machine's raw answers. What did not arrive is `MachineUnread`, never "not
there". Pure.
"""

import base64
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from herorun.core.evidence import Job, JobState
from herorun.core.patrol.observation import (
    ChainState,
    CommandOutput,
    Count,
    DiskRoom,
    FolderCopy,
    Gpu,
    Liveness,
    MachineUnread,
    MemoryUse,
)
from herorun.core.ports import Absent, Found, Unknown
from herorun.core.redaction.scrub import scrub


def alive_by(job: Any, own: Any, job_by_id: Any = None) -> tuple[Liveness, str, bool]:
    """By the scheduler for a job of its own; for others by the session, the process, or the job
    that the contract names by its id.
    """
    liveness, why, well = _by_scheduler(job)
    if liveness is not Liveness.UNKNOWN or (own is None and job_by_id is None):
        return liveness, why, well
    answers = _answers_of_box(own)
    if job_by_id is not None:
        answers["job"] = _answer_about(job_by_id)
    if any(answer is True or (isinstance(answer, list) and answer) for answer in answers.values()):
        return Liveness.YES, "", False
    blind = [
        answer["why"] for answer in answers.values() if isinstance(answer, dict) and "why" in answer
    ]
    if blind or why:
        return Liveness.UNKNOWN, (blind or [why])[0], False
    if isinstance(end := answers.get("job"), tuple):
        return Liveness.NO, *end
    return (
        Liveness.NO,
        f"there is no such {' and no such '.join(_NAMES[name] for name in answers)}",
        False,
    )


_NAMES = {"session": "tmux session", "process": "process", "job": "job in its scheduler's list"}


def _answers_of_box(own: Any) -> dict[str, Any]:
    if own is None:
        return {}
    return {"box": {"why": own.why}} if isinstance(own, MachineUnread) else dict(own["seen"])


def _answer_about(search: Any) -> Any:
    """In the form of the box's answers: True, False, why it is unknown, or how it ended and whether
    well.
    """
    if isinstance(search, Absent):
        return {"why": "its scheduler lists no such job: check its id and the host"}
    if isinstance(search, Unknown) and search.forgotten:
        return False
    if isinstance(search, Found) and search.job.state is JobState.GONE:
        return search.job.ending, False  # its adapter saw that it ended, and not how
    liveness, why, well = _by_scheduler(search)
    if liveness is Liveness.UNKNOWN:
        return {"why": why}
    return liveness is Liveness.YES or (why, well)


def _by_scheduler(job: Any) -> tuple[Liveness, str, bool]:
    match job:
        case None:
            return Liveness.UNKNOWN, "", False
        case MachineUnread(why) | Unknown(why):
            return Liveness.UNKNOWN, why, False
        case Absent():
            return Liveness.UNKNOWN, "the scheduler does not know it; it may run elsewhere", False
        case Found(Job() as found_job) if found_job.state.live:
            return Liveness.YES, "", False
        case Found(Job() as found_job) if found_job.state.in_doubt:
            return Liveness.UNKNOWN, found_job.ending, False
        case Found(Job() as found_job):
            return Liveness.NO, found_job.ending, found_job.state == "succeeded"
    raise TypeError(job)


def unreachable(box: Mapping[str, Any], job: Any) -> str:
    """Why no question to the box was answered; empty where one was, or where only its disks
    hang.
    """
    blind = [part.why for part in box.values() if isinstance(part, MachineUnread)]
    if (
        len(blind) < len(box)
        or not blind
        or isinstance(job, Found)
        or any("could be reached" in why for why in blind)
    ):
        return ""
    return blind[0].removesuffix(" Try again.")


def part_of(answers: Mapping[str, Any], part: str) -> Any:
    return answers.get(part, MachineUnread("it is not checked"))


def entry_of(files: Any, part: str, path: str) -> Any:
    if isinstance(files, MachineUnread):
        return files
    entry = files[part].get(path)
    return MachineUnread(entry["why"]) if isinstance(entry, dict) and "why" in entry else entry


def moment_of(answer: Any) -> datetime | MachineUnread | None:
    return datetime.fromtimestamp(answer, UTC) if isinstance(answer, (int, float)) else answer


def result_of(answer: Any) -> CommandOutput | MachineUnread | None:
    if not isinstance(answer, dict):
        blind: MachineUnread | None = answer
        return blind
    return CommandOutput(
        base64.b64decode(answer["text"]).decode("utf-8", "replace"), answer["whole"]
    )


def room_of(figures: Any) -> DiskRoom | MachineUnread:
    return (
        DiskRoom(*figures)
        if isinstance(figures, list)
        else figures
        if isinstance(figures, MachineUnread)
        else MachineUnread("the answer has no figures")
    )


def newest_of(files: Any) -> float | None:
    times = (
        []
        if isinstance(files, MachineUnread)
        else [t for t in files["newest"].values() if isinstance(t, (int, float))]
    )
    return max(0.0, files["now"] - max(times)) if times else None


def gpus_of(machine: Any) -> tuple[Gpu, ...] | MachineUnread | None:
    if machine is None or isinstance(machine, MachineUnread):
        return machine
    gpus = machine["gpus"]
    if not isinstance(gpus, list):
        return MachineUnread(gpus["why"]) if gpus else None
    usage = [(gpu["index"], [use for use in gpu["use"] if use is not None]) for gpu in gpus]
    return tuple(Gpu(index, sum(use) / len(use)) for index, use in usage if use)


def memory_of(machine: Any) -> MemoryUse | MachineUnread | None:
    if machine is None or isinstance(machine, MachineUnread):
        return machine
    memory = machine["memory"]
    return MachineUnread(memory["why"]) if "why" in memory else MemoryUse(**memory)


def copy_of(path: str, source: str, remote: Any, local: Any) -> FolderCopy:
    counts = (Count(**each) if isinstance(each, dict) else each for each in (remote, local))
    return FolderCopy(path, source, *counts)


def chain_of(files: Any, waits: bool = True) -> ChainState | MachineUnread:
    if isinstance(files, MachineUnread):
        return files
    chain = files["chain"]
    if "why" in chain:
        return MachineUnread(chain["why"])
    failure = base64.b64decode(chain["failed"] or "").decode("utf-8", "replace").strip()
    stage = base64.b64decode(chain.get("stage") or "").decode("utf-8", "replace").strip()
    return ChainState(chain["runs"], scrub(failure), scrub(stage), waits)
