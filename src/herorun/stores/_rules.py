"""What a bucket's rules say of a root, in words."""

from datetime import timedelta

from herorun.core.ports import Rule


def covers(prefixes: tuple[str, ...], root: str) -> tuple[bool, bool]:
    """Whether a rule for these prefixes reaches into a root, and whether it reaches all of it. None: everything."""
    if not prefixes:
        return True, True
    whole = any(root.startswith(prefix) for prefix in prefixes)
    return whole or any(prefix.startswith(root) for prefix in prefixes), whole


def expiry(prefixes: tuple[str, ...], root: str, days: int, only: str = "") -> tuple[Rule, ...]:
    """The rule that deletes by age; `only` says which objects, where it is not all of them."""
    touches, whole = covers(prefixes, root)
    if not touches:
        return ()
    where = f" under {', '.join(prefixes)}" if prefixes else ""
    words = f"the bucket deletes objects{where}{f' {only}' if only else ''} {said(timedelta(days=days))} after they were written"
    return (Rule(words, timedelta(days=days) if whole and not only else None),)


def said(span: timedelta) -> str:
    """`14 days`, `36 hours`, `90 seconds`."""
    seconds = int(span.total_seconds())
    for size, unit in ((86400, "day"), (3600, "hour")):
        if seconds and seconds % size == 0:
            count = seconds // size
            return f"{count} {unit}{'s' if count != 1 else ''}"
    return f"{seconds} seconds"
