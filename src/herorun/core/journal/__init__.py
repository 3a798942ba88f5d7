"""The journal: hash-chained JSON lines, one event per line. Its state is computed from them and
never stored as truth.
"""

from herorun.core.journal.lines import (
    START,
    UNKNOWN,
    BrokenJournal,
    JournalLine,
    as_json,
    chain,
    event_id,
    read_line,
    read_lines,
    scrub_event,
    write_line,
)
from herorun.core.journal.reducer import fold
from herorun.core.journal.state import Memory

__all__ = [
    "START",
    "UNKNOWN",
    "BrokenJournal",
    "JournalLine",
    "Memory",
    "as_json",
    "chain",
    "event_id",
    "fold",
    "read_line",
    "read_lines",
    "scrub_event",
    "write_line",
]
