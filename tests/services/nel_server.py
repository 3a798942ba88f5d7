"""What nel imports, imported once: each request is a process of its own, which imports nel itself
and does what nel's script does.

nel's libraries take half a second to import, and a story asks it twenty times. Its own modules are
left to each request: they read HOME and the list of jobs as they are imported. Libyaml reads the
1.3 MB in which nel lists its tasks: that takes a tenth of the time, and nel reads them twice for
each run.

`nel_server.py SOCKET` writes a line once it listens, and ends with its standard input. It runs in
`.venv-nel`.
"""

import atexit
import fcntl
import importlib
import json
import os
import select
import socket
import sys
import traceback
from functools import partial

import yaml

LIBRARIES = [
    "dotenv",
    "flask",
    "hydra",
    "jinja2",
    "omegaconf",
    "psutil",
    "pydantic.main",
    "pydantic.types",
    "pygments",
    "requests",
    "rich.console",
    "rich.pretty",
    "rich.table",
    "simple_parsing",
    "structlog",
    "waitress",
]

yaml.safe_load = partial(yaml.load, Loader=yaml.CSafeLoader)


def main() -> None:
    for library in LIBRARIES:
        importlib.import_module(library)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(sys.argv[1])
        listener.listen()
        print("listening", flush=True)
        while True:
            ready, _, _ = select.select([listener, sys.stdin], [], [])
            if sys.stdin in ready:
                return
            client, _ = listener.accept()
            with client:
                if os.fork() == 0:
                    listener.close()
                    _answer(client)
            _bury()


def _bury() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def _answer(client: socket.socket) -> None:
    """Be the process that the client stands for, to the end: when it is killed, so is this one."""
    _, outputs, _, _ = socket.recv_fds(client, 1, 3)
    with client.makefile("rb") as lines:
        request = json.loads(lines.readline())
    os.setsid()
    fcntl.fcntl(client, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(client, fcntl.F_SETFL, fcntl.fcntl(client, fcntl.F_GETFL) | os.O_ASYNC)
    for number, descriptor in enumerate(outputs):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.chdir(request["folder"])
    os.umask(request["umask"])
    os.environ.clear()
    os.environ.update(request["env"])
    sys.argv = ["nel", *request["argv"]]
    client.sendall(b"%d" % _exit_code())
    os._exit(0)


def _exit_code() -> int:
    code: object
    try:
        from nemo_evaluator_launcher.cli.main import main as nel

        code = nel()
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
        code = 1
    if code is not None and not isinstance(code, int):
        print(code, file=sys.stderr)
        code = 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    return code or 0


if __name__ == "__main__":
    main()
