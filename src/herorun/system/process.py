"""Runs a program with a deadline and a limit on its output. The only place that does."""

import os
import select
import selectors
import subprocess
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import dropwhile
from typing import IO, TypeAlias

from herorun.core.durations import format_span
from herorun.core.errors import CouldNotLook
from herorun.core.lazy_dataclass import dataclass
from herorun.system import progress

# bytes that one program may write; the largest answers are files of 64 MiB, and pages of metrics
MAX_BYTES = 256 << 20
_BLOCK = 1 << 16  # bytes


class OutputTooLong(CouldNotLook):
    """A program wrote more than the limit: its output is discarded."""


@dataclass(frozen=True)
class ProcessResult:
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


# the result has no output, which was in the lines
Lines: TypeAlias = Generator[bytes, None, ProcessResult]


def run(
    argv: Sequence[str],
    timeout: float,
    *,
    cwd: str | None = None,
    env: Mapping[str, str] | None = None,
    stdin: bytes = b"",
) -> ProcessResult:
    """Run the program to its end; `CouldNotLook` after the timeout, or if the program is
    missing.
    """
    progress.log(
        f"runs {argv[0] if argv[0] != 'env' else _name_of(argv)}"
    )  # not its arguments, which may contain secrets
    until = time.monotonic() + timeout
    with _startable(argv):
        program = subprocess.Popen(
            list(argv),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=env,
            bufsize=0,
        )
    with program:  # closes its pipes, and waits for it
        try:
            out, err = _exchange_data(program, stdin, until)
            return ProcessResult(program.wait(max(0.0, until - time.monotonic())), out, err)
        except (TimeoutError, subprocess.TimeoutExpired):
            message = f"`{_name_of(argv)}` gave no answer within {format_span(timeout)}."
            raise CouldNotLook(message) from None
        finally:
            program.kill()


def _name_of(argv: Sequence[str]) -> str:
    """The program with its first argument; for `env` (whose options are one word each), the program
    that it starts.
    """
    if argv[0] != "env":
        return " ".join(argv[:2])
    words = dropwhile(lambda word: word.startswith("-") or "=" in word, argv[1:])
    return next(words, argv[0])


def _exchange_data(
    program: subprocess.Popen[bytes], stdin: bytes, until: float
) -> tuple[bytes, bytes]:
    """Send the input and read both outputs; TimeoutError when the time is over."""
    assert program.stdin is not None and program.stdout is not None and program.stderr is not None
    outputs: dict[IO[bytes], list[bytes]] = {program.stdout: [], program.stderr: []}
    input_left, size = memoryview(stdin), 0
    with selectors.DefaultSelector() as pipes:
        for pipe in outputs:
            pipes.register(pipe, selectors.EVENT_READ, outputs[pipe])
        if stdin:
            pipes.register(program.stdin, selectors.EVENT_WRITE)
        else:
            _close(program.stdin)
        while pipes.get_map():
            for key, _ in _ready(pipes, until):
                if key.data is None:
                    input_left = _write_some(program.stdin, input_left)
                    if not input_left:
                        pipes.unregister(program.stdin)
                        _close(program.stdin)
                elif data := os.read(key.fd, _BLOCK):
                    key.data.append(data)
                    size += len(data)
                    _check_size(size, program)
                else:
                    pipes.unregister(key.fileobj)
    return b"".join(outputs[program.stdout]), b"".join(outputs[program.stderr])


def _ready(pipes: selectors.BaseSelector, until: float) -> list[tuple[selectors.SelectorKey, int]]:
    seconds = until - time.monotonic()
    ready = pipes.select(seconds) if seconds > 0 else []
    if not ready:
        raise TimeoutError
    return ready


def _write_some(pipe: IO[bytes], data: memoryview) -> memoryview:
    """Write as much as fits without waiting; returns the rest, nothing once the pipe is closed."""
    try:
        return data[os.write(pipe.fileno(), data[: select.PIPE_BUF]) :]
    except BrokenPipeError:  # it ended before: how is in its answer
        return data[:0]


def _check_size(size: int, program: subprocess.Popen[bytes]) -> None:
    if size > MAX_BYTES:
        name = program.args[0] if isinstance(program.args, list) else program.args
        raise OutputTooLong(
            f"`{name!s}` wrote more than {MAX_BYTES >> 20} MiB, more than any answer: it was "
            "ended, and its output is ignored."
        )


def _close(pipe: IO[bytes]) -> None:
    with suppress(OSError):
        pipe.close()


def run_lines(argv: Sequence[str], idle: float, stdin: bytes = b"") -> Lines:
    """Yields each line of the output as it comes, and returns the result; `CouldNotLook` after
    `idle` seconds without output.

    Closing the generator ends the program.
    """
    progress.log(f"runs {argv[0]}")
    from tempfile import TemporaryFile  # most programs are run to their end, without one

    with TemporaryFile() as complaints:
        with _startable(argv):
            program = subprocess.Popen(
                list(argv), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=complaints
            )
        try:
            assert program.stdin is not None and program.stdout is not None
            _give(program.stdin, stdin)
            yield from _read_output_lines(program, complaints, idle, argv[0])
            code = program.wait(idle)
        except subprocess.TimeoutExpired:
            raise CouldNotLook(f"`{argv[0]}` printed nothing for {format_span(idle)}.") from None
        finally:
            program.kill()
            program.wait()
            for pipe in filter(None, (program.stdin, program.stdout)):
                _close(pipe)
        complaints.seek(0)
        return ProcessResult(code, b"", complaints.read())


def _give(pipe: IO[bytes], data: bytes) -> None:
    with suppress(BrokenPipeError):  # it ended before: how is in its answer
        pipe.write(data)
        pipe.close()


def _read_output_lines(
    program: subprocess.Popen[bytes], complaints: IO[bytes], idle: float, name: str
) -> Iterator[bytes]:
    assert program.stdout is not None
    partial: list[bytes] = []  # of the line that is not complete
    size = 0
    while True:
        if not select.select([program.stdout], [], [], idle)[0]:
            raise CouldNotLook(f"`{name}` printed nothing for {format_span(idle)}.")
        data = os.read(program.stdout.fileno(), _BLOCK)
        if not data:
            return
        size += len(data)
        if b"\n" in data:
            *lines, partial_line = b"".join([*partial, data]).split(b"\n")
            yield from lines
            partial, size = [partial_line], len(partial_line)
        else:
            partial.append(data)
        _check_size(size + os.fstat(complaints.fileno()).st_size, program)


@contextmanager
def _startable(argv: Sequence[str]) -> Iterator[None]:
    """Turns a start that fails into `CouldNotLook`."""
    try:
        yield
    except FileNotFoundError as error:
        missing = argv[0] if error.filename in (argv[0], None) else error.filename
        raise CouldNotLook(f"{missing} was not found on this machine.") from None
    except OSError as error:
        raise CouldNotLook(
            f"`{argv[0]}` could not be started: {error.strerror or error}."
        ) from None
