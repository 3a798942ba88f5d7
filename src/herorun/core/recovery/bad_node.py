"""Replaces the machine of a bad TPU, the only permitted change of a cluster. Returns commands as
text and runs none.

The worker's address leads to the name of its virtual machine; that one is deleted, and its cluster
replaces it.
"""

import json
from collections.abc import Sequence
from datetime import datetime

from herorun.core.untrusted_json import parse_utc

_NAME = "tpu-vm"


def list_command(zone: str) -> tuple[str, ...]:
    """Every TPU machine of a zone with its addresses, as JSON."""
    return ("gcloud", "compute", "tpus", _NAME, "list", "--zone", zone, "--format=json")


def delete_command(name: str, zone: str) -> tuple[str, ...]:
    return ("gcloud", "compute", "tpus", _NAME, "delete", name, "--zone", zone, "--quiet")


def machine_at(listing: str, worker: str, ended_at: datetime) -> str | None:
    """The name of the machine that had that address when the job ended; None if it is gone.

    A machine that was created later is a new, healthy one: a cluster reuses the address of a
    deleted machine. ValueError if the answer cannot be read, or if two machines have the address.
    """
    machines = json.loads(listing)
    if not isinstance(machines, list):
        raise ValueError("the list of machines is not a JSON list")
    matching = (machine for machine in machines if worker in _addresses(machine))
    names = {
        _node_name(machine) for machine in matching if _parse_creation_time(machine) <= ended_at
    }
    if len(names) > 1:
        raise ValueError(f"several machines ({len(names)}) have the address {worker}")
    return names.pop() if names else None


def _node_name(machine: object) -> str:
    """`projects/p/locations/z/nodes/name` or the name itself."""
    name = machine.get("name") if isinstance(machine, dict) else None
    if not isinstance(name, str) or not name:
        raise ValueError("a machine has no name")
    return name.rpartition("/")[2]


def _parse_creation_time(machine: object) -> datetime:
    text = machine.get("createTime") if isinstance(machine, dict) else None
    if (made_at := parse_utc(str(text))) is None:
        raise ValueError("its createTime is missing, so it may be another machine")
    return made_at


def _addresses(machine: object) -> set[str]:
    """The machine's internal and external addresses."""
    points = machine.get("networkEndpoints", []) if isinstance(machine, dict) else []
    addresses = {str(point.get("ipAddress", "")) for point in points if isinstance(point, dict)}
    outside = (point.get("accessConfig") for point in points if isinstance(point, dict))
    return addresses | {
        str(access.get("externalIp", "")) for access in outside if isinstance(access, dict)
    }


def describe_replacement(worker: str, zone: str) -> str:
    """The commands for a person, with placeholders for unknown values."""
    where = zone or "ZONE"
    return (
        f"find the machine of worker {worker or '(its address is in the log)'} with "
        f"`{_join_argv(list_command(where))}`, delete it with "
        f"`{_join_argv(delete_command('NAME', where))}`, then relaunch"
    )


def _join_argv(argv: Sequence[str]) -> str:
    return " ".join(argv)
