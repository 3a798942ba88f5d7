"""herorun governs hero runs: training runs so expensive that a bad launch, a confused resume or a
silent monitor costs real money.

The front door is lazy: `import herorun` costs next to nothing, and `herorun.check_in` needs the
standard library alone.
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from herorun.api import launch, load, preflight, seal
    from herorun.checkin import Refused, check_in
    from herorun.core.contract import Contract
    from herorun.core.errors import Blocked, CouldNotLook, HandedOver, HerorunError, WrongUse
    from herorun.log import log

__all__ = [
    "Blocked",
    "Contract",
    "CouldNotLook",
    "HandedOver",
    "HerorunError",
    "Refused",
    "WrongUse",
    "check_in",
    "launch",
    "load",
    "log",
    "preflight",
    "seal",
]

_HOMES = {
    "Blocked": "herorun.core.errors",
    "Contract": "herorun.core.contract",
    "CouldNotLook": "herorun.core.errors",
    "HandedOver": "herorun.core.errors",
    "HerorunError": "herorun.core.errors",
    "Refused": "herorun.checkin",
    "WrongUse": "herorun.core.errors",
    "check_in": "herorun.checkin",
    "launch": "herorun.api",
    "load": "herorun.api",
    "log": "herorun.log",
    "preflight": "herorun.api",
    "seal": "herorun.api",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'herorun' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value  # in the place of a module of the same name, as `herorun.log`
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
