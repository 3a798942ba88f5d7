"""Digests from reading the files: converts the answer of `system/_parallel_sha256.py` to the port's
types.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from herorun.core.ports import FileDigest

KIND = "sha256"


def as_digests(events: Iterable[list[Any]]) -> Iterator[int | FileDigest]:
    for count, *file in events:
        if not file:
            yield int(count)
            continue
        name, size, value, stamp = file
        yield FileDigest(str(name), int(size), f"{KIND}:{value}" if value else "", stamp=str(stamp))


def stamps(digests: Mapping[str, FileDigest]) -> dict[str, list[str]]:
    """Stamp and bare value by name, as what travels takes them."""
    return {name: [each.stamp, each.checksum.partition(":")[2]] for name, each in digests.items()}
