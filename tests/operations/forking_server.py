"""The server of the tools, with commands that are forks of a process that has imported herorun.

A new process takes a third of a second of CPU to import what its command needs. Each command still
has a process, outputs and an end of its own; `agents/test_mcp.py` is served without this.
"""

import atexit
import contextlib
import gc
import importlib
import json
import os
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from herorun import cli
from herorun.system.process import ProcessResult

STARTS = [sys.executable, "-P", "-m", "herorun"]  # the command that is replaced by a fork
MAX_BYTES = 1 << 16  # bytes of one command's words


class ForkedCommands:
    """As the server sees them: `run` is that of `herorun.system.process`."""

    def __init__(self, requests: socket.socket) -> None:
        self._requests = requests

    def run(self, argv: Sequence[str], timeout: float) -> ProcessResult:
        assert argv[: len(STARTS)] == STARTS
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with ours, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            with theirs:
                files = [out.fileno(), err.fileno(), theirs.fileno()]
                socket.send_fds(self._requests, [json.dumps(list(argv)).encode()], files)
            ours.settimeout(timeout)
            code = int(ours.recv(16))  # nothing comes from one that was killed: an error
            out.seek(0)
            err.seek(0)
            return ProcessResult(code, out.read(), err.read())


def follow(requests: socket.socket, module_list: Path) -> list[str]:
    """Fork for each request, until nobody asks any more. Returns only in a fork, with the words of
    its command.
    """
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that wait for commands
    gc.freeze()
    while True:
        words, files, *_ = socket.recv_fds(requests, MAX_BYTES, 3)
        if not words:
            os._exit(0)
        _import_as(module_list)
        if not os.fork():
            requests.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            return _in_a_fork(json.loads(words), *files)
        for each in files:
            os.close(each)


def _in_a_fork(words: list[str], out: int, err: int, exit_socket: int) -> list[str]:
    if pid := os.fork():
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        with socket.socket(fileno=exit_socket) as waiting:
            waiting.send(b"%d" % code)
        os._exit(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for number, each in enumerate((nothing, out, err)):
        os.dup2(each, number)
    for each in (nothing, out, err, exit_socket):
        os.close(each)
    return words


def _import_as(module_list: Path) -> None:
    """What the commands before have imported: a later one shares it."""
    with contextlib.suppress(FileNotFoundError):
        for name in module_list.read_text().split():
            if name not in sys.modules:
                importlib.import_module(name)


def run_command(words: list[str], module_list: Path) -> None:
    """As `python -m herorun` does, to the end of this process."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.orig_argv = words
    sys.argv = ["herorun", *words[len(STARTS) :]]
    atexit.register(_remember, module_list)
    cli.main()


def _remember(module_list: Path) -> None:
    names = [name for name in sys.modules if name.startswith("herorun.")]
    with tempfile.NamedTemporaryFile("w", dir=module_list.parent, delete=False) as file:
        file.write("\n".join(names))
    os.replace(file.name, module_list)  # another command may end at the same time


def serve() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    folder = tempfile.mkdtemp()
    module_list = Path(folder) / "modules"
    if not os.fork():
        ours.close()
        run_command(follow(theirs, module_list), module_list)
        return
    theirs.close()

    from herorun.operations.agents import calls

    # a stand-in takes fewer parameters than the function
    calls.run = ForkedCommands(ours).run  # type: ignore[assignment]
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    cli.main()


if __name__ == "__main__":
    serve()
