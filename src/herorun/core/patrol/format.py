"""Sizes, for people. Pure."""


def size(count: float) -> str:
    """A number of bytes, with the largest binary unit below it.

    >>> size(1536)
    '2 KiB'
    """
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"
