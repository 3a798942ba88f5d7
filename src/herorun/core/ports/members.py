"""The members that an adapter of each port must have."""

from collections.abc import Mapping

# old -> new, by port: an optional member that nothing reads any more would be ignored in silence
RENAMED: Mapping[str, Mapping[str, str]] = {
    "schedulers": {
        "everywhere": "cluster_wide",
        "live": "live_jobs",
        "look": "snapshot",
        "by": "with_snapshot",
        "beside": "other_jobs",
        "secrets_road": "secrets_source",
    },
    "schedulers.external": {"look": "find_job"},
}


def members(port: type) -> frozenset[str]:
    """The names that a port declares: its methods, and its attributes.

    >>> from herorun.core.ports import Notifier
    >>> sorted(members(Notifier))
    ['find', 'post']
    """
    own = [base for base in port.__mro__ if getattr(base, "_is_protocol", False)]
    names = {name for base in own for name in (*vars(base), *base.__annotations__)}
    return frozenset(name for name in names if not name.startswith("_"))


def missing_members(port: type, adapter: object) -> tuple[str, ...]:
    """Those that an adapter, or its class, has not, in order."""
    return tuple(sorted(name for name in members(port) if not hasattr(adapter, name)))


def renamed_members(port: str, adapter: object) -> tuple[str, ...]:
    """Members that an adapter has by an older name alone, each as `old -> new`.

    >>> class Older:
    ...     look, snapshot, beside = 1, 2, 3
    >>> renamed_members("schedulers", Older())
    ('beside -> other_jobs',)
    """
    return tuple(
        f"{old} -> {new}"
        for old, new in RENAMED.get(port, {}).items()
        if hasattr(adapter, old) and not hasattr(adapter, new)
    )
