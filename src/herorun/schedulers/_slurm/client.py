"""Slurm's programs, each run by one bounded call, and what their failures mean."""

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from herorun.core.errors import CouldNotLook, HerorunError, WrongUse
from herorun.core.evidence import Job
from herorun.core.lazy_regex import lazy_regex
from herorun.schedulers._slurm.parse import (
    NO_ACCOUNTING,
    SEPARATOR,
    SlurmRow,
    programs,
    sacct_argv,
    sacct_rows,
    squeue_argv,
    squeue_rows,
)
from herorun.schedulers._slurm.state import Accounting
from herorun.schedulers._slurm.submit import NO_FOLDER, NO_PROGRAM, RemotePaths
from herorun.schedulers._transport import Transport
from herorun.system.process import ProcessResult

_REFUSAL = lazy_regex(
    r"invalid|unrecognized|unknown|not available|not permitted|denied|cannot be satisfied|can not "
    r"be satisfied"
    r"|ambiguous|requires an argument|exceeds|not allowed|no partition|limit",
    re.IGNORECASE,
)
_IN_DOUBT = lazy_regex(
    r"timed out|contact|connect|socket|unexpected message|communication|munge", re.IGNORECASE
)
MISSING = "must `[scheduler] slurm_bin` name its folder"
_MAX_NAMES = 60_000  # characters of names in one question: a shell takes 128 KiB in one argument


class Programs:
    """Slurm's programs behind a transport. A program without an answer is a `CouldNotLook`, never
    an empty list.
    """

    def __init__(
        self,
        transport: Transport,
        timeout: float,
        folder: str | None,
        conf: str | None,
        missing: str = MISSING,
    ) -> None:
        """`missing` is what a person may have left out where a program is not found."""
        self.transport, self.timeout = transport, timeout
        self._folder, self._conf, self._missing = folder, conf, missing
        self._users: dict[str, str] = {}

    def ask(self, argv: Sequence[str]) -> ProcessResult:
        return self.transport.run(programs(self._folder, self._conf, *argv), self.timeout)

    def output(self, argv: Sequence[str]) -> str:
        """What it prints; `CouldNotLook` where it fails."""
        return self.checked_output(argv[0], self.ask(argv))

    def checked_output(self, program: str, answer: ProcessResult) -> str:
        """Its answer's text; `CouldNotLook` where it has failed."""
        if _has_failed(answer):
            raise self.trouble(program, answer)
        return answer.text

    def queue(self, names: Sequence[str] = ()) -> tuple[SlurmRow, ...]:
        """All jobs of these names that the controller remembers, or all jobs."""
        few = names if len(",".join(names)) <= _MAX_NAMES else ()
        separator = new_separator()
        return squeue_rows(self.output(squeue_argv(separator, few)), separator)

    def accounting_of_names(self, names: Iterable[str], since: datetime) -> Accounting:
        return self.accounting(since - timedelta(days=1), names=sorted(names))

    def accounting(
        self, since: datetime, names: Iterable[str] = (), ids: Iterable[str] = ()
    ) -> Accounting:
        """Accounting's records of these names or ids; the result shows if it did not answer, or
        keeps none.
        """
        separator = new_separator()
        try:
            answer = self.ask(sacct_argv(separator, since, names, ids))
            if answer.code and NO_ACCOUNTING in answer.err.decode("utf-8", "replace"):
                return Accounting(is_disabled=True)
            return Accounting(sacct_rows(self.checked_output("sacct", answer), separator))
        except CouldNotLook as error:
            return Accounting(silent=str(error).rstrip("."))

    def trouble(self, program: str, answer: ProcessResult) -> CouldNotLook:
        if answer.code == NO_PROGRAM:
            return _missing(program, self.transport.where, self._missing)
        message = (
            answer.complaint if answer.err.strip() else answer.text.strip() or answer.complaint
        )
        return CouldNotLook(f"{program} on {self.transport.where} failed: {message}")

    def with_user_name(self, job: Job) -> Job:
        """The job, with the name of the user who stopped it, instead of the number."""
        by = job.stopped_by or ""
        named_by = self.user(by.removeprefix("uid ")) if by.startswith("uid ") else by
        return replace(job, stopped_by=named_by or None)

    def user(self, number: str) -> str:
        """Their name; the number if the name is unknown."""
        if number not in self._users:
            try:
                answer = self.transport.run(["id", "-nu", number], self.timeout)
                self._users[number] = answer.text.strip() if answer.code == 0 else ""
            except CouldNotLook:
                return f"uid {number}"
        return self._users[number] or f"uid {number}"


def new_separator() -> str:
    """The separator of one answer's columns. No job's name or comment can contain it: they are
    older.
    """
    return SEPARATOR + os.urandom(8).hex()


def _has_failed(answer: ProcessResult) -> bool:
    """Also with exit code 0: a controller that is down gives an empty list along with its error."""
    return bool(answer.code) or (b"error" in answer.err and not answer.out.strip())


def _missing(program: str, place: str, missing: str = MISSING) -> CouldNotLook:
    return CouldNotLook(f"{program} was not found on {place}: is Slurm there, or {missing}?")


def refusal(instance: str, answer: ProcessResult, where: RemotePaths, place: str) -> HerorunError:
    """`WrongUse` if Slurm has refused for good; `CouldNotLook` if it may have accepted the job."""
    lines = [
        line
        for line in answer.err.decode("utf-8", "replace").splitlines()
        if '"sbatch --help"' not in line
    ]
    reason = (lines or [answer.complaint])[-1].removeprefix("sbatch: ").removeprefix("error: ")
    reason = reason.removeprefix("Batch job submission failed: ").strip()
    if answer.code == NO_FOLDER:
        return WrongUse(
            f"{instance} was not submitted: there is no folder {where.code}, or what belongs into "
            "it."
        )
    if answer.code == NO_PROGRAM:
        return _missing("sbatch", place)
    if _REFUSAL.search(reason) and not _IN_DOUBT.search(reason):
        return WrongUse(f"Slurm refuses {instance}: {reason}")
    return CouldNotLook(f"{instance} was perhaps not submitted: {reason}")
