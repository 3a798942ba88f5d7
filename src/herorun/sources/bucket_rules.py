"""What the stores say of the run's roots and of the start checkpoint: where they lie, and what
deletes them.

A store that will not say is noted for its root; the others are asked all the same.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TypeVar

from herorun.core.contract import Contract, parse_duration
from herorun.core.errors import describe_error
from herorun.core.evidence import RootFacts
from herorun.core.lazy_regex import lazy_regex
from herorun.core.ports import LifecycleRule, Store
from herorun.core.redaction.scrub import scrub

T = TypeVar("T")
_LIFETIME = lazy_regex(r"ttl=([0-9]+(?:ms|s|m|h|d))")


def read_root_facts(contract: Contract, store: Store) -> RootFacts:
    """Regions are asked for only where `[hardware] region` is stated: nothing else needs them."""
    start = (contract.start.from_ or "").rstrip("/")
    output = contract.output
    roots = [root.rstrip("/") or "/" for root in (output.root, output.temporary_root) if root]
    roots = list(dict.fromkeys([*roots, start] if start else roots))
    regions, no_regions = _each(roots if contract.hardware.region else [], store.region)
    rules, no_rules = _each(roots, lambda root: (*lifetimes(root), *store.rules(root)))
    # A folder's own name shows it even if the store does not.
    rules |= {root: root_rules for root in no_rules if (root_rules := lifetimes(root))}
    expires, no_times = _each(
        [start] if start in rules else [], lambda path: _expiry(store, path, rules[path])
    )
    return RootFacts(
        regions if contract.hardware.region else dict.fromkeys(roots),
        {
            root: tuple(rule.description for rule in root_rules if not rule.untold)
            for root, root_rules in rules.items()
        },
        {path: when for path, when in expires.items() if when},
        no_regions,
        no_rules | no_times,
        {
            root: rule.description
            for root, root_rules in rules.items()
            for rule in root_rules
            if rule.untold
        },
    )


def _each(roots: list[str], ask: Callable[[str], T]) -> tuple[dict[str, T], dict[str, str]]:
    """Answers by root, and by root why there is none."""
    answers: dict[str, T] = {}
    why: dict[str, str] = {}
    for root in roots:
        try:
            answers[root] = ask(root)
        except OSError as error:
            why[root] = scrub(describe_error(error))
    return answers, why


def lifetimes(root: str) -> tuple[LifecycleRule, ...]:
    """A folder called `ttl=14d` says that a lifecycle deletes what lies in it after 14 days."""
    matches = [match for part in root.split("/") if (match := _LIFETIME.fullmatch(part))]
    return tuple(
        LifecycleRule(
            f"the folder {match[0]} names a lifecycle: what lies in it is deleted after {match[1]}",
            span,
        )
        for match in matches
        if isinstance(span := parse_duration(match[1]), timedelta)
    )


def _expiry(store: Store, path: str, rules: tuple[LifecycleRule, ...]) -> datetime | None:
    """When the first of its files goes: without any one of them it is no checkpoint."""
    spans = [rule.deletes_after for rule in rules if rule.deletes_after]
    if not spans:
        return None
    try:
        times = [entry.modified for entry in store.entries(path) if entry.modified]
    except FileNotFoundError:
        return None  # it is not there: another check says so
    return min(times) + min(spans) if times else None
