"""CRC-32C as TensorBoard's files have it."""

_MASK = 0xA282EAD8


def masked(data: bytes) -> int:
    """The checksum, turned and moved, so that a checksum of data with checksums in it is none of
    theirs.
    """
    import google_crc32c  # only where such a file is read; without a C compiler it has a table

    crc: int = google_crc32c.value(data)
    return ((crc >> 15 | crc << 17) + _MASK) & 0xFFFFFFFF
