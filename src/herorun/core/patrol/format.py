"""Sizes and figures, for people. Pure."""

from herorun.core.lazy_regex import lazy_regex

# more digits than a person compares; a time of day has such a fraction too, and keeps it
_LONG_FRACTION = lazy_regex(r"(?<![\w.])(?<!\d:)\d+\.\d{7,}(?:[eE][+-]?\d+)?(?![\w.])")


def short_figures(text: str) -> str:
    """The text with at most 4 decimals of each number, or 4 significant digits below 1.

    >>> short_figures("step 4: loss=2.3456789012345678, lr 0.00029999999999999")
    'step 4: loss=2.3457, lr 0.0003'
    """
    return _LONG_FRACTION.sub(lambda match: _short(float(match[0])), text)


def _short(value: float) -> str:
    return f"{value:.4g}" if value < 1 or value >= 1e16 else f"{round(value, 4)}"


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
