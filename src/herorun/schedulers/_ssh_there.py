"""What is done on the box itself: looking, starting, stopping. It travels with each question (`system/far.py`).

Standard library only, from Python 3.8 on. Beside the supervisor's files (`_supervise.py`) lie in the scheduler's folder:

    <instance>.submit          locked while somebody submits it
    <instance>.lock            locked while the supervisor or anything of the job lives
    code/<instance>/           the code, where it was sent
    admissions/<instance>.json
    programs/<digest>/         the supervisor itself
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
from typing import Any

if __name__ == "__main__":  # started on the box as the supervisor: run by its path, beside what it needs
    sys.path.append(os.path.abspath(f"{__file__}/../../.."))

from herorun.schedulers import _supervise
from herorun.schedulers._processes import birth, boot, end_all, marks_of, processes_of
from herorun.system._far_end import packed

BLOCK, MOST = 1 << 16, 1 << 20  # bytes of a log that are read at once, and in all
RECORDS = ("request.json", "started.json", "stop.json", "stuck.json", "exit.json")
ROOM, FILES = 1 << 20, 64  # bytes and names that a disk must have left for a job's records
LOOK = 0.01  # seconds between two looks for the start
# What the login and the road bring would mislead the job; its own language is not that of our commands.
_NOT_PASSED_ON = re.compile(r"SSH_.*|TMUX|TMUX_PANE|LC_ALL|OLDPWD|SHLVL|_|GIT_.*|HERORUN_.*")
_FOR_TMUX = re.compile("HOME|PATH|USER|LOGNAME|SHELL|LANG|TMUX_TMPDIR")


# --- looking ---------------------------------------------------------------------------------------


def look(folder: str, names: list[str]) -> dict[str, Any]:
    """What is there of each instance."""
    if not os.path.isdir(folder):
        _refuse_a_file(folder)
    return {"boot": boot(), "jobs": {name: facts(folder, name) for name in names}}


def look_at_all(folder: str, slug: str) -> dict[str, Any]:
    """The same of every instance of a run."""
    ours = re.compile(rf"({re.escape(slug)}-[0-9]+)(?:\.lock|\.submit)?")
    try:
        names = {found.group(1) for found in map(ours.fullmatch, os.listdir(folder)) if found}
    except FileNotFoundError:
        names = set()
    return look(folder, sorted(names, key=lambda name: (len(name), name)))


def facts(folder: str, name: str) -> dict[str, Any]:
    """The locks before the records: the exit record is written before the lock is freed."""
    path = os.path.join(folder, name)
    told: dict[str, Any] = {
        "submitting": locked(f"{path}.submit"),
        "locked": locked(f"{path}.lock"),
        "there": is_there(path),
    }
    if not told["there"]:
        return told
    told["watched"] = locked(f"{path}/watched")
    records = {kind: record(f"{path}/{kind}") for kind in RECORDS}
    told["records"] = {kind: text for kind, text in records.items() if text is not None}
    told["lives"] = lives(read(records["started.json"]))
    if not (told["watched"] or told["lives"] or records["exit.json"]) and records["started.json"]:
        told["rest"] = sorted(process.pid for process in rest(read(records["request.json"])))
    told["log"] = changed(f"{path}/job.log")
    return told


def tail(folder: str, name: str, lines: int) -> str:
    """The end of the log, however long it is."""
    data = b""
    with open(os.path.join(folder, name, "job.log"), "rb") as file:
        at = file.seek(0, os.SEEK_END)
        while at > 0 and len(data) < MOST and data.count(b"\n") <= lines:
            at, before = max(at - BLOCK, 0), at
            file.seek(at)
            data = file.read(before - at) + data
    return packed(b"".join(data.splitlines(keepends=True)[-lines:]) if lines > 0 else b"")


def locked(path: str) -> bool:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)  # shared: two who ask must not see each other
        return False
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)


def is_there(path: str) -> bool:
    """An unreadable folder is not an absent one."""
    try:
        os.stat(path)
    except FileNotFoundError:
        return False
    return True


def record(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except FileNotFoundError:
        return None


def read(text: str | None) -> dict[str, Any]:
    """What a record says; nothing where it is damaged, which is for others to complain of."""
    try:
        told = json.loads(text or "{}")
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


def lives(started: dict[str, Any]) -> bool:
    """Whether that very process still runs."""
    pid, born = started.get("pid"), started.get("birth")
    return isinstance(pid, int) and bool(born) and birth(pid) == born


def rest(request: dict[str, Any], group: int = -1) -> set[Any]:
    """The processes that name the instance and its admission, or are in the group."""
    return processes_of(marks_of(str(request.get("instance", "")), str(request.get("admission", ""))), group)


def changed(path: str) -> float | None:
    try:
        return os.stat(path).st_mtime
    except FileNotFoundError:
        return None


def _refuse_a_file(folder: str) -> None:
    """A folder that is not there yet is empty; one that cannot be is an error."""
    if os.path.lexists(folder):
        os.listdir(folder)
        return
    top = os.path.dirname(folder)
    while top != os.path.dirname(top) and not os.path.lexists(top):
        top = os.path.dirname(top)
    os.listdir(top)


# --- starting --------------------------------------------------------------------------------------


def submit(order: dict[str, Any]) -> dict[str, Any]:
    """Start the instance unless it is there; the secrets, the admission and the code come by standard input."""
    private = json.loads(sys.stdin.buffer.read(order["private"]))
    folder, name = order["folder"], order["request"]["instance"]
    os.makedirs(folder, mode=0o700, exist_ok=True)
    lock = _hold(os.path.join(folder, f"{name}.submit"))
    if lock is None or is_there(os.path.join(folder, name)) or locked(os.path.join(folder, f"{name}.lock")):
        return look(folder, [name])
    how = ""
    try:
        _demand_room(folder)
        if order["code"]:
            _unpack(order["code"], sys.stdin.buffer, order["request"]["code"])
        if private["admission"]:
            _write(order["request"]["admission"], private["admission"].encode("utf-8", "surrogateescape"))
        how = _start(order, private["secrets"])
        _await(os.path.join(folder, name), time.monotonic() + order["within"])
    finally:
        os.close(lock)
    return {**look(folder, [name]), "how": how}


def _demand_room(folder: str) -> None:
    """Before anything is written: a job whose records have no room would be one that nobody can judge."""
    found = os.statvfs(folder)
    if found.f_bavail * found.f_frsize < ROOM or (found.f_files and found.f_favail < FILES):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), folder)


def _hold(path: str) -> int | None:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def _unpack(told: dict[str, Any], stream: Any, target: str) -> None:
    """The code, whole or not at all: what came is digested before it gets its name. A former try is put away."""
    os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
    aside = f"{target}.{os.getpid()}.new"
    try:
        os.mkdir(aside, 0o700)
        _receive(stream, told, f"{aside}/tar")
        os.mkdir(f"{aside}/code")
        with tarfile.open(f"{aside}/tar") as tar:
            if hasattr(tarfile, "fully_trusted_filter"):
                tar.extraction_filter = tarfile.fully_trusted_filter
            tar.extractall(f"{aside}/code")  # our own export, by its digest
        shutil.rmtree(target, ignore_errors=True)  # of a submission that was cut: nothing has run in it
        os.rename(f"{aside}/code", target)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _receive(stream: Any, told: dict[str, Any], path: str) -> None:
    digest, left = hashlib.sha256(), told["size"]
    with open(path, "wb") as file:
        while left:
            data = stream.read(min(left, MOST))
            if not data:
                raise OSError("the connection ended before the code was there")
            file.write(data)
            digest.update(data)
            left -= len(data)
    if digest.hexdigest() != told["sha256"]:
        raise OSError("the code did not arrive as it was sent")


def _write(path: str, data: bytes, mode: int = 0o600) -> None:
    """Whole or not at all."""
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    aside = f"{path}.{os.getpid()}.new"
    try:
        with open(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(aside)
        raise


def _start(order: dict[str, Any], secrets: dict[str, str]) -> str:
    """Under tmux, else in a session of its own; either outlives the connection. How, comes back."""
    folder, name = order["folder"], order["request"]["instance"]
    base = {key: value for key, value in os.environ.items() if not _NOT_PASSED_ON.fullmatch(key)}
    inner = {
        "order": {
            "request": order["request"],
            "folder": os.path.join(folder, name),
            "argv": order["request"]["argv"],
            "cwd": os.path.join(order["request"]["code"], order["request"]["cwd"]),
            "grace": order["grace"],
        },
        "lock": os.path.join(folder, f"{name}.lock"),
        "environment": {**base, "PYTHONUNBUFFERED": "1", **order["environment"], **secrets},
    }
    private = os.path.join(folder, f".{name}.{os.getpid()}.start")
    _write(private, json.dumps(inner).encode("ascii"))
    try:
        argv = [
            sys.executable,
            "-I",
            "-S",
            "-B",
            "-X",
            "utf8",
            _installed(folder, order["programs"]),
            private,
        ]
        how = _under_tmux(order["tmux"], name, argv, base) if order["tmux"] else "in a session of its own"
        if not how:
            how = "in a session of its own, without tmux"
        if not how.startswith("under"):
            nothing = subprocess.DEVNULL
            subprocess.Popen(
                argv, stdin=nothing, stdout=nothing, stderr=nothing, cwd="/", env=base, start_new_session=True
            )
        _await_taken(private, os.path.join(folder, name), time.monotonic() + order["within"])
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(private)
    return how


def _under_tmux(socket: str, name: str, argv: list[str], env: dict[str, str]) -> str:
    """Empty where tmux is missing, or does not want to: a session of that name may be somebody's."""
    tmux = shutil.which("tmux")
    if tmux is None:
        return ""
    clean = {
        key: env[key]
        for key in ("HOME", "PATH", "USER", "LOGNAME", "SHELL", "LANG", "TMUX_TMPDIR")
        if key in env
    }
    command = [tmux, "-L", socket, "-f", os.devnull, "new-session", "-d", "-s", name, "--", *argv]
    try:
        done = subprocess.run(
            command, cwd="/", env=clean, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, timeout=10, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return f"under tmux -L {socket}, session {name}" if done.returncode == 0 else ""


def _installed(folder: str, programs: list[list[str]]) -> str:
    """The supervisor and what it needs, as files: under their digest, so that no later version changes them."""
    digest = hashlib.sha256(json.dumps(programs).encode()).hexdigest()[:16]
    top = os.path.join(folder, "programs", digest)
    for name, source in programs:
        path = os.path.join(top, *name.split(".")) + ".py"
        if record(path) != source:
            _write(path, source.encode("utf-8"))
    return path


def _await_taken(private: str, folder: str, until: float) -> None:
    """The private file is read and taken away first of all; it must not outlive this call."""
    while os.path.exists(private) and not is_there(folder) and time.monotonic() < until:
        time.sleep(LOOK)


def _await(folder: str, until: float) -> None:
    """Until it has started, or has failed to."""
    while time.monotonic() < until:
        if os.path.exists(f"{folder}/started.json") or os.path.exists(f"{folder}/exit.json"):
            return
        time.sleep(LOOK)


def start(private: str) -> None:
    """In the process that becomes the supervisor: take the private file, the lock and the claim, then run the job."""
    with open(private, encoding="ascii") as file:
        told = json.load(file)
    os.unlink(private)
    lock = os.open(told["lock"], os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return  # another one is at it
    os.environ.clear()
    os.environ.update(told["environment"])
    order = {**told["order"], "lock": lock}
    print(
        f"herorun stands by {order['request']['instance']}; its log is {order['folder']}/job.log", flush=True
    )
    try:
        claimed = _supervise.claim(order)
    except OSError:  # a disk that filled up this very moment: nothing has run, so nothing was claimed
        shutil.rmtree(order["folder"], ignore_errors=True)
        raise
    if claimed:
        _supervise.run(order)


# --- stopping --------------------------------------------------------------------------------------


def stop(folder: str, name: str, by: str, grace: float) -> dict[str, Any]:
    """Ask the supervisor; where it is gone, its part is done here."""
    path = os.path.join(folder, name)
    seen = facts(folder, name)
    if not seen["there"] or "exit.json" in seen["records"]:
        return look(folder, [name])
    if "stop.json" not in seen["records"]:
        text = json.dumps({"by": by, "at": _supervise.now()}).encode("ascii") + b"\n"
        _write(f"{path}/stop.json", text)
    if not seen["watched"]:
        _stop_unwatched(path, grace)
    return look(folder, [name])


def _stop_unwatched(path: str, grace: float) -> None:
    request, started = read(record(f"{path}/request.json")), read(record(f"{path}/started.json"))
    group = started["pid"] if lives(started) else -1

    def stuck(left: set[Any]) -> None:
        pids = ", ".join(str(process.pid) for process in sorted(left))
        raise OSError(f"some processes of {os.path.basename(path)} could not be killed: {pids}")

    end_all(lambda: rest(request, group), time.monotonic(), grace, lambda: False, stuck)


if __name__ == "__main__":
    start(sys.argv[1])
