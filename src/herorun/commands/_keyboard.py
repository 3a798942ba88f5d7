"""Reads single keys from the terminal, and restores its settings at the end."""

import contextlib
import select
import sys
import termios
import tty
from collections.abc import Callable, Iterator
from time import monotonic


@contextlib.contextmanager
def keys() -> Iterator[Callable[[str, float], bool]]:
    """Yields a function that waits at most so many seconds for a key, and returns whether it was
    pressed; Ctrl-C still interrupts.
    """
    file = sys.stdin.fileno()
    before = termios.tcgetattr(file)

    def pressed(key: str, seconds: float) -> bool:
        until = monotonic() + seconds
        while (seconds_left := until - monotonic()) > 0:
            if select.select([file], [], [], seconds_left)[0]:
                typed_bytes = (
                    sys.stdin.buffer.raw.read(64) if hasattr(sys.stdin.buffer, "raw") else b""
                )
                if not typed_bytes:  # the terminal is gone
                    raise KeyboardInterrupt
                if key.encode() in typed_bytes:
                    return True
        return False

    try:
        tty.setcbreak(file)
        yield pressed
    finally:
        termios.tcsetattr(file, termios.TCSADRAIN, before)
