"""Inspects a remote machine, on that machine. Its source is sent with each query
(`system/remote_python.py`).

Standard library only, from Python 3.8 on, and nothing is written. The caller limits the time of
each query, and each part fails alone, with `{"why": ...}` instead of its answer. Patterns come by
standard input, so that no command line contains them.
"""

from __future__ import annotations

import base64
import csv
import os
import re
import subprocess
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from herorun.system import _host_cpu, _host_files, _host_memory, _host_processes
from herorun.system._regular_file import open_regular

TAIL = 1 << 17  # bytes of a log's end that are sent
LOG_TAIL_BYTES = 1 << 26  # how many of its bytes are searched for the success pattern
SAMPLES = 5  # of the GPUs
ASKING = 5.0  # seconds for one program


def alive(session: str, socket: str, process: str) -> dict[str, Any]:
    """Whether a tmux session or a process is live: True, False, or why it is unknown."""
    questions: dict[str, Callable[[], Any]] = {}
    if session:
        questions["session"] = lambda: _session(session, socket)
    if process:
        questions["process"] = lambda: _host_processes.matching(process)
    return {"now": time.time(), "seen": {name: answer_of(ask) for name, ask in questions.items()}}


def matched_lines(log: str, pattern: str) -> dict[str, Any]:
    """The end of the run's own log, its time and size, and whether the success pattern matches."""
    with open_regular(log) as file:
        stat = os.fstat(file.fileno())
        file.seek(max(0, stat.st_size - TAIL))
        tail = file.read(TAIL)
        file.seek(max(0, stat.st_size - LOG_TAIL_BYTES))
        has_words = _host_files.has_line(file, pattern) if pattern else None
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
    """Markers, results, free disk space, the newest output, and the chain's state."""
    return {
        "now": time.time(),
        "markers": _each(markers, _host_files.changed_at),
        "results": _each(results, _host_files.read_result),
        "disks": _each(disks, _host_files.measure_room),
        "newest": _each(roots, _host_files.newest_change),
        "chain": answer_of(lambda: _host_files.chain_state(chain)) if chain else None,
    }


def count_copies(copies: list[str]) -> dict[str, Any]:
    """The counts of copied files; a query of its own, because it may take long."""
    return {"now": time.time(), "copies": _each(copies, _host_files.count_files)}


def machine(gpu_seconds: float, process: str, instance: str) -> dict[str, Any]:
    """The GPUs and this user's CPU use, sampled over some seconds, and the memory cgroup of the
    job, or else of this login.
    """
    before = _host_cpu.read_cpu_seconds()
    gpus = answer_of(lambda: _gpus(gpu_seconds)) if gpu_seconds else None
    pids = _host_processes.instances(instance) if instance else []
    pids += [pid for pid, _ in _host_processes.matching(process)] if process else []
    return {
        "now": time.time(),
        "gpus": gpus,
        "memory": answer_of(lambda: _host_memory.memory(pids[0] if pids else "self")),
        "cpus": len(os.sched_getaffinity(0)),
        "load": os.getloadavg()[0],
        "cores": _host_cpu.cores(before),
        "allowed": _host_cpu.count_cpus(),
    }


def _each(paths: list[str], ask: Callable[[str], Any]) -> dict[str, Any]:
    return {path: answer_of(partial(ask, path)) for path in paths}


def answer_of(ask: Callable[[], Any]) -> Any:
    """The answer to one query, or `{"why": ...}`, so that each part fails alone."""
    try:
        return ask()
    except (OSError, ValueError, csv.Error, subprocess.SubprocessError) as error:
        where = f"{error.filename}: " if isinstance(error, OSError) and error.filename else ""
        return {"why": (where + (getattr(error, "strerror", None) or str(error)))[:200]}


# --- alive ----------------------------------------------------------------------------------------


def _run_program(*argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        argv,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=ASKING,
        text=True,
        errors="replace",
        check=False,
    )


def _complaint(process: subprocess.CompletedProcess[str]) -> str:
    """The last line of the error output, which names the cause."""
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


# --- the machine ----------------------------------------------------------------------------------


def _gpus(seconds: float) -> list[dict[str, Any]] | None:
    """The utilisation of each GPU in per cent, sampled over some seconds; None without
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
