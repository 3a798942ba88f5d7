"""What an intended launch says, read from the plan that it carries."""

from collections.abc import Mapping, Sequence
from typing import Any

from herorun.core.canonical_json import digest, plain
from herorun.core.event import Launching
from herorun.core.evidence import Instance, LaunchedEdits
from herorun.core.lazy_regex import lazy_regex
from herorun.core.once_per_object import once_per_object

_OWNER = lazy_regex(r"[\w.\\+-][\w.\\+@-]{0,100}@[\w.-]{1,100}")


def matches_intent(instance: Instance, launching: Launching | None) -> bool:
    """Whether an instance is what its launch intended."""
    if launching is None:
        return False
    plan = launching.plan
    intent = launching.plan_digest, plan_value(plan, "output_root"), plan_value(plan, "commit")
    return (instance.plan_digest, instance.output_root, instance.commit) == intent


def unintended_instances(
    instances: Sequence[Instance], launchings: Mapping[str, Launching]
) -> tuple[Instance, ...]:
    """Instances that no launch intended like this, and those that name another job for one that was
    there before.
    """
    first: dict[str, Instance] = {}
    for instance in instances:
        first.setdefault(instance.name, instance)
    return tuple(
        each
        for each in instances
        if not matches_intent(each, launchings.get(each.name)) or each.job != first[each.name].job
    )


def launched_edits(launchings: Sequence[Launching]) -> LaunchedEdits:
    """The edits with which these were launched, by the instance."""
    patches = {
        each.instance: patch for each in launchings if (patch := plan_value(each.plan, "patch"))
    }
    unnamed_edits = (
        each.instance
        for each in launchings
        if each.instance not in patches and plan_value(each.plan, "in_place") and each.dirty != "no"
    )
    return LaunchedEdits(patches, tuple(unnamed_edits))


def plan_value(plan: Mapping[str, Any], name: str) -> Any:
    """One value of a plan as the journal keeps it, with its source."""
    plan_entry = plan.get(name)
    return plan_entry.get("value") if isinstance(plan_entry, Mapping) else None


def plan_values(plan: Mapping[str, Any]) -> dict[str, Any]:
    """All of them, by their names."""
    return {name: plan_entry["value"] for name, plan_entry in plan.items()}


def start_step(launching: Launching) -> int | None:
    """The completed updates that a launch starts from; None if unknown.

    0 from scratch, and where weights alone are taken over: then the steps are counted from 0 again.
    """
    start = plan_value(launching.plan, "start")
    if not isinstance(start, Mapping) or start.get("kind") == "weights-only":
        return 0
    step = start.get("step")
    return step if isinstance(step, int) else None


def launcher_of(launching: Launching | None) -> str:
    """`user@machine` that launched it. Empty if the record, which others may push, names something
    else: posts page a person whose handle is named as the DRI.
    """
    return launching.by if launching and _OWNER.fullmatch(launching.by) else ""


@once_per_object
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
