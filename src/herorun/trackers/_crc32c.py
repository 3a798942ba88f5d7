"""CRC-32C as TensorBoard's files have it: by the compiled package where that is installed, else by
a table.
"""

from collections.abc import Callable
from functools import cache

_POLYNOMIAL = 0x82F63B78  # Castagnoli's, reflected
_MASK = 0xA282EAD8


def masked(data: bytes) -> int:
    """The checksum, turned and moved, so that a checksum of data with checksums in it is none of
    theirs.
    """
    crc = checksum()(data)
    return ((crc >> 15 | crc << 17) + _MASK) & 0xFFFFFFFF


@cache
def checksum() -> Callable[[bytes], int]:
    """Imported only where a file is read: 20 times as fast as the table, and not everywhere."""
    try:
        import google_crc32c
    except ImportError:
        return by_table
    compiled: Callable[[bytes], int] = google_crc32c.value
    return compiled if google_crc32c.implementation == "c" else by_table


def by_table(data: bytes) -> int:
    table, crc = _build_table(), 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


@cache
def _build_table() -> tuple[int, ...]:
    return tuple(_compute_entry(byte) for byte in range(256))


def _compute_entry(crc: int) -> int:
    for _ in range(8):
        crc = crc >> 1 ^ (_POLYNOMIAL if crc & 1 else 0)
    return crc
