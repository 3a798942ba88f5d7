"""The rules of a Cloud Storage bucket, from its own description."""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from herorun.core.durations import format_duration
from herorun.core.ports import LifecycleRule
from herorun.stores._lifecycle import expiry

_HARMLESS = {"age", "matchesPrefix", "isLive"}  # any further condition leaves some objects alone


def rules_of(bucket: Mapping[str, Any], root: str) -> tuple[LifecycleRule, ...]:
    """What deletes or locks objects under a root, `a/b/`, now or by age."""
    return (*_lifecycle(bucket, root), *_locks(bucket))


def _lifecycle(bucket: Mapping[str, Any], root: str) -> Iterator[LifecycleRule]:
    for rule in bucket.get("lifecycle", {}).get("rule", ()):
        condition = rule.get("condition", {})
        if rule.get("action", {}).get("type") != "Delete" or not _live(condition):
            continue
        further = sorted(condition.keys() - _HARMLESS)
        only = f"(where also {', '.join(further)} hold)" if further else ""
        prefixes = tuple(condition.get("matchesPrefix", ()))
        if "age" in condition:
            yield from expiry(prefixes, root, int(condition["age"]), only)
        elif expiry(prefixes, root, 0):
            yield LifecycleRule(f"the bucket deletes objects {only}".strip())


def _live(condition: Mapping[str, Any]) -> bool:
    """Whether it applies to live objects, and not only to replaced versions."""
    return condition.get("isLive") is not False and "numNewerVersions" not in condition


def _locks(bucket: Mapping[str, Any]) -> Iterator[LifecycleRule]:
    seconds = int(bucket.get("retentionPolicy", {}).get("retentionPeriod", 0))
    if seconds:
        span = format_duration(timedelta(seconds=seconds))
        yield LifecycleRule(
            f"the bucket's retention policy forbids to replace or delete an object for {span}"
        )
    if bucket.get("defaultEventBasedHold"):
        yield LifecycleRule(
            "every new object of the bucket gets an event-based hold: it cannot be replaced or "
            "deleted until the hold is removed"
        )
    soft = int(bucket.get("softDeletePolicy", {}).get("retentionDurationSeconds", 0))
    if soft:
        yield LifecycleRule(
            f"what is deleted is kept, and paid for, {format_duration(timedelta(seconds=soft))} "
            "longer (soft delete)"
        )
    if bucket.get("versioning", {}).get("enabled"):
        yield LifecycleRule("what is replaced or deleted stays as an old version (versioning)")
