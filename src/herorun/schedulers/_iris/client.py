"""Runs Iris' own command line, each query as one call with a time limit, and interprets its
failures.
"""

import os
import re
from collections.abc import Sequence

from herorun.core.errors import CouldNotLook
from herorun.core.evidence import JobState
from herorun.core.lazy_regex import lazy_regex
from herorun.schedulers._error_line import message_of
from herorun.schedulers._iris.argv import (
    Generation,
    detail_argv,
    generation_of,
    list_argv,
    log_argv,
)
from herorun.schedulers._iris.parse import IrisListing, IrisRow, add_details, listing, log_text
from herorun.schedulers._iris.state_names import iris_state_of
from herorun.schedulers._iris.submit import FORWARDED_VARIABLES
from herorun.system.process import ProcessResult, run

NO_JOB = lazy_regex(r"not found|no such job", re.IGNORECASE)
USAGE = 2  # exit code for an invalid command line


class CommandLine:
    """The program, of any generation."""

    def __init__(self, program: Sequence[str], selector: Sequence[str], timeout: float) -> None:
        self.program = [*program, *selector]
        self._bare, self._timeout = program, timeout
        self._generation: Generation | None = None
        self._is_early: bool | None = None

    @property
    def generation(self) -> Generation:
        """The generation, queried once, and again after a rejected command line."""
        if self._generation is None:
            answer = run([*self._bare, "job", "list", "--help"], self._timeout, env=environment())
            if answer.code:
                raise self.trouble("job list --help", answer)
            self._generation = generation_of(answer.text)
        return self._generation

    def list(self, user: str, name_prefix: str, is_full_name: bool) -> IrisListing:
        generation = self.generation
        answer = self.ask(list_argv(generation, user, name_prefix, is_full_name))
        if answer.code == USAGE:
            # iris was upgraded since: the next query determines its generation
            self._generation = None
        if answer.code:
            raise self.trouble("job list", answer)
        return listing(generation, answer.text, answer.err.decode("utf-8", "replace"))

    def in_detail(self, row: IrisRow) -> IrisRow:
        """The row with details, which are queried if the list lacks an exit code or the tasks."""
        state = iris_state_of(row.word)
        if state in (JobState.PENDING, JobState.SUCCEEDED, JobState.UNKNOWN):
            return row
        if (row.exit_code is not None) if state.is_final else row.counts:
            return row
        answer = self.ask(detail_argv(self.generation, row.id))
        return add_details(self.generation, row, answer.text) if answer.code == 0 else row

    def log(self, job: str, lines: int) -> str | None:
        """The end of the log, with its children's; None if there is no such job."""
        answer = self.ask(log_argv(job, lines, self._needs_children_flag()))
        if answer.code and NO_JOB.search(message_of(answer)):
            return None
        if answer.code:
            raise self.trouble("job logs", answer)
        text_lines = log_text(answer.out.decode("utf-8", "replace"), job).split("\n")
        return "\n".join(text_lines[-lines - 1 :]) if lines > 0 else ""

    def _needs_children_flag(self) -> bool:
        """Whether this iris returns the children's lines only with a flag, as early versions of
        generation A do.
        """
        if self._is_early is None:
            is_early = self.generation is Generation.A
            self._is_early = (
                is_early and "--include-children" in self.ask(["job", "logs", "--help"]).text
            )
        return self._is_early

    def ask(
        self, argv: Sequence[str], timeout: float | None = None, folder: str | None = None
    ) -> ProcessResult:
        env = environment()
        if folder:  # the bundle is the folder itself, not what a repository around it tracks
            env["GIT_CEILING_DIRECTORIES"] = os.path.dirname(folder)
        return run([*self.program, *argv], timeout or self._timeout, cwd=folder, env=env)

    def trouble(self, what: str, answer: ProcessResult) -> CouldNotLook:
        return CouldNotLook(f"`iris {what}` failed: {message_of(answer)}")


def environment() -> dict[str, str]:
    """The environment without variables that iris would forward or that would change its
    behaviour.
    """
    without = (*FORWARDED_VARIABLES, "IRIS_USER", "IRIS_CONTROLLER_URL")
    return {name: value for name, value in os.environ.items() if name not in without}
