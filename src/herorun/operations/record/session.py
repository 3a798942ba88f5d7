"""A session's registry of jobs: `.claude/agents/<session>/active_jobs.json`, changed whole under a
lock of its own.
"""

import contextlib
import hashlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from herorun.core.adhoc_jobs.registry import Entry, read_entries, write_entries
from herorun.core.errors import CouldNotLook, HerorunError, WrongUse, describe_error
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex
from herorun.system.files import (
    create_atomic,
    hold_lock,
    make_folders,
    read_regular,
    write_atomic,
)
from herorun.system.git import find_repository

OWN = "HERORUN_SESSION"  # handed on to what herorun starts, which has no terminal
FOLDER = ".claude/agents"
MAX_BYTES = 16 << 20  # bytes of a registry, which may have come with a clone
_VARIABLES = (
    ("CLAUDE_CODE_SESSION_ID", "claude-code"),
    ("CODEX_THREAD_ID", "codex"),
    (OWN, "manual"),
)
_NAME = lazy_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


@dataclass(frozen=True)
class JobSession:
    """Whose jobs they are, and where the list of them lies."""

    id: str
    agent: str
    folder: Path

    @property
    def file(self) -> Path:
        return self.folder / "active_jobs.json"

    @property
    def lock(self) -> Path:
        return self.folder / ".active_jobs.lock"

    @property
    def watch_lock(self) -> Path:
        return self.folder / ".watch.lock"

    @property
    def log(self) -> Path:
        return self.folder / "watch.log"

    @property
    def log_note(self) -> str:
        """Where to read what another watch prints."""
        return f", log {self.log}, unless it runs in a terminal" if self.log.exists() else ""


def current_session(
    start: Path, session_id: str = "", env: Mapping[str, str] | None = None
) -> JobSession:
    """The session of the agent that its variable names, otherwise of this terminal."""
    identity, agent = _parse_session(session_id, os.environ if env is None else env) or (
        terminal(),
        "manual",
    )
    return JobSession(identity, agent, _top(start) / FOLDER / identity)


def session_of_launch(start: Path) -> JobSession | None:
    """The same; None if neither an agent nor a person at a terminal is there to read it, as in
    CI.
    """
    is_attended = _parse_session("", os.environ) is not None or _at_a_terminal()
    return current_session(start) if is_attended else None


def _parse_session(session_id: str, env: Mapping[str, str]) -> tuple[str, str] | None:
    sessions = [(env[variable], agent) for variable, agent in _VARIABLES if env.get(variable)]
    if session_id:
        return _folder_name(session_id), next(
            (agent for identity, agent in sessions if identity == session_id), "manual"
        )
    return (_folder_name(sessions[0][0]), sessions[0][1]) if sessions else None


def _folder_name(name: str) -> str:
    """Unchanged where it can be a folder's name, otherwise its digest."""
    return (
        name
        if _NAME.fullmatch(name)
        else f"session-{hashlib.sha256(name.encode()).hexdigest()[:16]}"
    )


def terminal() -> str:
    """The same for every command of one terminal, and another after its end: the session leader and
    its start.
    """
    leader = os.getsid(0)
    try:
        stat = Path(f"/proc/{leader}/stat").read_text("utf-8", errors="replace")
        start_time = stat.rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        start_time = "0"
    return f"terminal-{leader}-{start_time}"


def _at_a_terminal() -> bool:
    with contextlib.suppress(OSError):
        return os.isatty(0)
    return False


def _top(start: Path) -> Path:
    try:
        return find_repository(start).top
    except HerorunError:
        return start.resolve()


def read_jobs(session: JobSession) -> tuple[list[Entry], str]:
    """The jobs, and what is wrong with the file, in words; empty where nothing is."""
    try:
        entries, fault = read_entries(read_regular(session.file, MAX_BYTES))
    except FileNotFoundError:
        return [], ""
    except OSError as error:
        raise CouldNotLook(f"The registry cannot be read: {describe_error(error)}.") from None
    return entries, f"{session.file}: {fault}; its complete entries were read" if fault else ""


def change_jobs(session: JobSession, change: Callable[[list[Entry]], list[Entry]]) -> list[Entry]:
    """Read, change and replace, alone. A damaged file is kept next to it before it is replaced."""
    prepare(session)
    with hold_lock(session.lock, what="another herorun that changes this registry"):
        before, fault = read_jobs(session)
        after = change(list(before))
        if fault:
            _keep_damaged(session.file)
        if after != before or fault:
            write_atomic(session.file, write_entries(after), 0o644)
        return after


def _keep_damaged(file: Path) -> None:
    data = read_regular(file, MAX_BYTES)
    name = hashlib.sha256(data).hexdigest()[:8]
    with contextlib.suppress(FileExistsError):
        create_atomic(file.with_name(f"active_jobs.damaged-{name}.json"), data)


def prepare(session: JobSession) -> None:
    """Make the folder, invisible to git: a registry is no change of the code."""
    make_folders(session.folder, 0o644)
    with contextlib.suppress(FileExistsError):
        create_atomic(session.folder.parent / ".gitignore", b"*\n")


def must_have(session: JobSession, entries: list[Entry], job: str, start: Path) -> list[Entry]:
    """The entries of an id, which may be a path from `start`; `WrongUse` names what there is."""
    matches = [entry for entry in entries if entry["id"] in (job, str((start / job).resolve()))]
    if not matches:
        ids = ", ".join(str(entry["id"]) for entry in entries) or "none"
        raise WrongUse(f"{session.file} has no job {job}; its jobs: {ids}.")
    return matches
