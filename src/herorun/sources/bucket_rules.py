"""What the stores report about the run's roots and the start checkpoint: their region, and the
rules that delete them.

A store that does not report is noted for its root; the others are still queried.
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
    """Reads rules, and regions only if `[hardware] region` is stated, because nothing else needs
    them.
    """
    start = (contract.start.from_ or "").rstrip("/")
    output = contract.output
    roots = [root.rstrip("/") or "/" for root in (output.root, output.temporary_root) if root]
    roots = list(dict.fromkeys([*roots, start] if start else roots))
    regions, no_regions = _each(roots if contract.hardware.region else [], store.region)
    rules, no_rules = _each(roots, lambda root: (*lifetimes(root), *store.rules(root)))
    # A folder's name may state a rule even if the store reports none.
    rules |= {root: root_rules for root in no_rules if (root_rules := lifetimes(root))}
    expires, no_times = _each(
        [start] if start in rules else [], lambda path: _expiry(store, path, rules[path])
    )
    return RootFacts(
        regions if contract.hardware.region else dict.fromkeys(roots),
        {
            root: tuple(rule.description for rule in root_rules if not rule.unreported)
            for root, root_rules in rules.items()
        },
        {path: when for path, when in expires.items() if when},
        no_regions,
        no_rules | no_times,
        {
            root: rule.description
            for root, root_rules in rules.items()
            for rule in root_rules
            if rule.unreported
        },
    )


def _each(roots: list[str], ask: Callable[[str], T]) -> tuple[dict[str, T], dict[str, str]]:
    """The answers by root, and the errors by root."""
    answers: dict[str, T] = {}
    why: dict[str, str] = {}
    for root in roots:
        try:
            answers[root] = ask(root)
        except OSError as error:
            why[root] = scrub(describe_error(error))
    return answers, why


def lifetimes(root: str) -> tuple[LifecycleRule, ...]:
    """The rules by folder names: `ttl=14d` means that a lifecycle deletes the content after 14
    days.
    """
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
    """When the first of the checkpoint's files is deleted: without it the checkpoint is
    incomplete.
    """
    spans = [rule.deletes_after for rule in rules if rule.deletes_after]
    if not spans:
        return None
    try:
        times = [entry.modified for entry in store.entries(path) if entry.modified]
    except FileNotFoundError:
        return None  # it does not exist: another check reports that
    return min(times) + min(spans) if times else None
