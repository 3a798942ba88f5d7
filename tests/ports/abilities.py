"""Whether an adapter has the optional members of its port as these are declared: one with other
parameters would fail where it is first asked, in the middle of a run.
"""

import inspect
from collections.abc import Mapping
from typing import Any

from herorun.adapters import PORTS
from herorun.core.evidence import TrackerTraits
from herorun.core.ports import SchedulerTraits, members
from herorun.core.ports.abilities import ABILITIES

TRAITS: Mapping[str, type] = {"schedulers": SchedulerTraits, "trackers": TrackerTraits}


def misshapen_members(port: str, adapter: Any) -> list[str]:
    """Members of the port and of its abilities that take other parameters than declared."""
    return [
        f"{name}{inspect.signature(own)}"
        for protocol in _protocols(port)
        for name in sorted(members(protocol))
        if callable(declared_member := getattr(protocol, name, None))
        and callable(own := getattr(adapter, name, None))
        and not _fits(_parameters(declared_member), _parameters(own))
    ]


def declared_members(port: str) -> frozenset[str]:
    traits = getattr(TRAITS.get(port), "__annotations__", {})
    return frozenset(traits).union(*(members(protocol) for protocol in _protocols(port)))


def _protocols(port: str) -> tuple[type, ...]:
    return (PORTS[port], *ABILITIES.get(port, ()))


def _parameters(function: Any) -> list[inspect.Parameter]:
    parameters = inspect.signature(function).parameters.values()
    return [parameter for parameter in parameters if parameter.name != "self"]


def _fits(declared_parameters: list[inspect.Parameter], own: list[inspect.Parameter]) -> bool:
    """Whether it takes the declared parameters, by place and by name, and needs no others."""
    names = [parameter.name for parameter in own[: len(declared_parameters)]]
    return names == [parameter.name for parameter in declared_parameters] and all(
        parameter.default is not parameter.empty for parameter in own[len(declared_parameters) :]
    )
