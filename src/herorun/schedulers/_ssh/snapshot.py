"""A snapshot of a machine's jobs, for all the runs that share it."""

from collections.abc import Mapping, Set
from datetime import datetime
from typing import Any

from herorun.core.lazy_dataclass import dataclass


@dataclass(frozen=True)
class SshSnapshot:
    at: datetime  # when it began
    answer: Mapping[str, Any]
    slugs: frozenset[str]  # runs of which every instance is in it

    @property
    def jobs(self) -> Set[str]:
        names: Set[str] = self.answer["jobs"].keys()
        return names
