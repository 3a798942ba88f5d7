"""Lengths of time in one form everywhere: `15m`, `1h30m`, `2d`. Pure.

The form is that of the contract's own durations, so that a printed one can be typed.
"""

from datetime import timedelta

_UNITS = (("d", 86400), ("h", 3600), ("m", 60), ("s", 1))


def format_duration(value: timedelta) -> str:
    """The shortest exact form, as a contract writes it.

    >>> [format_duration(timedelta(seconds=seconds)) for seconds in (900, 570, 172_800, 0.5)]
    ['15m', '570s', '2d', '0.5s']
    """
    seconds = value.total_seconds()
    for unit, size in _UNITS[:-1]:
        if seconds and seconds % size == 0:
            return f"{int(seconds // size)}{unit}"
    return f"{seconds:g}s"


def format_span(value: timedelta | float) -> str:
    """A measured length, in its two largest units; a float is seconds. Seconds are left out from
    ten minutes on.

    >>> [format_span(seconds) for seconds in (4.21, 42.4, 61, 754, 5_400, 97_500, 172_800, 0)]
    ['4.2s', '42s', '1m1s', '12m', '1h30m', '1d3h', '2d', '0s']
    """
    seconds = value.total_seconds() if isinstance(value, timedelta) else value
    if seconds < 0:
        return f"-{format_span(-seconds)}"
    if 0 < seconds < 10:
        return f"{seconds:.2g}s"
    remaining = round(seconds)
    parts: list[str] = []
    for unit, size in _UNITS:
        count, remaining = divmod(remaining, size)
        if parts and not (unit == "s" and seconds >= 600):
            return parts[0] + (f"{count}{unit}" if count else "")
        if count and not parts:
            parts.append(f"{count}{unit}")
    return parts[0] if parts else "0s"


def format_age(value: timedelta | float) -> str:
    """A measured length for a table, in whole seconds; a float is seconds.

    >>> [format_age(seconds) for seconds in (0.0098, 4.21, 61.4, -0.2, timedelta(seconds=-90))]
    ['<1s', '4s', '1m1s', '<1s', '-1m30s']
    """
    seconds = value.total_seconds() if isinstance(value, timedelta) else value
    return "<1s" if abs(seconds) < 1 else format_span(float(round(seconds)))
