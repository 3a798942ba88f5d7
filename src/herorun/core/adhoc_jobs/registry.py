"""A session's list of submitted jobs, a JSON array; entries and fields of other tools are kept.
Pure.

Source: the job monitor that herorun was asked to cover. `type` is nel, slurm or launcher there;
herorun's own launches add the kinds of its other schedulers.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from herorun.core.evidence import JobState

Entry = dict[str, Any]
_FACTS = ("cluster", "config", "log")  # ours, where a job cannot be looked at without them


def entry_of(
    kind: str,
    job: str,
    at: datetime,
    owner: tuple[str, str],
    facts: Mapping[str, str],
    status: str = "",
) -> Entry:
    """One job in the seed's fields. `owner` is the agent and its session."""
    entry: Entry = {
        "type": kind,
        "id": job,
        "host": facts.get("host", ""),
        "user": facts.get("user", ""),
        "submitted": f"{at:%Y-%m-%d %H:%M}",
        "description": facts.get("description", ""),
        "last_status": status,
        "owner": {"agent": owner[0], "session_id": owner[1]},
    }
    return entry | {name: facts[name] for name in _FACTS if facts.get(name)}


def read_entries(data: bytes) -> tuple[list[Entry], str]:
    """The jobs, and what is wrong with the file; of a half-written one, all that is whole."""
    text = data.decode("utf-8", "replace").strip()
    if not text:
        return [], ""
    try:
        document = json.loads(text)
        fault = "" if isinstance(document, list) else "it is no list of jobs"
    except (ValueError, RecursionError):
        document, fault = _decode_complete(text), "it is half-written"
    entries = [each for each in document if _is_entry(each)] if isinstance(document, list) else []
    if not fault and len(entries) < len(document):
        fault = f"{len(document) - len(entries)} of its entries have no type and id"
    return entries, fault


def _decode_complete(text: str) -> list[Any]:
    """What can be read from the beginning on."""
    decoder, values, at = json.JSONDecoder(), [], text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        values.append(value)
        at = text.find("{", end)
    return values


def _is_entry(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(value.get(n), str) and value[n] for n in ("type", "id")
    )


def write_entries(entries: Sequence[Entry]) -> bytes:
    return (json.dumps(list(entries), indent=2, ensure_ascii=False) + "\n").encode()


def key_of(entry: Mapping[str, Any]) -> tuple[str, str, str]:
    """What tells two jobs apart."""
    return str(entry["type"]), str(entry["id"]), str(entry.get("host") or "")


def describe_entry(entry: Mapping[str, Any]) -> str:
    """The job for people: a process number is another process on each machine.

    >>> describe_entry({"type": "ssh", "id": "31337", "host": "box"})
    'ssh 31337 on box'
    """
    host = f" on {entry['host']}" if entry.get("host") else ""
    return f"{entry['type']} {entry['id']}{host}"


def with_entry(entries: Iterable[Entry], entry: Entry) -> list[Entry]:
    """Added, or brought up to date in its place: what others wrote into it stays."""
    entries_after, is_present = [], False
    for each in entries:
        if key_of(each) == key_of(entry):
            stated_fields = {
                name: value for name, value in entry.items() if value not in ("", None)
            }
            entries_after.append({**each, **stated_fields})
            is_present = True
        else:
            entries_after.append(each)
    return entries_after if is_present else [*entries_after, entry]


def without(entries: Iterable[Entry], keys: Iterable[tuple[str, str, str]]) -> list[Entry]:
    key_set = set(keys)
    return [entry for entry in entries if key_of(entry) not in key_set]


def with_status(
    entries: Iterable[Entry], statuses: Mapping[tuple[str, str, str], str], at: datetime
) -> list[Entry]:
    """The entries with the status that each had at that time."""
    return [
        {**entry, "last_status": statuses[key_of(entry)], "last_queried": f"{at:%Y-%m-%d %H:%M}"}
        if key_of(entry) in statuses
        else entry
        for entry in entries
    ]


def raw_state_of(raw: str) -> str:
    """The source's own word, as the registry keeps it: the first that is reported.

    >>> raw_state_of("success; Slurm COMPLETED"), raw_state_of("CANCELLED by 1003")
    ('SUCCESS', 'CANCELLED')
    """
    first = raw.partition(";")[0].strip()
    return (first.partition(" by ")[0] or "UNKNOWN").upper()


_PHASES: Mapping[JobState, str] = {
    JobState.SUCCEEDED: "completed",
    JobState.RUNNING: "running",
    JobState.PENDING: "pending",
    JobState.BUILDING: "pending",
    JobState.CANCELLED: "cancelled",
    JobState.GONE: "gone",
    JobState.UNKNOWN: "unknown",
}
_ORDER = ("failed", "cancelled", "gone", "running", "pending", "unknown")


def summed_up(states: Sequence[JobState], results: Iterable[str] = ()) -> str:
    """Several jobs in one line; empty for one alone.

    >>> summed_up([JobState.SUCCEEDED, JobState.SUCCEEDED, JobState.RUNNING, JobState.PENDING])
    '2 of 4 completed, 1 running, 1 pending'
    """
    if len(states) < 2:
        return ""
    counts = Counter(_PHASES.get(state, "failed") for state in states)
    outcomes = "; ".join(result for result in results if result)
    first = (
        f"{counts['completed']} of {len(states)} completed{f' ({outcomes})' if outcomes else ''}"
    )
    return ", ".join([first, *(f"{counts[name]} {name}" for name in _ORDER if counts[name])])
