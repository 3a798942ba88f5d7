"""Several runs at once, each watched by a process of its own: a slow or broken one delays and ends no other."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import IO

LAST_WORDS = 10.0  # seconds that a worker gets to end after it was told to


def watch_each(names: Sequence[str], start: str, words: Sequence[str]) -> list[int]:
    """Their exit codes, once all have ended. What ends us ends them."""
    with _asked_to_end():
        workers = [_start(name, start, words) for name in dict.fromkeys(names)]
        try:
            readers = [threading.Thread(target=_pass_on, args=(worker.stdout,)) for worker in workers]
            for reader in readers:
                reader.start()
            codes = [worker.wait() for worker in workers]
            for reader in readers:
                reader.join()
            return [code if code >= 0 else 3 for code in codes]
        finally:
            _end(workers)


def _start(name: str, start: str, words: Sequence[str]) -> subprocess.Popen[bytes]:
    argv = [sys.executable, "-P", "-m", "herorun", "-C", start, "babysit", name, *words]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    return subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=environment)


_whole_lines = threading.Lock()


def _pass_on(stream: IO[bytes] | None) -> None:
    """Whole lines, so that the documents of two runs never mix."""
    assert stream is not None
    for line in stream:
        with _whole_lines:
            sys.stdout.write(line.decode("utf-8", "replace"))
            sys.stdout.flush()


def _end(workers: Sequence[subprocess.Popen[bytes]]) -> None:
    """The loops among them end between two acts; what they leave is settled by the next tick."""
    for worker in workers:
        if worker.poll() is None:
            worker.send_signal(signal.SIGTERM)
    for worker in workers:
        with contextlib.suppress(subprocess.TimeoutExpired):
            worker.wait(LAST_WORDS)
        if worker.poll() is None:
            worker.kill()
            worker.wait()


@contextlib.contextmanager
def _asked_to_end() -> Iterator[None]:
    """SIGTERM reaches us as an interruption, so that the workers are ended too."""

    def interrupted(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
