"""Starts the workers of a Ray node as forks of a process that has imported what each imports: to
import Ray twice and the supervisor of jobs takes two seconds of CPU. Runs in `.venv-services`.

Ray starts `FOLDER/setup_worker.py`, a link to this file, in the place of its own: it passes on what
it was given, and waits. The fork runs Ray's own programs, `setup_worker.py` and
`default_worker.py`, which this one would begin as a further program. `ray_workers.py FOLDER` is the
process that forks.
"""

import fcntl
import gc
import json
import os
import runpy
import shlex
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

MAX_BYTES = 1 << 17  # bytes of a request
OURS = "setup_worker.py"


def ask(folder: Path) -> None:
    """In the place of a worker: returns when it has ended."""
    request = json.dumps([sys.argv[1:], dict(os.environ), os.getcwd()]).encode()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        connection.connect(str(_serve_forks(folder)))
        socket.send_fds(connection, [request], [0, 1, 2])
        connection.recv(1)  # nothing: it is closed where the worker ends


def _serve_forks(folder: Path) -> Path:
    """The socket of the process that forks. The first one who asks starts it: by Ray's environment
    it knows the node whose end is the end of each worker.
    """
    path = folder / "workers"
    with (folder / "workers.lock").open("ab") as lock, (folder / "workers.log").open("ab") as log:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            argv = [sys.executable, os.path.realpath(__file__), str(folder)]
            fork_server = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
            while not path.exists():
                if fork_server.poll() is not None:
                    sys.exit(f"no workers: see {folder / 'workers.log'}")
                time.sleep(0.02)
    return path


def serve(folder: Path) -> None:
    """Fork for each request, until a signal ends this. Returns only in a fork."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(str(folder / "workers.new"))
        listener.listen(64)
        os.rename(folder / "workers.new", folder / "workers")
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for a worker
        gc.freeze()
        while True:
            connection, _ = listener.accept()
            data, files, *_ = socket.recv_fds(connection, MAX_BYTES, 3)
            if not os.fork():
                break
            connection.close()
            for each in files:
                os.close(each)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _become(*json.loads(data), files)


def _become(argv: list[str], env: dict[str, str], folder: str, files: list[int]) -> None:
    os.setpgid(0, 0)  # Ray ends the group of a worker that has ended
    for number, each in enumerate(files):
        os.dup2(each, number)
        os.close(each)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(env)
    from ray._private.workers import setup_worker

    # it returns, where the real one never does: Ray's own set-up then continues in this process
    os.execvp = _go_on  # type: ignore[assignment]
    _run(str(setup_worker.__file__), argv)


def _go_on(program: str, args: list[str]) -> Any:
    """What the worker's own program is begun with: a line for bash."""
    words = shlex.split(args[2])
    if words[:2] != ["exec", sys.executable] or not words[2].endswith("/default_worker.py"):
        os.execv(f"/bin/{program}", args)
    _run(words[2], words[3:])


def _run(program: str, argv: list[str]) -> None:
    sys.argv = [program, *argv]
    runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    if Path(__file__).name == OURS:
        ask(Path(__file__).parent)
    else:
        import ray._private.workers.default_worker
        import ray._private.workers.setup_worker
        import ray.dashboard.modules.job.job_supervisor  # noqa: F401  # loaded for the forks

        serve(Path(sys.argv[1]))
