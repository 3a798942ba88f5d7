"""Run a program with a deadline. The only place that does."""

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
        done = subprocess.run(
            list(argv), capture_output=True, input=stdin, timeout=timeout, cwd=cwd, env=env, check=False
        )
    except subprocess.TimeoutExpired:
        raise CouldNotLook(
            f"`{argv[0]} {argv[1] if len(argv) > 1 else ''}` gave no answer within {timeout:g} s."
        ) from None
    except FileNotFoundError as error:
        missing = argv[0] if error.filename in (argv[0], None) else error.filename
        raise CouldNotLook(f"{missing} was not found on this machine.") from None
    except OSError as error:
        raise CouldNotLook(f"`{argv[0]}` could not be started: {error.strerror or error}.") from None
    return Answer(done.returncode, done.stdout, done.stderr)
