"""The members that an adapter of each port must have."""


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
