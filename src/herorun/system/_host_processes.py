"""Finds processes of this login's user on the machine. Its source is sent before `_host_probe`.

Standard library only, from Python 3.8 on.
"""

from __future__ import annotations

import os
import re
from typing import Any

# Programs whose command line may contain the pattern because they inspect the job, or started it.
READER_PROGRAMS = frozenset(
    ("tmux", "screen", "ssh", "sshd", "scp", "rsync", "grep", "egrep", "pgrep", "pkill", "rg", "ps", "tail", "head",  # noqa: E501  # one entry of a table, or one recorded value
     "less", "more", "cat", "watch", "vi", "vim", "nvim", "nano", "timeout")
)  # fmt: skip
DEAD = ("Z", "X")


def matching(pattern: str) -> list[list[Any]]:
    """This user's processes whose command line matches, except those that only inspect it, and our
    own.
    """
    processes, own = [], _ancestors(os.getpid())
    for name in sorted(filter(str.isdecimal, os.listdir("/proc")), key=int):
        argv = read_argv(name)
        if not argv or int(name) in own or os.path.basename(argv[0]).rstrip(":") in READER_PROGRAMS:
            continue
        if re.search(pattern, " ".join(_without_scripts(argv))) and not _is_herorun(argv):
            processes.append([int(name), " ".join(argv)[:200]])
    return processes


def _without_scripts(argv: list[str]) -> list[str]:
    """The command line without a shell's script text: a script that searches for the job contains
    its name, and one that runs the job has it as another process.
    """
    reader_names = rf"\b(?:{'|'.join(sorted(READER_PROGRAMS))})\b"
    return [word for word in argv if not (" " in word.strip() and re.search(reader_names, word))]


def _is_herorun(argv: list[str]) -> bool:
    """Whether the process is a herorun patrol or wait on this machine."""
    programs = [os.path.basename(word) for word in argv[:6]]
    return "herorun" in programs


def instances(name: str) -> list[int]:
    """Processes of an instance that herorun started, by their environment."""
    mark, pids = os.fsencode(f"HERORUN_INSTANCE={name}"), []
    for pid in filter(str.isdecimal, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                if mark in file.read().split(b"\0"):
                    pids.append(int(pid))
        except OSError:  # it has ended, or is another user's
            continue
    return pids


def read_argv(pid: str) -> list[str]:
    try:
        if os.stat(f"/proc/{pid}").st_uid != os.geteuid() or read_stat(pid)[0] in DEAD:
            return []
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().decode("utf-8", "replace").rstrip("\0").split("\0")
    except (OSError, IndexError):
        return []


def _ancestors(pid: int) -> set[int]:
    pids = set()
    while pid > 1 and pid not in pids:
        pids.add(pid)
        stat = read_stat(str(pid))
        pid = int(stat[1]) if len(stat) > 1 else 0
    return pids


def read_stat(pid: str) -> list[str]:
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        return file.read().rpartition(")")[2].split()
