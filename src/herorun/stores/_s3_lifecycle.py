"""The rules of an S3 bucket: lifecycle, object lock, versioning. Each is asked for apart."""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from herorun.core.durations import format_duration
from herorun.core.ports import LifecycleRule
from herorun.stores._fsspec import MalformedAnswer
from herorun.stores._lifecycle import covers, expiry
from herorun.stores._objects import ObjectPath
from herorun.stores._s3_client import ask, error_code

ABSENT = {"NoSuchLifecycleConfiguration", "ObjectLockConfigurationNotFoundError"}


async def rules_of(fs: Any, at: ObjectPath) -> tuple[LifecycleRule, ...]:
    """What deletes or locks objects under a root, now or by age."""
    lifecycle = await _rules_part(fs, "get_bucket_lifecycle_configuration", at, "Rules")
    lock = await _rules_part(fs, "get_object_lock_configuration", at, "ObjectLockConfiguration")
    versioning = await ask(fs, "get_bucket_versioning", Bucket=at.bucket)
    return (*_lifecycle(lifecycle, at.prefix), *_lock(lock), *_versions(versioning))


async def _rules_part(fs: Any, method: str, at: ObjectPath, part: str) -> Mapping[str, Any]:
    """None at all is an error of its own there: an answer without its part is no answer."""
    try:
        answer: Mapping[str, Any] = await ask(fs, method, Bucket=at.bucket)
    except Exception as error:
        if error_code(error) in ABSENT:
            return {}
        raise
    if part not in answer:
        raise MalformedAnswer("an answer without rules")
    return answer


def _lifecycle(answer: Mapping[str, Any], root: str) -> Iterator[LifecycleRule]:
    for rule in answer.get("Rules", ()):
        expiration = rule.get("Expiration", {})
        if rule.get("Status") != "Enabled" or not expiration.keys() & {"Days", "Date"}:
            continue
        prefixes, only = _filter(rule)
        if "Days" in expiration:
            yield from expiry(prefixes, root, int(expiration["Days"]), only)
        elif covers(prefixes, root)[0]:
            yield LifecycleRule(
                f"the bucket deletes objects at {expiration['Date']:%Y-%m-%dT%H:%MZ} {only}".strip()
            )


def _filter(rule: Mapping[str, Any]) -> tuple[tuple[str, ...], str]:
    """The prefixes that a rule is for, and in words what else must hold of an object."""
    answer = rule.get("Filter", {})
    answer = {**answer, **answer.get("And", {})}
    prefix = answer.get("Prefix") or rule.get("Prefix") or ""
    further = sorted(answer.keys() - {"And", "Prefix"})
    return (
        (prefix,) if prefix else ()
    ), f"(where also {', '.join(further)} hold)" if further else ""


def _lock(answer: Mapping[str, Any]) -> Iterator[LifecycleRule]:
    default_retention = (
        answer.get("ObjectLockConfiguration", {}).get("Rule", {}).get("DefaultRetention", {})
    )
    days = default_retention.get("Days", 0) or 365 * default_retention.get("Years", 0)
    if days:
        span = format_duration(timedelta(days=days))
        yield LifecycleRule(
            f"the bucket's object lock forbids to delete what was written for {span}"
        )


def _versions(answer: Mapping[str, Any]) -> Iterator[LifecycleRule]:
    if answer.get("Status") == "Enabled":
        yield LifecycleRule("what is replaced or deleted stays as an old version (versioning)")
