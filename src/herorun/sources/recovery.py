"""The checkpoint that a recovery would start from: when a rule deletes it, and how long its save
took.
"""

from datetime import datetime, timedelta

from herorun.core.contract import Contract
from herorun.core.errors import describe_error
from herorun.core.evidence import Candidate, Checkpoints, History, Nothing, RecoverySource, SaveTime
from herorun.core.lineage import acceptable
from herorun.core.ports import LifecycleRule, Store
from herorun.core.redaction.scrub import scrub
from herorun.sources.bucket_rules import lifetimes


def read_recovery_source(
    contract: Contract, store: Store, checkpoints: Checkpoints, history: History
) -> RecoverySource | Nothing:
    """The newest complete checkpoint that no finding excludes. If its store does not report rules,
    that is noted, not raised.
    """
    source = acceptable(checkpoints.candidates, contract, history).newest
    if source is None:
        return Nothing("there is no complete checkpoint to recover from")
    root = source.root.rstrip("/") or "/"
    rules, why = list(lifetimes(root)), ""
    try:
        rules += store.rules(root)
    except OSError as error:
        why = scrub(describe_error(error))
    deleting = [rule for rule in rules if rule.deletes_after]
    if not deleting:
        problem = next((rule.description for rule in rules if rule.unreported), "")
        return RecoverySource(source.path, source.step, unknown=why, unreported=problem)
    rule = min(deleting, key=_span)
    try:
        oldest = _file_times(store, source)
    except OSError as error:
        return RecoverySource(
            source.path, source.step, rule=rule.description, unknown=scrub(describe_error(error))
        )
    expires = min(oldest) + _span(rule) if oldest else None
    age_problem = "" if expires else "its store does not report its age"
    return RecoverySource(source.path, source.step, expires, rule.description, age_problem)


def read_save_time(store: Store, checkpoints: Checkpoints) -> SaveTime | Nothing:
    """The time between the oldest and the newest file of the newest complete checkpoint, if its
    store reports times.
    """
    newest = checkpoints.newest
    if newest is None:
        return Nothing("there is no complete checkpoint yet")
    try:
        times = _times(store, newest.path)
    except FileNotFoundError:
        return Nothing(f"{newest.path} is gone")
    except NotADirectoryError:
        return Nothing("a checkpoint is one file, which shows only when the save ended")
    if len(times) < 2:
        return Nothing("its store does not report how long a save takes")
    return SaveTime((max(times) - min(times)).total_seconds())


def _file_times(store: Store, source: Candidate) -> list[datetime]:
    """The times of all files, because each is needed; a checkpoint that is one file has one
    time.
    """
    try:
        times = _times(store, source.path)
    except NotADirectoryError:
        times = []
    return times or ([source.modified] if source.modified else [])


def _span(rule: LifecycleRule) -> timedelta:
    return rule.deletes_after or timedelta.max


def _times(store: Store, path: str) -> list[datetime]:
    return [entry.modified for entry in store.entries(path) if entry.modified]
