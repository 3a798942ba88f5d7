"""Run a program with a deadline. The only place that does."""

import os
import select
import subprocess
import tempfile
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO, TypeAlias

from herorun.core.durations import say_span
from herorun.core.errors import CouldNotLook
from herorun.system import voice


@dataclass(frozen=True)
class Answer:
    code: int
    out: bytes
    err: bytes

    @property
    def text(self) -> str:
        return self.out.decode("utf-8", "surrogateescape")

    @property
    def complaint(self) -> str:
        """The last line that the program wrote to standard error, for people."""
        lines = self.err.decode("utf-8", "backslashreplace").strip().splitlines()
        return lines[-1].strip() if lines else f"exit code {self.code}"


Lines: TypeAlias = Generator[bytes, None, Answer]  # the answer has no output: that was in the lines


def run(
    argv: Sequence[str],
    timeout: float,
    *,
    cwd: str | None = None,
    env: Mapping[str, str] | None = None,
    stdin: bytes = b"",
) -> Answer:
    """Run it to its end, or `CouldNotLook` when the time is over or the program is missing."""
    voice.report(f"runs {argv[0]}")  # not its words: they may hold what nobody should read
    try:
        with _startable(argv):
            done = subprocess.run(
                list(argv), capture_output=True, input=stdin, timeout=timeout, cwd=cwd, env=env, check=False
            )
    except subprocess.TimeoutExpired:
        raise CouldNotLook(
            f"`{argv[0]} {argv[1] if len(argv) > 1 else ''}` gave no answer within {say_span(timeout)}."
        ) from None
    return Answer(done.returncode, done.stdout, done.stderr)


def run_lines(argv: Sequence[str], idle: float, stdin: bytes = b"") -> Lines:
    """Each line of its output as it comes, and in the end how it ended; `CouldNotLook` after `idle` silent seconds.

    Whoever stops listening ends the program.
    """
    voice.report(f"runs {argv[0]}")
    with tempfile.TemporaryFile() as complaints:
        with _startable(argv):
            program = subprocess.Popen(
                list(argv), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=complaints
            )
        try:
            assert program.stdin is not None and program.stdout is not None
            _give(program.stdin, stdin)
            yield from _lines(program.stdout, idle, argv[0])
            code = program.wait(idle)
        finally:
            program.kill()
            program.wait()
            for pipe in filter(None, (program.stdin, program.stdout)):
                with suppress(OSError):
                    pipe.close()
        complaints.seek(0)
        return Answer(code, b"", complaints.read())


def _give(pipe: IO[bytes], data: bytes) -> None:
    with suppress(BrokenPipeError):  # it ended before: how is in its answer
        pipe.write(data)
        pipe.close()


def _lines(pipe: IO[bytes], idle: float, program: str) -> Iterator[bytes]:
    rest = b""
    while True:
        if not select.select([pipe], [], [], idle)[0]:
            raise CouldNotLook(f"`{program}` said nothing for {say_span(idle)}.")
        data = os.read(pipe.fileno(), 1 << 16)
        if not data:
            return
        *lines, rest = (rest + data).split(b"\n")
        yield from lines


@contextmanager
def _startable(argv: Sequence[str]) -> Iterator[None]:
    """A program that cannot be started is an answer that is missing."""
    try:
        yield
    except FileNotFoundError as error:
        missing = argv[0] if error.filename in (argv[0], None) else error.filename
        raise CouldNotLook(f"{missing} was not found on this machine.") from None
    except OSError as error:
        raise CouldNotLook(f"`{argv[0]}` could not be started: {error.strerror or error}.") from None
