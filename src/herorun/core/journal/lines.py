"""The journal's lines and the chain that they make.

A line holds `v` (the journal's version), `id` (the event's own digest, the same wherever it is
re-applied), `kind`, the event's fields, `prev` (the hash of the line before) and `hash` (over all
of that).
"""

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from herorun.core.canonical_json import canonical, canonical_json, digest_of, plain
from herorun.core.decode import EPOCH, decode
from herorun.core.event import KINDS, Event, Newer
from herorun.core.lazy_dataclass import dataclass
from herorun.core.redaction.scrub import scrub_tree
from herorun.core.untrusted_json import read_json

VERSION = 1
START = ""  # the `prev` of the first line
_SHORT = {"id", "kind", "prev", "v"}  # what stands behind the hash
UNKNOWN = "?"  # the `prev` or `hash` of a newer line, where it has none that we can read


class BrokenJournal(ValueError):
    """A line does not fit: says which and why."""


@dataclass(frozen=True)
class JournalLine:
    """One line of the journal, parsed."""

    event: Event
    id: str
    prev: str
    hash: str
    text: str
    # digest of its entry in the logbook, as it was written; empty where it has none
    entry: str = ""


def event_id(event: Event) -> str:
    """The event's own digest, without its place in the chain."""
    return _id_of(event.kind, plain(event))


def _id_of(kind: str, form: Mapping[str, Any]) -> str:
    return digest_of(canonical_json({"kind": kind, **form}))[7:23]


def write_line(event: Event, prev: str, entry: str = "") -> JournalLine:
    """`entry` is the digest of the event's logbook entry: a later rendering must not make an old
    entry look changed.
    """
    form = as_json(event)
    id_, kind = _id_of(event.kind, form), canonical_json(event.kind)
    # the fields of a line in their order; the event is the whole line, and is made into text once
    before = f'{{"entry":{canonical_json(entry)},' if entry else "{"
    before += f'"event":{canonical_json(form)}'
    after = f'"id":"{id_}","kind":{kind},"prev":{canonical_json(prev)},"v":{VERSION}}}'
    hash_ = digest_of(f"{before},{after}")
    return JournalLine(event, id_, prev, hash_, f'{before},"hash":"{hash_}",{after}', entry)


def chain(
    events: Iterable[Event], prev: str, entry_digest: Callable[[Event], str] = lambda _: ""
) -> list[JournalLine]:
    """Write events one after another, each naming the hash of the one before."""
    lines = []
    for event in events:
        line = write_line(event, prev, entry_digest(event))
        lines.append(line)
        prev = line.hash
    return lines


def read_line(text: str, place: str) -> JournalLine:
    """Parse one line and check its hash. A line of a newer version is kept as `Newer`, with the
    fields that can be read.
    """
    try:
        body = read_json(text)
        version = body["v"]
    except (ValueError, TypeError, KeyError):
        raise BrokenJournal(f"{place}: not a journal line") from None
    if not isinstance(version, int):
        raise BrokenJournal(f"{place}: its version is {version!r}, which is not a number")
    if version > VERSION:
        return _newer(body, version, text)
    try:
        claimed_hash = body.pop("hash")
        kind = KINDS[body["kind"]]
        event = decode(kind, body["event"])
        line = JournalLine(
            event, body["id"], body["prev"], claimed_hash, text, body.get("entry", "")
        )
    except (KeyError, TypeError, ValueError) as error:
        raise BrokenJournal(f"{place}: {str(error).splitlines()[0]}") from None
    try:
        own_text = canonical_json(body)
        canonical = _with_hash(own_text, body, claimed_hash)
        own = digest_of(own_text)
        # Of the words that were written: a field that a later version adds must not change an old
        # event's id.
        id_ = _id_of(body["kind"], body["event"])
    except (ValueError, RecursionError):  # a number that is not finite, or levels without end
        canonical = own = id_ = ""
    if canonical != text:
        raise BrokenJournal(f"{place}: not in the form that herorun writes: it was changed")
    if own != claimed_hash:
        raise BrokenJournal(f"{place}: the hash does not fit the line: it was changed")
    if id_ != line.id:
        raise BrokenJournal(f"{place}: the id does not fit the event: it was changed")
    return line


def _with_hash(text: str, body: Mapping[str, Any], hash_: Any) -> str:
    """The canonical JSON with the hash in its place, between `event` and `id`: nothing is encoded
    twice that may be long.
    """
    if body.keys() - {"entry"} == _SHORT | {"event"}:
        rest = canonical_json({name: body[name] for name in _SHORT})[1:]
        return f'{text.removesuffix(rest)}"hash":{canonical_json(hash_)},{rest}'
    return canonical_json({**body, "hash": hash_})


def _newer(body: Mapping[str, Any], version: int, text: str) -> JournalLine:
    fields = {name: value for name, value in body.items() if isinstance(value, str)}
    event = body.get("event")
    try:
        at = decode(datetime, event["at"]) if isinstance(event, Mapping) else EPOCH
    except (KeyError, TypeError, ValueError):
        at = EPOCH
    return JournalLine(
        Newer(at, version),
        fields.get("id", ""),
        fields.get("prev", UNKNOWN),
        fields.get("hash", UNKNOWN),
        text,
    )


def read_lines(texts: Iterable[tuple[str, str]], prev: str = START) -> list[JournalLine]:
    """Parse `(place, text)` pairs in order and check the chain."""
    lines = []
    for place, text in texts:
        line = read_line(text, place)
        if line.prev != prev and UNKNOWN not in (line.prev, prev):
            raise BrokenJournal(f"{place}: does not follow the line before it")
        lines.append(line)
        prev = line.hash
    return lines


def scrub_event(event: Event) -> Event:
    """The event without secrets, as it will be read back: what is rendered now is what will be
    rendered from the journal.
    """
    return decode(type(event), json.loads(canonical(scrub_tree(plain(event)))))


def as_json(value: Any) -> Mapping[str, Any]:
    """A value's plain form as a mapping, for an event that carries it."""
    form = plain(value)
    assert isinstance(form, dict)
    return form
