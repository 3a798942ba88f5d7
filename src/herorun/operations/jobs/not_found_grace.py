"""How long a registered job may be unknown to its own source before it is removed.

Only an answer counts, "there is no such job": a failed query is no answer.
"""

from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

from herorun.core.canonical_json import canonical
from herorun.core.durations import format_span
from herorun.core.finding import count
from herorun.core.untrusted_json import read_json
from herorun.system.clock import now
from herorun.system.files import write_atomic

MIN_POLLS = 5  # at least: a machine that slept meanwhile has polled nothing
WITHIN = timedelta(
    hours=1
)  # longer than a scheduler's accounting is late, or its controller takes to come back
_FILE = "not-found.json"


def not_found(folder: Path) -> tuple[bool, str]:
    """One more such answer: whether it was the last that is waited for, and in words what that
    means.
    """
    at, polls, since = now(), 0, now()
    path = folder / _FILE
    with suppress(OSError, ValueError, KeyError, TypeError):
        document = read_json(path.read_bytes())
        polls, since = int(document["looks"]), datetime.fromisoformat(document["since"])
    polls += 1
    with suppress(OSError):
        write_atomic(path, (canonical({"looks": polls, "since": since}) + "\n").encode())
    if polls >= MIN_POLLS and at - since >= WITHIN:
        return True, (
            f"its scheduler answered {count(polls, 'time')} in {format_span(at - since)} and does "
            "not know it, so its result is unknown and it is no longer watched: check its id and "
            "host, and `herorun jobs add` it again if it exists"
        )
    return False, (
        "its scheduler does not know it: check its id and host; it is removed after "
        f"{WITHIN // timedelta(minutes=1)} min of such answers"
    )


def reset_not_found(folder: Path) -> None:
    with suppress(OSError):
        (folder / _FILE).unlink(missing_ok=True)
