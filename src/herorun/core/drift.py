"""Differences between two contracts, and the gate's result for each."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from herorun.core.evidence import ContractDrift
from herorun.core.finding import Verdict, failed, few, passed

UNSET = "not set"


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[str, ...]:
    """One line a key, dotted, before and after.

    >>> differences({"checkpoints": {"keep": 10}}, {"checkpoints": {"keep": 3}})
    ('checkpoints.keep: 10 -> 3',)
    """
    old, new = dict(_flat(before)), dict(_flat(after))
    return tuple(
        f"{key}: {old.get(key, UNSET)} -> {new.get(key, UNSET)}"
        for key in sorted(old.keys() | new.keys())
        if old.get(key) != new.get(key)
    )


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Dotted keys; a list is one value, and an empty key is as good as none."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        elif value is not None:
            yield f"{prefix}{key}", json.dumps(value, default=str, ensure_ascii=False)


def drift_verdict(drift: ContractDrift, consequence: str) -> Verdict:
    """The one question that two gates ask; each says what follows."""
    if not drift.tables and not drift.problem:
        return passed(f"unchanged since {drift.instance} was admitted", subject=drift.instance)
    reason = drift.problem or (f"changed since {drift.instance} was admitted: {few(drift.tables)}")
    return failed(f"{reason}; {consequence}", *drift.tables, subject=drift.instance)
