"""What a fork changes of the run that it starts from. Names of its own do not count as changes."""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from herorun.core.clock_skew import SKEW
from herorun.core.config.diff import ConfigChange, diff_launches
from herorun.core.config.normalise import same
from herorun.core.contract import Config, KeyClass
from herorun.core.evidence import RecordedLaunch, SourceLaunches
from herorun.core.lazy_dataclass import dataclass
from herorun.core.plan import StartPoint


@dataclass(frozen=True)
class InheritedChanges:
    """The differences from the launch that wrote the start checkpoint.

    `own` are the names that every fork has of its own: root, tracker id, slug, the checkpoint
    itself.
    """

    unsigned: tuple[ConfigChange, ...]  # they change the training, or the state does not fit them
    other: tuple[ConfigChange, ...]
    own: tuple[ConfigChange, ...]


def writer_of(source: SourceLaunches, modified_at: datetime | None) -> RecordedLaunch:
    """The launch that wrote the checkpoint: the newest before its writing, where the store tells a
    time.
    """
    before = [
        each for each in source.launches if modified_at is None or each.at - SKEW <= modified_at
    ]
    return (before or source.launches)[-1]


def compute_inheritance(
    before: RecordedLaunch, plan: Mapping[str, Any], start: StartPoint, config: Config
) -> InheritedChanges:
    changes = diff_launches(before.plan, plan, config)
    names = _rename_pairs(before.plan, plan, before.slug)
    own = [change for change in changes if _is_own(change, names, start.path)]
    unexplained_changes = [change for change in changes if change not in own]
    full_state = start.kind == "full-state"
    unsigned_changes = [
        c
        for c in unexplained_changes
        if c.steers or (full_state and c.kind is KeyClass.RESUME_BREAKING)
    ]
    return InheritedChanges(
        tuple(unsigned_changes),
        tuple(c for c in unexplained_changes if c not in unsigned_changes),
        tuple(own),
    )


def _rename_pairs(
    before: Mapping[str, Any], after: Mapping[str, Any], slug: str
) -> tuple[tuple[str, str], ...]:
    """Pairs of an old name and its new one, the longest first: a root may hold the slug."""
    pairs = {old: new for old, new in _pairs(before, after, slug) if old and new and old != new}
    return tuple(sorted(pairs.items(), key=lambda pair: -len(pair[0])))


def _pairs(
    before: Mapping[str, Any], after: Mapping[str, Any], slug: str
) -> Iterator[tuple[str, str]]:
    old, new = before.get("tracker") or {}, after.get("tracker") or {}
    yield slug, str(new.get("id") or "")
    for name in ("id", "name"):
        yield str(old.get(name) or ""), str(new.get(name) or "")
    for root in ("output_root", "temporary_root"):
        yield str(before.get(root) or ""), str(after.get(root) or "")


def _is_own(change: ConfigChange, names: tuple[tuple[str, str], ...], start: str) -> bool:
    if start in str(change.after):
        return True
    if not isinstance(change.before, str) or not isinstance(change.after, str):
        return False
    return same(_replace_names(change.before, names), change.after)


def _replace_names(text: str, names: tuple[tuple[str, str], ...]) -> str:
    """Each name as a whole word, all at once: what was renamed is not renamed again."""
    if not names:
        return text
    old_name_pattern = "|".join(
        rf"(?<![A-Za-z0-9]){re.escape(old)}(?![A-Za-z0-9])" for old, _ in names
    )
    new = dict(names)
    return re.sub(old_name_pattern, lambda match: new[match[0]], text)
