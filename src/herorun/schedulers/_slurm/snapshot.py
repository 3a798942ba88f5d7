"""A snapshot of Slurm, for all the runs that share it."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import cached_property
from itertools import takewhile

from herorun.core.lazy_dataclass import dataclass
from herorun.schedulers._slurm.parse import SlurmRow
from herorun.schedulers._slurm.state import Accounting, needs_accounting

ByName = Mapping[str, list[SlurmRow]]


@dataclass(frozen=True)
class SlurmSnapshot:
    """What squeue reported of every job, and sacct of some names."""

    at: datetime  # when it began
    queue: ByName
    accounting: Accounting  # without its rows
    accounting_rows: ByName
    names: frozenset[str]  # that accounting was asked for

    def in_queue(self, names: Iterable[str]) -> tuple[SlurmRow, ...]:
        """The rows of the queue with these names, or all rows."""
        chosen_names = list(names) or self.queue
        return tuple(row for name in chosen_names for row in self.queue.get(name, ()))

    def beginning_with(self, prefix: str) -> tuple[SlurmRow, ...]:
        """The rows whose names begin so. Each run asks: the cost must not grow with the queue."""
        names = self._sorted_names
        first = bisect_left(names, prefix)
        later_names = (names[at] for at in range(first, len(names)))
        matching = takewhile(lambda name: name.startswith(prefix), later_names)
        return tuple(row for name in matching for row in self.queue[name])

    @cached_property
    def _sorted_names(self) -> list[str]:
        return sorted(self.queue)


def by_name(rows: Iterable[SlurmRow]) -> dict[str, list[SlurmRow]]:
    rows_by_name: dict[str, list[SlurmRow]] = {}
    for row in rows:
        rows_by_name.setdefault(row.name, []).append(row)
    return rows_by_name


def not_live(queue: ByName, names: Iterable[str]) -> list[str]:
    """The names that accounting is asked for. One of which another's job is live is asked for by
    the one that wants it.
    """
    return [name for name in names if needs_accounting(queue.get(name, ()))]
