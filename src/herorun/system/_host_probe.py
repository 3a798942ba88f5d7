"""Inspects a remote machine, on that machine. Its source is sent with each query
(`system/remote_python.py`).

Standard library only, from Python 3.8 on, and nothing is written. Each question is bounded by its
caller and each part fails alone: `{"why": ...}` in its place. Patterns come in by standard input,
so that no command line holds them.
"""

from __future__ import annotations

import base64
import csv
import fcntl
import os
import re
import subprocess
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from herorun.system import _host_cpu
from herorun.system._regular_file import open_regular

TAIL = 1 << 17  # bytes of a log's end that are sent
LOG_TAIL_BYTES = 1 << 26  # bytes of it in which the words of success are looked for
RESULT = 1 << 16  # bytes of a result file
SAMPLES = 5  # of the GPUs
ASKING = 5.0  # seconds for one program
# Programs that hold a pattern in their command line while they look at the job, or once started it.
READER_PROGRAMS = frozenset(
    ("tmux", "screen", "ssh", "sshd", "scp", "rsync", "grep", "egrep", "pgrep", "pkill", "rg", "ps", "tail", "head",  # noqa: E501  # one entry of a table, or one recorded value
     "less", "more", "cat", "watch", "vi", "vim", "nvim", "nano", "timeout")
)  # fmt: skip
_DEAD = ("Z", "X")
# sacct's words for an end, and how it says that there is no accounting.
_ENDS = frozenset(
    ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "BOOT_FAIL", "DEADLINE")  # noqa: E501  # one entry of a table, or one recorded value
)  # fmt: skip
_ACCOUNTS = ("-a", "-X", "-n", "-P", "--format=State,ExitCode")
_NO_ACCOUNTS = "accounting storage is disabled"


def alive(
    session: str, socket: str, process: str, slurm: str, programs: str, conf: str
) -> dict[str, Any]:
    """Whether there is a tmux session, a process, a Slurm job. True, False, how it ended, or why it
    is unknown.
    """
    questions: dict[str, Callable[[], Any]] = {}
    if session:
        questions["session"] = lambda: _session(session, socket)
    if process:
        questions["process"] = lambda: _matching(process)
    if slurm:
        questions["slurm"] = lambda: _queued(slurm, programs, conf)
    return {"now": time.time(), "seen": {name: _part(ask) for name, ask in questions.items()}}


def matched_lines(log: str, pattern: str) -> dict[str, Any]:
    """The end of the run's own log, when and how long it was written, and whether the words of
    success stand in it.
    """
    with open_regular(log) as file:
        stat = os.fstat(file.fileno())
        file.seek(max(0, stat.st_size - TAIL))
        tail = file.read(TAIL)
        file.seek(max(0, stat.st_size - LOG_TAIL_BYTES))
        has_words = _stands(file, pattern) if pattern else None
    tail_text = base64.b64encode(tail).decode("ascii")
    return {
        "now": time.time(),
        "size": stat.st_size,
        "changed": stat.st_mtime,
        "tail": tail_text,
        "done": has_words,
    }


def files(
    markers: list[str], results: list[str], disks: list[str], roots: list[str], chain: str
) -> dict[str, Any]:
    """Markers, results, room on disks, the newest output, and how the chain stands."""
    return {
        "now": time.time(),
        "markers": _each(markers, _changed),
        "results": _each(results, _read_result),
        "disks": _each(disks, _measure_room),
        "newest": _each(roots, _newest_change),
        "chain": _part(lambda: _chain(chain)) if chain else None,
    }


def copied(copies: list[str]) -> dict[str, Any]:
    """The counts of copied files. Apart from the rest, because many of them take their time."""
    return {"now": time.time(), "copies": _each(copies, counted)}


def machine(gpu_seconds: float, process: str, instance: str) -> dict[str, Any]:
    """Its GPUs and our own use of its processors over some seconds, and the memory cgroup of the
    job, or else of this login.
    """
    before = _host_cpu.used()
    gpus = _part(lambda: _gpus(gpu_seconds)) if gpu_seconds else None
    pids = _instances(instance) if instance else []
    pids += [pid for pid, _ in _matching(process)] if process else []
    return {
        "now": time.time(),
        "gpus": gpus,
        "memory": _part(lambda: _memory(pids[0] if pids else "self")),
        "cpus": len(os.sched_getaffinity(0)),
        "load": os.getloadavg()[0],
        "cores": _host_cpu.cores(before),
        "allowed": _host_cpu.allowed(),
    }


def _each(paths: list[str], ask: Callable[[str], Any]) -> dict[str, Any]:
    return {path: _part(partial(ask, path)) for path in paths}


def _part(ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except (OSError, ValueError, csv.Error, subprocess.SubprocessError) as error:
        where = f"{error.filename}: " if isinstance(error, OSError) and error.filename else ""
        return {"why": (where + (getattr(error, "strerror", None) or str(error)))[:200]}


# --- alive ----------------------------------------------------------------------------------------


def _run_program(*argv: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Without what a user's own shell filters Slurm's lists by: what it hides is not gone."""
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("SQUEUE_", "SACCT_"))
    }
    return subprocess.run(
        argv,
        env={**env, **more},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=ASKING,
        text=True,
        errors="replace",
        check=False,
    )


def _complaint(process: subprocess.CompletedProcess[str]) -> str:
    """The last line, which names what came of it."""
    lines = process.stderr.strip().splitlines() or [f"exit code {process.returncode}"]
    return f"{os.path.basename(process.args[0])}: {lines[-1].strip()}"


def _session(name: str, socket: str) -> bool:
    argv = ["tmux", *(["-L", socket] if socket else []), "has-session", "-t", f"={name}"]
    process = _run_program(*argv)
    if process.returncode == 0:
        return True
    if re.search(
        r"can't find session|no server running|No such file or directory\)", process.stderr
    ):
        return False
    raise OSError(_complaint(process))


def _queued(job: str, programs: str, conf: str) -> Any:
    """True in the queue; behind it its parts' states and exit codes as accounts have them, False
    where there are none.

    A controller that does not answer is not an empty queue, and an empty queue is no end that
    accounting does not report.
    """
    more = {"SLURM_CONF": conf} if conf else {}
    process = _run_program(
        os.path.join(programs, "squeue"), "--noheader", "--jobs", job, "--format", "%i %T", **more
    )
    if process.returncode and "Invalid job id" not in process.stderr:
        raise OSError(_complaint(process))
    if process.returncode == 0 and process.stdout.strip():
        return True
    try:
        accounting = _run_program(os.path.join(programs, "sacct"), *_ACCOUNTS, "-j", job, **more)
    except FileNotFoundError:
        return False
    return (
        False
        if _NO_ACCOUNTS in accounting.stderr
        else {"ended": _parse_accounting(job, accounting)}
    )


def _parse_accounting(job: str, accounting: subprocess.CompletedProcess[str]) -> list[list[str]]:
    """State and exit code of each part of a job that is in no queue; an OSError where one has not
    surely ended.
    """
    if accounting.returncode:
        raise OSError(
            f"squeue has no job {job}, and its end is not reported: {_complaint(accounting)}"
        )
    parts = [line.split("|")[:2] for line in accounting.stdout.splitlines() if "|" in line]
    if not parts:
        raise OSError(f"Slurm knows no job {job} here: check its number and the host")
    unclear = [state for state, _ in parts if state.split(" ")[0] not in _ENDS]
    if unclear:
        raise OSError(f"squeue has no job {job}, and sacct calls it {unclear[0]}")
    return parts


def _matching(pattern: str) -> list[list[Any]]:
    """Processes of this login's user by their command line, but for those who only look, and for
    ourselves.
    """
    processes, own = [], _ancestors(os.getpid())
    for name in sorted(filter(str.isdecimal, os.listdir("/proc")), key=int):
        argv = _argv(name)
        if not argv or int(name) in own or os.path.basename(argv[0]).rstrip(":") in READER_PROGRAMS:
            continue
        if re.search(pattern, " ".join(_without_scripts(argv))) and not _is_herorun(argv):
            processes.append([int(name), " ".join(argv)[:200]])
    return processes


def _without_scripts(argv: list[str]) -> list[str]:
    """A shell's script that looks for the job names it, and is not the job; one that runs it has it
    as a process of its own.
    """
    reader_names = rf"\b(?:{'|'.join(sorted(READER_PROGRAMS))})\b"
    return [word for word in argv if not (" " in word.strip() and re.search(reader_names, word))]


def _is_herorun(argv: list[str]) -> bool:
    """A patrol or a sentinel on this very machine."""
    programs = [os.path.basename(word) for word in argv[:6]]
    return "herorun" in programs


def _instances(name: str) -> list[int]:
    """Processes of an instance that herorun started, by what stands in their environment."""
    mark, pids = os.fsencode(f"HERORUN_INSTANCE={name}"), []
    for pid in filter(str.isdecimal, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                if mark in file.read().split(b"\0"):
                    pids.append(int(pid))
        except OSError:  # it has ended, or is another user's
            continue
    return pids


def _argv(pid: str) -> list[str]:
    try:
        if os.stat(f"/proc/{pid}").st_uid != os.geteuid() or _stat(pid)[0] in _DEAD:
            return []
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().decode("utf-8", "replace").rstrip("\0").split("\0")
    except (OSError, IndexError):
        return []


def _ancestors(pid: int) -> set[int]:
    pids = set()
    while pid > 1 and pid not in pids:
        pids.add(pid)
        stat = _stat(str(pid))
        pid = int(stat[1]) if len(stat) > 1 else 0
    return pids


def _stat(pid: str) -> list[str]:
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        return file.read().rpartition(")")[2].split()


# --- files ----------------------------------------------------------------------------------------


def _stands(file: Any, pattern: str) -> bool:
    line_pattern = re.compile(pattern.encode("utf-8"))
    return any(line_pattern.search(line) for line in file)


def _changed(path: str) -> float | None:
    """When a file was written last; None where there is none. A folder is no marker: one is made by
    what then dies.
    """
    try:
        stats = os.stat(path)
    except FileNotFoundError:
        return None
    if os.path.isdir(path):
        raise ValueError("it is a folder, and that proves nothing")
    return stats.st_mtime


def _read_result(path: str) -> Any:
    try:
        with open_regular(path) as file:
            data = file.read(RESULT + 1)
    except FileNotFoundError:
        return None
    text = base64.b64encode(data[:RESULT]).decode("ascii")
    return {"text": text, "whole": len(data) <= RESULT, "changed": os.stat(path).st_mtime}


def counted(top: str) -> dict[str, int] | None:
    """How many files lie under a folder, and their bytes; None where there is no such folder. Links
    are not followed.
    """
    if not os.path.isdir(top):
        return None
    count = size = 0
    folders_left = [top]
    while folders_left:
        with os.scandir(folders_left.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders_left.append(entry.path)
                else:
                    count, size = count + 1, size + entry.stat(follow_symlinks=False).st_size
    return {"files": count, "bytes": size}


def _measure_room(path: str) -> list[Any]:
    """Of the disk that holds it, or will: free and all bytes, free and all inodes (0: it does not
    count them).
    """
    while not os.path.exists(path) and path != "/":
        path = os.path.dirname(path)
    stats = os.statvfs(path)
    return [
        stats.f_bavail * stats.f_frsize,
        stats.f_blocks * stats.f_frsize,
        stats.f_favail,
        stats.f_files,
    ]


def _newest_change(root: str) -> float | None:
    """When anything in an output root, or one level below, changed last."""
    if not os.path.isdir(root):
        return None
    times = [os.stat(root).st_mtime]
    with os.scandir(root) as entries:
        for entry in list(entries)[-1000:]:
            times.append(entry.stat(follow_symlinks=False).st_mtime)
    return max(times)


def _chain(folder: str) -> dict[str, Any]:
    """Whether it runs, by the lock that the kernel frees with it, and what it wrote down when it
    failed.
    """
    failure, stage = _read_result(f"{folder}/FAILED"), _read_result(f"{folder}/STAGE")
    return {
        "runs": _is_lock_held(f"{folder}/lock"),
        "failed": failure["text"] if failure else None,
        "stage": stage["text"] if stage else None,
    }


def _is_lock_held(path: str) -> bool:
    try:
        lock = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    finally:
        os.close(lock)


# --- the machine ----------------------------------------------------------------------------------


def _gpus(seconds: float) -> list[dict[str, Any]] | None:
    """Utilisation of each in per cent, sampled over some seconds; None where there is no
    nvidia-smi.
    """
    ask = (
        "--query-gpu=index,utilization.gpu,memory.used,memory.total",
        "--format=csv,noheader,nounits",
    )
    gpus: dict[str, dict[str, Any]] = {}
    for attempt in range(SAMPLES):
        if attempt:
            time.sleep(seconds / (SAMPLES - 1))
        try:
            process = _run_program("nvidia-smi", *ask)
        except FileNotFoundError:
            return None
        if process.returncode:
            raise OSError(
                f"nvidia-smi: {(process.stderr or process.stdout).strip() or process.returncode}"
            )
        for row in csv.reader(process.stdout.splitlines(), skipinitialspace=True):
            if len(row) != 4:
                raise ValueError(f"nvidia-smi printed no table: {', '.join(row)[:80]!r}")
            index, use, used_memory, total = row
            gpu = gpus.setdefault(index, {"index": index, "use": []})
            gpu["use"].append(float(use) if use.replace(".", "", 1).isdecimal() else None)
            gpu["memory"] = [used_memory, total]
    return list(gpus.values())


def _memory(pid: Any) -> dict[str, Any]:
    """The cgroup, of this process's and those above it, that is nearest to its limit; and how often
    the kernel killed.
    """
    with open(f"/proc/{pid}/cgroup", encoding="utf-8") as file:
        parts = [line.rstrip("\n").split(":", 2) for line in file]
    own = {part[1]: part[2] for part in parts if len(part) == 3}
    old = next((path for names, path in own.items() if "memory" in names.split(",")), None)
    cgroups = [each for each in (_new(own.get("")), _old(old)) if each]
    return (
        max(cgroups, key=lambda each: each["share"] or 0.0)
        if cgroups
        else {"why": "no memory cgroup shows it"}
    )


def _new(path: str | None) -> dict[str, Any] | None:
    return _nearest(
        "/sys/fs/cgroup", path, "memory.current", "memory.max", "inactive_file", "memory.events"
    )


def _old(path: str | None) -> dict[str, Any] | None:
    top, limit = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
    return _nearest(
        top, path, "memory.usage_in_bytes", limit, "total_inactive_file", "memory.oom_control"
    )


def _nearest(
    top: str, path: str | None, now: str, most: str, cache: str, events: str
) -> dict[str, Any] | None:
    """Without the file cache that has not been used of late: the kernel takes that back before it
    kills anybody.
    """
    best: dict[str, Any] | None = None
    for folder in _upwards(top, path):
        usage, limit = _read_integer(f"{folder}/{now}"), _read_integer(f"{folder}/{most}")
        if usage is None:
            continue
        working_set = max(0, usage - (_field(f"{folder}/memory.stat", cache) or 0))
        share = working_set / limit if limit and limit < 1 << 60 else None
        if best is None or (share or 0.0) > (best["share"] or 0.0):
            kills = _field(f"{folder}/{events}", "oom_kill")
            best = {
                "used": working_set,
                "limit": limit if share is not None else None,
                "share": share,
            }
            best["oom_kill"] = kills
    return best


def _upwards(top: str, path: str | None) -> list[str]:
    """From the cgroup to the root; inside a container the path may not be there, and its root is
    the cgroup.
    """
    if path is None:
        return []
    parts = [part for part in path.split("/") if part and part != ".."]
    return ["/".join([top, *parts[:end]]) for end in range(len(parts), -1, -1)]


def _read_integer(path: str) -> int | None:
    try:
        with open(path, encoding="ascii") as file:
            word = file.read().strip()
    except OSError:
        return None
    return int(word) if word.isdecimal() else None


def _field(path: str, name: str) -> int | None:
    try:
        with open(path, encoding="ascii") as file:
            fields = dict(line.split()[:2] for line in file if len(line.split()) > 1)
    except OSError:
        return None
    return int(fields[name]) if fields.get(name, "").isdecimal() else None
