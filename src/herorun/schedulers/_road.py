"""The road to a back end: its commands run on this machine, or over one bounded ssh connection.

A cut link is `CouldNotLook`, never an empty answer. Exit code 255 is ssh's own failure and also a remote `exit 255`,
so the far end closes each answer with a line of its own: what comes without it did not arrive whole.
"""

import re
import secrets
import shlex
from collections.abc import Sequence
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field

from herorun.core.errors import CouldNotLook
from herorun.system.process import Answer, run

CONNECT = 15  # seconds for a new connection
ALIVE = 10  # seconds between two signs of life
MISSED = 3  # signs of life that may be missed
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._@%-]*")  # never one that ssh would take for an option


class Road(Protocol):
    where: str  # for people
    reach: str  # "here" or "ssh"

    def run(self, argv: Sequence[str], timeout: float, stdin: bytes = b"") -> Answer:
        """Run a program at the far end; `CouldNotLook` where it gave no whole answer in time."""


class Login(BaseModel):
    """Where to log in. All of the user's own ssh configuration counts; nothing is ever asked at a prompt."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    host: str | None = Field(None, description="Host of the login node or box, as ssh knows it; none: here.")
    user: str | None = Field(None, description="User at the host; none: as ssh decides.")
    port: int | None = Field(
        None, ge=1, le=65535, description="Port of its ssh server; none: as ssh decides."
    )
    ssh_config: str | None = Field(None, description="An ssh configuration file in place of the user's own.")


class Here:
    """This machine."""

    where, reach = "this machine", "here"

    def run(self, argv: Sequence[str], timeout: float, stdin: bytes = b"") -> Answer:
        return run(argv, timeout, stdin=stdin)


class Ssh:
    """A host that is reached by the ssh program, one short connection a question."""

    reach = "ssh"

    def __init__(self, login: Login) -> None:
        host = login.host or ""
        if not _NAME.fullmatch(host) or (login.user and not _NAME.fullmatch(login.user)):
            raise CouldNotLook(f"{login.user or ''}@{host} is no host that ssh could be given.")
        self.where = f"{login.user}@{host}" if login.user else host
        self._argv = ssh_argv(login)

    def run(self, argv: Sequence[str], timeout: float, stdin: bytes = b"") -> Answer:
        mark = f"herorun-{secrets.token_hex(8)}"
        answer = run([*self._argv, remote_command(argv, mark, timeout)], timeout + CONNECT, stdin=stdin)
        whole = re.fullmatch(rb"(.*)\n%s ([0-9]+)\n" % mark.encode(), answer.out, re.DOTALL)
        if whole is None:
            raise CouldNotLook(f"{self.where} gave no whole answer: {answer.complaint}")
        return Answer(int(whole[2]), whole[1], answer.err)


def ssh_argv(login: Login) -> list[str]:
    """No prompt, no shared connection (one that hangs would hold up every later question), bounded waits."""
    options = {
        "BatchMode": "yes",
        "ConnectTimeout": CONNECT,
        "ServerAliveInterval": ALIVE,
        "ServerAliveCountMax": MISSED,
        "ControlMaster": "no",
        "ControlPath": "none",
        "LogLevel": "ERROR",
    }
    argv = ["ssh", "-T"]
    argv += ["-F", login.ssh_config] if login.ssh_config else []
    argv += ["-p", str(login.port)] if login.port else []
    argv += ["-l", login.user] if login.user else []
    for name, value in options.items():
        argv += ["-o", f"{name}={value}"]
    return [*argv, "--", login.host or ""]


def remote_command(argv: Sequence[str], mark: str, timeout: float) -> str:
    """For a POSIX shell at the far end. It ends there too: a lost connection leaves no program behind."""
    bounded = ["timeout", f"{max(1, round(timeout))}", *argv]
    return f"LC_ALL=C {shlex.join(bounded)}; printf '\\n%s %d\\n' {mark} $?"


def road_to(login: Login) -> Road:
    return Ssh(login) if login.host else Here()
