"""A cached state of the journal at one of its lines, so that a tick reads only the lines after it.

The journal stays the truth: this counts only for the very bytes that it was folded from, named by
their digests, and what comes after must follow from the last hash. It can always be made again.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from herorun.core.canonical_json import canonical, digest, plain, sha256
from herorun.core.decode import decode
from herorun.core.journal import Memory
from herorun.core.lazy_dataclass import dataclass
from herorun.core.taint import Health
from herorun.core.untrusted_json import read_json

FOLD = 18  # raise it with every change of what an event does to Memory


@dataclass(frozen=True, kw_only=True)
class JournalSnapshot:
    """Memory after all older segments and the first `size` bytes of the one called `newest`."""

    older: int  # segments
    of: str  # digest of their names and objects
    newest: str
    size: int  # bytes
    digest: str  # of those bytes
    hash: str  # of the last line among them
    id: str  # of its event
    lines: int  # all that were folded
    memory: Memory

    def is_of(self, segments: Sequence[tuple[str, str]]) -> bool:
        """Whether it was made of these segments, or of their beginning. Of the newest only the name
        is compared.
        """
        older = segments[: self.older]
        return (
            len(segments) > self.older
            and segments[self.older][0] == self.newest
            and digest_of_segments(older) == self.of
        )

    def is_prefix_of(self, data: bytes) -> bool:
        """Whether the newest segment still begins with the bytes that were folded."""
        return sha256(data[: self.size]).hexdigest() == self.digest


def build_snapshot(
    segments: Sequence[tuple[str, str]],
    data: bytes,
    last: tuple[str, str],
    lines: int,
    memory: Memory,
) -> JournalSnapshot:
    """The state after all these segments; `data` is the newest one's content, `last` the last
    line's hash and id.
    """
    last_hash, last_id = last
    data_digest = sha256(data).hexdigest()
    older = segments[:-1]
    return JournalSnapshot(
        older=len(older),
        of=digest_of_segments(older),
        newest=segments[-1][0],
        size=len(data),
        digest=data_digest,
        hash=last_hash,
        id=last_id,
        lines=lines,
        memory=memory,
    )


def digest_of_segments(older: Sequence[tuple[str, str]]) -> str:
    """By name and git's object, in their order."""
    return digest([list(each) for each in older])


def to_bytes(snapshot: JournalSnapshot, version: str) -> bytes:
    """One line of canonical JSON; empty where it would not come back as it is."""
    body = {"rules": _rules(version), **_snapshot_as_json(snapshot)}
    data = (canonical({**body, "sum": digest(body)}) + "\n").encode()
    return data if from_bytes(data, version) == snapshot else b""


def from_bytes(data: bytes, version: str) -> JournalSnapshot | None:
    """None for what is damaged, or was folded by other rules."""
    try:
        body = read_json(data)
        if body.pop("sum") != digest(body) or body.pop("rules") != _rules(version):
            return None
        memory_table = body["memory"]
        alerts, taints = memory_table.pop("alerts"), memory_table["health"].pop("open")
        snapshot = decode(JournalSnapshot, body)
        by_id = {
            alert.id: alert
            for alert in decode(Memory, {"alerts": _index_values(alerts)}).alerts.values()
        }
        still = decode(
            Health, {"open": _index_values([taint for _, taint in taints])}
        ).open.values()
        ids = [(str(check), str(subject)) for (check, subject), _ in taints]
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    health = replace(snapshot.memory.health, open=dict(zip(ids, still, strict=True)))
    return replace(snapshot, memory=replace(snapshot.memory, alerts=by_id, health=health))


def _index_values(values: Sequence[Any]) -> dict[tuple[str, str], Any]:
    return {("", str(number)): value for number, value in enumerate(values)}


def _snapshot_as_json(snapshot: JournalSnapshot) -> dict[str, Any]:
    """JSON has no pairs as keys: alerts and taints are listed."""
    memory = snapshot.memory
    bare = replace(memory, alerts={}, health=replace(memory.health, open={}))
    document: dict[str, Any] = plain(replace(snapshot, memory=bare))
    document["memory"]["alerts"] = plain(list(memory.alerts.values()))
    document["memory"]["health"]["open"] = [
        [list(key), plain(taint)] for key, taint in memory.health.open.items()
    ]
    return document


def _rules(version: str) -> str:
    """Names what folded it: another herorun, or another shape of Memory, folds again."""
    return f"{FOLD} {version} {digest([field.name for field in dataclasses.fields(Memory)])[7:19]}"
