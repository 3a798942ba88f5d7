"""Builds the arguments of iris' commands, in the three generations of its command line. Pure.

| | A (to June 2026) | B (July 2026) | C (from August 2026) |
| --- | --- | --- | --- |
| list | `job list --json` | `job list`, a table | the same, `--limit` |
| of one job | in the list, `job summary --json` | `job summary`, text | `job describe`, text |
| end it | `job stop` | `job stop` | `job cancel` |
"""

from collections.abc import Collection
from enum import StrEnum

from herorun.core.errors import CouldNotLook

LIMIT = 10_000  # the most that generation C lists


class Generation(StrEnum):
    A = "A"
    B = "B"
    C = "C"


def generation_of(help_text: str) -> Generation:
    """The generation, by the options in `iris job list --help`."""
    if "--json" in help_text:
        return Generation.A
    if "--limit" in help_text:
        return Generation.C
    if "--prefix" in help_text:
        return Generation.B
    raise CouldNotLook(
        "herorun does not know this version of Iris: `iris job list --help` names none of "
        "--json, --prefix and --limit. Upgrade iris or herorun."
    )


def list_argv(generation: Generation, user: str, name_prefix: str, is_full_name: bool) -> list[str]:
    """Lists the jobs of a user by a name prefix. Generation A accepts only a full name; for a
    prefix it lists all jobs.
    """
    prefix = ["--prefix", f"/{user}/{name_prefix}"]
    if generation is Generation.A:
        return ["job", "list", "--json", *(prefix if is_full_name else [])]
    return [
        "job",
        "list",
        *prefix,
        *(["--limit", str(LIMIT)] if generation is Generation.C else []),
    ]


def beginning_of(names: Collection[str]) -> str:
    """
    >>> beginning_of(["tiny-1", "tiny-12", "tin-3"])
    'tin'
    """
    first, last = min(names), max(names)
    alike = (n for n in range(len(first), -1, -1) if last.startswith(first[:n]))
    return first[: next(alike)]


def detail_argv(generation: Generation, job: str) -> list[str]:
    if generation is Generation.C:
        return ["job", "describe", job]
    return ["job", "summary", *(["--json"] if generation is Generation.A else []), job]


def stop_argv(generation: Generation, job: str) -> list[str]:
    """Stops the job with its children, as every generation does by default."""
    return ["job", "cancel" if generation is Generation.C else "stop", job]


def log_argv(job: str, lines: int, include_children: bool = False) -> list[str]:
    """Prints the last lines: by default generation A prints the first ones.

    They are limited by number and not by age: the last lines of a hanging job may be old.
    """
    children = ["--include-children"] if include_children else []
    return ["job", "logs", "--tail", "--max-lines", str(max(1, lines)), *children, job]
