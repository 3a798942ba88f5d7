"""This user's watchers on this machine: one small file for each, compared with the process table.

A process is identified by its number and its start, so that a later one with the same number is
never confused with it, and is signalled by a kernel handle (pidfd) of exactly that process.
"""

import contextlib
import json
import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from herorun.core.decode import decode
from herorun.core.lazy_dataclass import dataclass
from herorun.core.untrusted_json import read_json
from herorun.system.files import make_folders, write_atomic

TRANSFERS = ("ssh", "scp", "rsync", "sftp")
_DEAD = ("Z", "X")
_STORED_NAMES, _STORED_KINDS = {"process_start": "born"}, {"wait": "await"}


@dataclass(frozen=True, kw_only=True)
class RegisteredWatcher:
    """A watcher that has registered itself. `until` is when it ends by itself, in seconds since
    1970; 0: with its run.
    """

    kind: str  # wait, babysit, jobs
    run: str  # the slug, or the job
    top: str  # of the repository; "" if there is none
    what: str  # what it waits for, as text
    pid: int
    process_start: str
    started: float
    until: float = 0.0

    @property
    def lives(self) -> bool:
        return bool(self.process_start) and boot_and_tick(self.pid) == self.process_start

    @property
    def same_run(self) -> tuple[str, str, str]:
        return self.kind, self.top, self.run


def state_home() -> Path:
    """`$XDG_STATE_HOME/herorun`, or `~/.local/state/herorun`: a relative value does not count (XDG
    Base Directory).
    """
    return _state_home(os.environ.get("XDG_STATE_HOME", ""), os.environ.get("HOME"))


@lru_cache(maxsize=4)
def _state_home(base: str, home: str | None) -> Path:
    """By what it depends on: each tick asks four times."""
    return (Path(base) if base.startswith("/") else Path.home() / ".local" / "state") / "herorun"


def folder() -> Path:
    return state_home() / "watchers"


@contextlib.contextmanager
def register_watcher(
    kind: str, run: str, top: str, what: str, start: float, until: float = 0.0
) -> Iterator[RegisteredWatcher]:
    """Register this process while it watches."""
    own = RegisteredWatcher(
        kind=kind,
        run=run,
        top=top,
        what=what,
        pid=os.getpid(),
        process_start=boot_and_tick(os.getpid()),
        started=start,
        until=until,
    )
    path = folder() / f"{own.pid}-{kind}-{run}.json"
    make_folders(folder())
    write_atomic(path, (json.dumps(_encode_watcher(own)) + "\n").encode())
    try:
        yield own
    finally:
        with contextlib.suppress(FileNotFoundError):
            path.unlink()


def registered_watchers() -> dict[Path, RegisteredWatcher | None]:
    """All registered watchers, oldest first; None for an unreadable file."""
    watchers = {path: _read_watcher(path) for path in sorted(folder().glob("*.json"))}
    return dict(sorted(watchers.items(), key=lambda each: each[1].started if each[1] else 0.0))


def _encode_watcher(watcher: RegisteredWatcher) -> dict[str, Any]:
    """In the names of every version, so that an older one on this machine finds it too."""
    fields = {_STORED_NAMES.get(name, name): value for name, value in asdict(watcher).items()}
    return {**fields, "kind": _STORED_KINDS.get(watcher.kind, watcher.kind)}


def _read_watcher(path: Path) -> RegisteredWatcher | None:
    names = {file_name: name for name, file_name in _STORED_NAMES.items()}
    kinds = {file_kind: kind for kind, file_kind in _STORED_KINDS.items()}
    try:
        document = read_json(path.read_bytes())
        fields = {names.get(key, key): value for key, value in dict(document).items()}
        watcher = decode(RegisteredWatcher, fields)
    except (OSError, TypeError, ValueError):
        return None
    watcher = replace(watcher, kind=kinds.get(watcher.kind, watcher.kind))
    return watcher if watcher.pid > 1 else None


def retire(watcher: RegisteredWatcher) -> bool:
    """Ask exactly that process to end; False if it has ended, is another user's, or is a later one
    with its number.
    """
    if watcher.pid == os.getpid():
        return False
    try:
        handle = os.pidfd_open(watcher.pid)
    except (OSError, AttributeError):
        return False
    try:
        if (
            not watcher.lives
        ):  # checked after the handle was opened, which refers to this process or none
            return False
        signal.pidfd_send_signal(handle, signal.SIGTERM)
        return True
    except OSError:
        return False
    finally:
        os.close(handle)


def boot_and_tick(pid: int) -> str:
    """The boot and the tick at which a process began; empty if it has ended, or is unknown."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""
    return "" if stat[0] in _DEAD else f"{boot} {stat[19]}"


@dataclass(frozen=True)
class UnregisteredProcess:
    """A process that is not registered. `kind`: babysitter, watch over jobs, or transfer."""

    pid: int
    command: str
    kind: str


def others() -> list[UnregisteredProcess]:
    """This user's babysitters and ssh, scp and rsync processes, except this process's own
    children.
    """
    processes, parents = [], {}
    for name in filter(str.isdecimal, os.listdir("/proc") if sys.platform == "linux" else []):
        with contextlib.suppress(OSError, IndexError):
            parents[int(name)] = int(
                Path(f"/proc/{name}/stat").read_text(errors="replace").rpartition(")")[2].split()[1]
            )
            if os.stat(f"/proc/{name}").st_uid != os.geteuid():
                continue
            argv = (
                Path(f"/proc/{name}/cmdline")
                .read_bytes()
                .decode("utf-8", "replace")
                .rstrip("\0")
                .split("\0")
            )
            if what := what_of(argv):
                processes.append(UnregisteredProcess(int(name), " ".join(argv), what))
    mine = [each for each in processes if not _is_descendant(each.pid, os.getpid(), parents)]
    return sorted(mine, key=lambda each: each.pid)


def what_of(argv: list[str]) -> str:
    """The kind of a process by its command line; "" for others.

    >>> what_of(["/usr/bin/python3", "-P", "-m", "herorun", "-C", "/w", "babysit", "grug"])
    'babysitter'
    >>> what_of(["/usr/bin/vi", "babysit"])
    ''
    """
    names = [os.path.basename(word) for word in argv]
    if names[0] in TRANSFERS:
        return "transfer"
    after = names[names.index("herorun") :] if "herorun" in names[:6] else []
    if "babysit" in after:
        return "babysitter"
    return "watch over jobs" if {"jobs", "watch"} <= set(after) else ""


def _is_descendant(pid: int, top: int, parents: dict[int, int]) -> bool:
    while pid > 1:
        if pid == top:
            return True
        pid = parents.get(pid, 0)
    return False
