"""The identity of a launch in the record, independent of the event's version. Pure."""

from collections.abc import Mapping

from herorun.core.canonical_json import digest, plain
from herorun.core.event import Launching


def launch_id(launching: Launching) -> str:
    """The same for an event that was written before its kind had some of its fields."""
    adopts = launching.adopts.job if launching.adopts else ""
    plan = {
        name: entry.get("value")
        for name, entry in launching.plan.items()
        if isinstance(entry, Mapping)
    }
    whose = [launching.instance, launching.number, launching.at, launching.contract_file, adopts]
    return digest([*map(plain, whose), launching.plan_digest, plain(plan)])
