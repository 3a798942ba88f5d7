"""Every run of a repository, from its record alone: no contract is read, no adapter loaded."""

from pathlib import Path

from herorun.core.canonical_json import timestamp
from herorun.core.errors import HerorunError, describe_error
from herorun.core.journal import Memory
from herorun.core.redaction.scrub import scrub
from herorun.record import Record
from herorun.runs import known_slugs
from herorun.schemas.runs import ListEntry
from herorun.system.git import find_repository


def list_runs(start: Path) -> list[ListEntry]:
    """The runs by name. An unreadable one has its error."""
    repository = find_repository(start)
    entries = []
    for slug in known_slugs(repository):
        try:
            entries.append(_entry(slug, Record.discover(repository, slug).memory()))
        except (HerorunError, OSError) as error:
            why = scrub(describe_error(error))
            entries.append(_entry(slug, Memory(), error=why))
    return entries


def _entry(slug: str, memory: Memory, error: str = "") -> ListEntry:
    decision = memory.last_decided
    return ListEntry(
        slug=slug,
        stage="unknown" if error else memory.stage,
        run=decision.run if decision else None,
        monitor=decision.monitor if decision else None,
        progress=decision.progress if decision else "",
        last_seen=timestamp(decision.at) if decision else None,
        instance=memory.current.name if memory.current else None,
        error=error,
    )
