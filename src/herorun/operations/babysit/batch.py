"""Several runs at once: one that cannot be read is reported, and does not stop the others."""

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Generic, TypeVar

from herorun.core.errors import (
    DEBUG,
    REPORT,
    UNFORESEEN,
    HerorunError,
    describe_error,
    describe_internal_error,
)
from herorun.core.lazy_dataclass import dataclass
from herorun.core.redaction.scrub import scrub
from herorun.record import Record
from herorun.runs import known_slugs
from herorun.schemas.status import NotRead
from herorun.system import host, progress
from herorun.system.git import Repository
from herorun.system.git.clones import lease_last_seen

T = TypeVar("T")


@dataclass(frozen=True)
class BatchResult(Generic[T]):
    """The result of one run: a value, or an error with its exit code."""

    slug: str
    value: T | None
    error: str = ""
    code: int = 0

    @property
    def unread_entry(self) -> NotRead:
        """The entry of a run without a value."""
        return NotRead.of(self)


def each(
    names: Iterable[str], act: Callable[[str], T], doing: str = "looking at runs"
) -> Iterator[BatchResult[T]]:
    """Call `act` for every run; an error of one is its result, and does not stop the others."""
    unique_names = list(dict.fromkeys(names))
    for number, name in enumerate(unique_names):
        progress.progress(doing, number, len(unique_names))
        yield run_for_name(name, act)
    progress.progress(doing, 1, 1)


def run_for_name(name: str, act: Callable[[str], T]) -> BatchResult[T]:
    """Call `act` for one run; its error is in the answer, also that of an adapter by somebody else,
    which may raise anything.
    """
    slug = Path(name).stem
    try:
        return BatchResult(slug, act(name))
    except (HerorunError, OSError) as error:
        code = error.exit_code if isinstance(error, HerorunError) else 3
        return BatchResult(slug, None, scrub(describe_error(error)), code)
    except UNFORESEEN as error:
        if os.environ.get(DEBUG):
            raise
        message = f"{describe_internal_error(error)}. {REPORT}"
        return BatchResult(slug, None, scrub(message), 3)


def worst(codes: Iterable[int]) -> int:
    """One exit code for all, the worst: 1 (a fault), then 3 (unknown), 2 (wrong use), 0 (clear)."""
    return max(codes, key=(0, 2, 3, 1).index, default=0)


def slugs_to_watch(repository: Repository) -> list[str]:
    """The runs that were launched, not sealed and not handed to another owner, and those whose
    record cannot be read: these must be reported.
    """
    return [slug for slug in known_slugs(repository) if _to_watch(repository, slug)]


def _to_watch(repository: Repository, slug: str) -> bool:
    try:
        memory = Record.discover(repository, slug).memory()
    except (HerorunError, OSError):
        return True
    mine = memory.handed is None or memory.handed.to == host.owner()
    if not mine:  # the record alone is not enough: the tick reads the lease
        lease = lease_last_seen(repository.main / ".herorun" / slug)
        mine = lease is not None and lease.owner == host.owner()
    return bool(memory.instances) and not memory.sealed and mine
