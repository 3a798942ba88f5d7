"""Compares this machine's recorded watchers with its process table."""

from collections.abc import Sequence
from pathlib import Path

from herorun.core.errors import HerorunError
from herorun.core.lazy_dataclass import dataclass
from herorun.record import Record
from herorun.schemas.machines import WatcherEntry, Watchers
from herorun.system import process_registry
from herorun.system.clock import now
from herorun.system.git import find_repository
from herorun.system.process_registry import RegisteredWatcher, UnregisteredProcess

SENTINEL_GRACE = 120.0  # seconds after its own limit that a wait may take for its last query


@dataclass(frozen=True)
class WatcherRow:
    """One watcher. `action` is what was done about it, or would be."""

    watcher: RegisteredWatcher | None
    path: Path
    state: str  # running, over, stale, damaged
    why: str = ""
    action: str = ""


def reconcile(act: bool) -> list[WatcherRow]:
    """Every watcher and its status. With `act`, stale ones are asked to end, and entries of ended
    ones are removed.
    """
    watchers = process_registry.registered_watchers()
    newest = {each.same_run: each for each in watchers.values() if each and each.lives}
    return [_watcher_row(path, each, newest, act) for path, each in watchers.items()]


def watchers_document(
    rows: Sequence[WatcherRow], others: Sequence[UnregisteredProcess]
) -> Watchers:
    entries = [WatcherEntry.of(row, row.watcher) for row in rows]
    return Watchers(watchers=entries, others=others)


def _watcher_row(
    path: Path,
    each: RegisteredWatcher | None,
    newest: dict[tuple[str, str, str], RegisteredWatcher],
    act: bool,
) -> WatcherRow:
    if each is None:
        return WatcherRow(None, path, "damaged", "its file cannot be read", _forget(path, act))
    if not each.lives:
        return WatcherRow(each, path, "over", "its process has ended", _forget(path, act))
    why = _stale(each, newest)
    if not why:
        return WatcherRow(each, path, "running")
    if each.kind != "wait":
        return WatcherRow(each, path, "stale", why, "left alone: stop it yourself")
    is_retired = process_registry.retire(each) if act else True
    return WatcherRow(each, path, "stale", why, "retired" if is_retired else "could not be retired")


def _stale(each: RegisteredWatcher, newest: dict[tuple[str, str, str], RegisteredWatcher]) -> str:
    """Why the watcher is no longer needed; "" if it may be needed."""
    other = newest[each.same_run]
    if other != each:
        return f"process {other.pid} waits for the same run and started later"
    if each.until and now().timestamp() > each.until + SENTINEL_GRACE:
        return "it is past its own time limit"
    try:
        if each.top and Record.discover(find_repository(Path(each.top)), each.run).memory().sealed:
            return "its run is sealed"
    except (HerorunError, OSError):
        return ""  # it is unknown
    return ""


def _forget(path: Path, act: bool) -> str:
    if act:
        path.unlink(missing_ok=True)
    return "forgotten"
