"""Describes how a bucket's rules affect a root."""

from datetime import timedelta

from herorun.core.durations import format_duration
from herorun.core.ports import LifecycleRule


def covers(prefixes: tuple[str, ...], root: str) -> tuple[bool, bool]:
    """Whether a rule for these prefixes reaches into a root, and whether it reaches all of it.
    None: everything.
    """
    if not prefixes:
        return True, True
    is_full = any(root.startswith(prefix) for prefix in prefixes)
    return is_full or any(prefix.startswith(root) for prefix in prefixes), is_full


def expiry(
    prefixes: tuple[str, ...], root: str, days: int, only: str = ""
) -> tuple[LifecycleRule, ...]:
    """The rule that deletes by age; `only` says which objects, where it is not all of them."""
    touches, is_full = covers(prefixes, root)
    if not touches:
        return ()
    where = f" under {', '.join(prefixes)}" if prefixes else ""
    message = (
        f"the bucket deletes objects{where}{f' {only}' if only else ''} "
        f"{format_duration(timedelta(days=days))} after they were written"
    )
    return (LifecycleRule(message, timedelta(days=days) if is_full and not only else None),)
