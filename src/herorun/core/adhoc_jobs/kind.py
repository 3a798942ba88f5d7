"""What a scheduler's adapter declares about jobs that it queries by id.

Each module of `herorun.schedulers.external`, and each that an entry point brings, has a `JOBS` of
this type. The defaults hold for a scheduler of which nothing else is known; one that differs
overrides the member, and nothing outside its module asks for its name.
"""

import re
from collections.abc import Mapping
from typing import Any

from herorun.core.adhoc_jobs.resubmit_command import split_command
from herorun.core.adhoc_jobs.spec import JobSpec
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex

# fields of a spec that an adapter may take
_SPEC_FIELDS = ("cluster", "config", "host", "user", "log")


@dataclass(frozen=True, kw_only=True)
class JobKind:
    id_pattern: re.Pattern[str]
    id_form: str  # for people, as in "it must be a number, such as 4711"
    article: str = "a"
    needs: tuple[str, ...] = ()  # fields of `JobSpec` without which the job cannot be watched
    place: tuple[str, ...] = ("host", "user")  # fields that say where a job of a contract's run is
    absent: str = "check its id and the cluster"  # what to do if the id is unknown
    # How a submission command names its job: the id is the first group that matched.
    printed: re.Pattern[str] = lazy_regex(r"Job submitted: (\S+)")
    id_is_path: bool = False  # a relative id is meant from the folder where it is typed
    is_process: bool = False  # `--job ID --host HOST` without a scheduler means this kind
    asks_for_command: bool = False  # on a terminal the submission command is asked for, always
    has_machine: bool = True  # its jobs leave files on a machine that we could look at
    # Why a job that two looks did not find is no longer watched. Empty: it is looked for longer.
    missing_twice: str = ""

    def wrote(self, spec: JobSpec) -> bool:
        """Whether a state file that names no scheduler is of this kind, by the fields that it has:
        the loop of the seed wrote such files.
        """
        return False

    def listing(self, spec: JobSpec) -> str:
        """The command for people that lists the user's jobs, where the adapter has a method
        `listed(most)`; empty where it has none.
        """
        return ""

    def resolve_names(self, spec: JobSpec, start: str) -> JobSpec:
        """The same with short names of clusters replaced; `start` is the folder in which it was
        typed. `WrongUse` for an unknown name.
        """
        return spec

    def with_command(self, spec: JobSpec) -> JobSpec:
        """The same with the submission command that follows from its other fields, if any does."""
        return spec

    def adapter_options(self, spec: JobSpec) -> dict[str, str]:
        """The options of its adapter, from what a person named."""
        return {name: getattr(spec, name) for name in _SPEC_FIELDS if getattr(spec, name)}

    def contract_options(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """The same from `[scheduler]` of a contract of this kind. `WrongUse` where its jobs cannot
        be looked at by id.
        """
        return dict(options)

    def must_be_reachable(self, spec: JobSpec) -> None:
        """`WrongUse` where something is missing without which no look could succeed from here."""

    def must_return(self, command: str) -> None:
        """`WrongUse` for a submission command that waits for the job's end."""
        split_command(command)

    def notices(self, command: str) -> list[str]:
        """What in a submission command is rarely meant: a sentence each."""
        return []
