"""CRC-32C as TensorBoard's files have it."""

_MASK = 0xA282EAD8


def compute_masked_checksum(data: bytes) -> int:
    """The masked checksum (rotated and offset), so that a checksum of data that contains checksums
    is not one of them.
    """
    import google_crc32c  # imported only if such a file is read

    crc: int = google_crc32c.value(data)
    return ((crc >> 15 | crc << 17) + _MASK) & 0xFFFFFFFF
