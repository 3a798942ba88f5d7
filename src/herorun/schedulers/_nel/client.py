"""The launcher's own command line, each request one bounded call, and what its failures mean."""

import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from shutil import which

from herorun.core.errors import CouldNotLook, HerorunError, WrongUse
from herorun.core.lazy_regex import lazy_regex
from herorun.schedulers._error_line import error_of, message_of
from herorun.schedulers._nel.options import Options
from herorun.system.process import ProcessResult, run

_NOT_FOUND = 127
# nel writes secrets into its output directory; and what it starts keeps its outputs open for as
# long as it runs, so that they are files and no pipes.
_PRIVATE = 'umask 077; exec "$@" </dev/null >"$0.out" 2>"$0.err"'
_IN_DOUBT = lazy_regex(r"connect|timed? ?out|unreachable|resolve host|ssh", re.IGNORECASE)


class NelLauncher:
    """The program `nel`, and its list of jobs on this machine."""

    def __init__(self, options: Options) -> None:
        self._options = options

    @property
    def db(self) -> Path:
        path = self._options.exec_db or os.environ.get("NEMO_EVALUATOR_EXEC_DB_FILE")
        return Path(path) if path else Path.home() / ".nemo-evaluator" / "exec-db" / "exec.v1.jsonl"

    def must_be_there(self) -> None:
        """`CouldNotLook` without the program: its list of jobs alone does not show whether a job
        runs.
        """
        if which(self._options.program[0]) is None:
            raise self._missing()

    def ask(
        self,
        arguments: Sequence[str],
        timeout: float = 0,
        folder: str | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> ProcessResult:
        """`environment` replaces the usual one: a submission's, of which evaluations get what they
        name.
        """
        env = {
            "NEMO_EVALUATOR_TELEMETRY_LEVEL": "0",
            **(os.environ if environment is None else environment),
            "NO_COLOR": "1",
        }
        env["NEMO_EVALUATOR_EXEC_DB_FILE"] = str(self.db)
        with tempfile.TemporaryDirectory(prefix="herorun-nel-") as top:
            argv = ["sh", "-c", _PRIVATE, f"{top}/nel", *self._options.program, *arguments]
            answer = run(
                argv, timeout or self._options.timeout.total_seconds(), cwd=folder, env=env
            )
            out, err = (Path(top, f"nel.{name}").read_bytes() for name in ("out", "err"))
        if answer.code == _NOT_FOUND:
            raise self._missing()
        return ProcessResult(answer.code, out, err)

    def _missing(self) -> CouldNotLook:
        return CouldNotLook(
            f"{self._options.program[0]} was not found on this machine: pip install "
            "nemo-evaluator-launcher, "
            "or name it in [scheduler] program."
        )


def refusal(instance: str, answer: ProcessResult) -> HerorunError:
    """`WrongUse` for a request that nel rejects; `CouldNotLook` for an error that may be
    transient.
    """
    if _IN_DOUBT.search(error_of(answer)):
        return CouldNotLook(f"nel could not submit {instance}: {message_of(answer)}")
    return WrongUse(f"nel refuses {instance}: {message_of(answer)}")
