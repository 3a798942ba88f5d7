"""Summarises in one sentence how the tasks of a job ended. Pure."""

import re
from collections import Counter
from collections.abc import Sequence

from herorun.core.durations import format_span
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex

NEAR = 0.9  # of the limit
OOM_CODE = 137  # 128 and SIGKILL: what a container ends with that met its memory limit


@dataclass(frozen=True, kw_only=True)
class TaskEnd:
    """One task as its scheduler reports it. None: not reported."""

    name: str
    state: str  # the scheduler's own word
    exit_code: int | None = None
    seconds: float | None = None
    peak_mb: float | None = None
    limit_mb: float | None = None
    failed: bool = False

    @property
    def near_limit(self) -> bool:
        return bool(self.peak_mb and self.limit_mb and self.peak_mb >= NEAR * self.limit_mb)

    @property
    def met_limit(self) -> bool:
        """By its peak, which a scheduler samples and may miss, or by the scheduler's own state."""
        return self.near_limit or any(word in self.state.upper() for word in ("MEMORY", "OOM"))


def ended_for_memory(tasks: Sequence[TaskEnd]) -> bool:
    """Whether a task was killed for memory: the same command meets it again."""
    return any(task.failed and task.exit_code == OOM_CODE and task.met_limit for task in tasks)


def summary(tasks: Sequence[TaskEnd], noun: str = "task") -> str:
    """One sentence; empty if nothing failed, or if the tasks add nothing to the job itself.

    >>> full = {"exit_code": 137, "peak_mb": 15.9, "limit_mb": 16, "failed": True}
    >>> shards = [TaskEnd(name=str(number), state="failed", **full) for number in range(13)]
    >>> summary([*shards, TaskEnd(name="13", state="succeeded", exit_code=0)], "shard")
    '13 of 14 shards peaked near the container limit and ended with 137: raise memory'
    """
    failures = [task for task in tasks if task.failed]
    if not failures:
        return ""
    (code, count), *_ = Counter(task.exit_code for task in failures).most_common()
    alike = [task for task in failures if task.exit_code == code]
    near_limit = [task for task in alike if task.met_limit]
    end_text = "ended without an exit code" if code is None else f"ended with {code}"
    if near_limit:
        return (
            f"{_share(len(near_limit), tasks, noun)} peaked near the container limit and "
            f"{end_text}: raise memory"
        )
    if code == OOM_CODE:
        return (
            f"{_share(count, tasks, noun)} {end_text}, as after too much memory{_peak(alike)}: see "
            "their peak, and raise memory"
        )
    return (
        f"{_share(count, tasks, noun)} {end_text}{_peak(alike)}{_describe_earliest_end(alike)}"
        if len(tasks) > 1
        else ""
    )


_SIZE = lazy_regex(r"([0-9.]+) ?([KMGT]?)(?:i?B)?", re.IGNORECASE)
_MB = {"": 1 / 2**20, "k": 1 / 1024, "m": 1.0, "g": 1024.0, "t": 1024.0**2}


def memory_asked(argv: Sequence[str]) -> float | None:
    """What a command asks for by `--memory`, in MB; None where it asks for none.

    >>> memory_asked(["iris", "job", "run", "--memory", "16GB"])
    16384.0
    """
    for at, word in enumerate(argv):
        name, equals, value = word.partition("=")
        size_text = value if equals else next(iter(argv[at + 1 : at + 2]), "")
        if name in ("--memory", "--mem") and (match := _SIZE.fullmatch(size_text)):
            return float(match[1]) * _MB[match[2].lower()]
    return None


def _share(count: int, tasks: Sequence[TaskEnd], noun: str) -> str:
    return f"{count} of {len(tasks)} {noun}{'' if len(tasks) == 1 else 's'}"


def _peak(tasks: Sequence[TaskEnd]) -> str:
    peaks = [task.peak_mb for task in tasks if task.peak_mb]
    return f", with a peak of {max(peaks):,.0f} MB" if peaks else ""


def _describe_earliest_end(tasks: Sequence[TaskEnd]) -> str:
    spans = [task.seconds for task in tasks if task.seconds is not None]
    return f", after {format_span(min(spans))} at the earliest" if spans else ""
