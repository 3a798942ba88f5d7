"""The transport to a machine: commands run on this one, or over one ssh connection with time
limits.

A lost connection is `CouldNotLook`, never an empty answer. Exit code 255 may be ssh's own failure
or a remote `exit 255`, and login files may print text before the answer. So the remote end marks
each answer with a first and a last line; an answer without both is incomplete.
"""

import os
import re
import shlex
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Sequence
from threading import BoundedSemaphore
from typing import Protocol

from herorun.core.durations import format_span
from herorun.core.errors import CouldNotLook
from herorun.core.lazy_regex import lazy_regex
from herorun.core.remote.target import NAME, SshLogin
from herorun.system.process import MAX_BYTES, Lines, OutputTooLong, ProcessResult, run, run_lines

CONNECT = 15  # seconds for a new connection
SERVER_ALIVE_INTERVAL = 10  # seconds between two keepalives
SERVER_ALIVE_COUNT_MAX = 3  # keepalives that may be missed
# seconds for a command that streams lines: it ends there when nobody reads them
MAX_TIMEOUT = 7 * 24 * 3600
# connections to one host: sshd rejects some if more than ten are not authenticated yet
# (MaxStartups)
MAX_CONNECTIONS = 4
MAX_RETRIES = 2  # retries after a connection that the server closed before any query
# what `timeout` exits with where it ended a program: coreutils', and BusyBox'
TIMEOUT_EXIT_CODES = (124, 143)
KILLED_EXIT_CODE = 137  # and where it had to kill it
SSH_FAILED = 255  # ssh's own failure, or a remote program's exit code
_SAFE = lazy_regex(rb"[A-Za-z0-9_./=:,@+ -]")  # between single quotes, the same in every shell
_BUSY = lazy_regex(
    r"kex_exchange_identification|Connection (?:reset|closed) by .* port|banner line", re.I
)
_connection_slots: dict[str, BoundedSemaphore] = defaultdict(
    lambda: BoundedSemaphore(MAX_CONNECTIONS)
)  # by host, in this process


class Transport(Protocol):
    where: str  # for people
    reach: str  # "here" or "ssh"

    def run(self, argv: Sequence[str], timeout: float, stdin: bytes = b"") -> ProcessResult:
        """Run a program on the machine; `CouldNotLook` if no complete answer came in time."""

    def lines(self, argv: Sequence[str], idle: float, stdin: bytes = b"") -> Lines:
        """The lines of a program's output as they come; `CouldNotLook` if none came for `idle`
        seconds.
        """


class LocalTransport:
    """This machine."""

    where, reach = "this machine", "here"

    def run(self, argv: Sequence[str], timeout: float, stdin: bytes = b"") -> ProcessResult:
        return run(argv, timeout, stdin=stdin)

    def lines(self, argv: Sequence[str], idle: float, stdin: bytes = b"") -> Lines:
        return run_lines(argv, idle, stdin)


class SshTransport:
    """A host that is reached by the ssh program, with one short connection for each query."""

    reach = "ssh"

    def __init__(self, login: SshLogin, connect: float = CONNECT) -> None:
        host = login.host or ""
        if not NAME.fullmatch(host) or (login.user and not NAME.fullmatch(login.user)):
            raise CouldNotLook(f"{login.user or ''}@{host} is not a host name that ssh accepts.")
        self.where = f"{login.user}@{host}" if login.user else host
        self._connect = connect
        self._argv = ssh_argv(login, connect)

    def run(self, argv: Sequence[str], timeout: float, stdin: bytes = b"") -> ProcessResult:
        """Takes at most the time to connect plus the timeout; a program that runs longer is also
        ended there.
        """
        mark = f"herorun-{os.urandom(8).hex()}"
        command = [*self._argv, remote_command(argv, mark, timeout)]
        until = time.monotonic() + self._connect + timeout + 2
        raw = self._with_retries(lambda: self._once(command, until, stdin), until)
        answer = unframe(raw, mark)
        if answer is None:
            raise CouldNotLook(f"{self.where} {connection_error(raw)}")
        if answer.code in (*TIMEOUT_EXIT_CODES, KILLED_EXIT_CODE):
            raise CouldNotLook(
                f"{self.where} could be reached, but `{argv[0]}` gave no answer there within "
                f"{format_span(timeout)}: try again."
            )
        return answer

    def lines(self, argv: Sequence[str], idle: float, stdin: bytes = b"") -> Lines:
        mark = f"herorun-{os.urandom(8).hex()}"
        command = [*self._argv, remote_command(argv, mark, MAX_TIMEOUT)]
        answer, raw = yield from between(
            run_lines(command, self._connect + idle, stdin), mark.encode()
        )
        if answer is None:
            raise CouldNotLook(f"{self.where} {connection_error(raw)}")
        return answer

    def _once(self, command: Sequence[str], until: float, stdin: bytes) -> ProcessResult:
        door = _connection_slots[self.where]
        if not door.acquire(timeout=max(0.0, until - time.monotonic())):
            raise CouldNotLook(
                f"{self.where} gave no answer in time: other calls to it hang. Try again."
            )
        try:
            seconds = max(0.1, until - time.monotonic())
            return run(command, seconds, stdin=stdin)
        except OutputTooLong:
            raise CouldNotLook(
                f"{self.where} wrote more than {MAX_BYTES >> 20} MiB, more than any answer, and it "
                "is ignored. Check which program answers there."
            ) from None
        except CouldNotLook as error:
            if "no answer within" not in str(error):
                raise  # ssh is missing on this machine
            raise CouldNotLook(
                f"{self.where} gave no answer in time: the network or the machine hangs. Try again."
            ) from None
        finally:
            door.release()

    def _with_retries(self, ask: Callable[[], ProcessResult], until: float) -> ProcessResult:
        """Retry after a moment if a busy server closed the connection before any query."""
        for attempt in range(MAX_RETRIES):
            result = ask()
            if result.code != SSH_FAILED or result.out or not _BUSY.search(result.complaint):
                return result
            from random import uniform  # 2 ms, and most servers are not busy

            # so that rejected clients do not collide again
            pause = uniform(0.2, 0.6) * (attempt + 1)
            if time.monotonic() + pause >= until:
                return result
            time.sleep(pause)
        return ask()


def ssh_argv(login: SshLogin, connect: float = CONNECT) -> list[str]:
    """The ssh arguments: no prompt, no shared connection (a hanging one would delay every later
    query), and time limits.
    """
    options = {
        "BatchMode": "yes",
        "ConnectTimeout": max(1, round(connect)),
        "ServerAliveInterval": SERVER_ALIVE_INTERVAL,
        "ServerAliveCountMax": SERVER_ALIVE_COUNT_MAX,
        "ControlMaster": "no",
        "ControlPath": "none",
        "ClearAllForwardings": "yes",
        "ForwardAgent": "no",
        "ForwardX11": "no",
        "PermitLocalCommand": "no",
        "RequestTTY": "no",
        "RemoteCommand": "none",
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
    """The command for the remote login shell, which may be bash, csh or fish: it only starts `sh`,
    with text that all of them read alike.

    The program is ended there by the timeout too, so a lost connection leaves none running.
    """
    timed_command = shlex.join(["timeout", "-k", "5", f"{max(1, round(timeout))}", *argv])
    script = f"printf '\\n%s\\n' {mark}; LC_ALL=C {timed_command}; printf '\\n%s %d\\n' {mark} $?"
    encoded_script = "".join(
        chr(byte) if _SAFE.match(bytes([byte])) else f"\\0{byte:03o}"
        for byte in script.encode("utf-8", "surrogateescape")
    )
    return f"exec sh -c 'eval \"$(printf %b \"$0\")\"' '{encoded_script}'"


def unframe(result: ProcessResult, mark: str) -> ProcessResult | None:
    """The output between the two marks; None if one is missing."""
    word = re.escape(mark.encode())
    match = re.search(rb"(?:\A|\n)%s\n(.*)\n%s ([0-9]+)\n" % (word, word), result.out, re.DOTALL)
    return ProcessResult(int(match[2]), match[1], result.err) if match else None


def between(
    lines: Lines, mark: bytes
) -> Generator[bytes, None, tuple[ProcessResult | None, ProcessResult]]:
    """The lines between the two marks. Returns the program's answer, None without the second mark,
    and ssh's own.
    """
    is_open, code = False, None
    while True:
        try:
            line = next(lines)
        except StopIteration as end:
            ssh: ProcessResult = end.value
            return (None if code is None else ProcessResult(code, b"", ssh.err)), ssh
        if line == mark:
            is_open = True
        elif is_open and (match := re.fullmatch(mark + rb" ([0-9]+)", line)):
            code = int(match[1])
        elif is_open and line and code is None:
            yield line


_REASONS = (  # ssh's messages, and their meaning for people
    (
        r"Host key verification failed|No .* host key is known|IDENTIFICATION HAS CHANGED",
        (
            "shows a host key that is not the known one: compare it with the machine's own key, "
            "and add it to known_hosts only if they are equal."
        ),
    ),
    (
        r"Permission denied",
        "rejects the key: add your public key to its authorized_keys, or name the right user.",
    ),
    (r"Could not resolve hostname", "is not a host name that can be resolved from here: {said}."),
    (
        r"Connection refused",
        "refuses the connection: no ssh server runs there, or the machine is starting. Try again.",
    ),
    (
        r"kex_exchange_identification|banner line|reset by|closed by",
        "closed the connection: it may be busy, or the network failed. Try again.",
    ),
    (
        r"timed out|not responding",
        "does not answer: it may be off, busy or without a network. Try again.",
    ),
    (r"No route to host|Network is unreachable|Broken pipe", "is out of reach: {said}. Try again."),
)


def connection_error(result: ProcessResult) -> str:
    """Why there is no complete answer, by ssh's message; for people, after the name of the host."""
    complaint = result.complaint
    text = result.err.decode("utf-8", "backslashreplace")
    for pattern, message in _REASONS:
        if re.search(pattern, text):
            return message.format(said=complaint.rstrip("."))
    if result.code == SSH_FAILED and not text.strip():  # so ends ssh when its keepalives time out
        return "stopped answering: the connection was lost. Try again."
    return f"sent an incomplete answer: {complaint}. Try again."


def transport_to(login: SshLogin, connect: float = CONNECT) -> Transport:
    return SshTransport(login, connect) if login.host else LocalTransport()
