"""The current instance's own log, read from where the last tick stopped: each byte is read and
evaluated once.

Only `keep_own_log` advances the cache, after the tick's evidence is in the journal. It can always
be rebuilt.
"""

import base64
import time
from collections.abc import Iterator
from dataclasses import fields, replace
from datetime import UTC, datetime
from pathlib import Path

from herorun import __version__
from herorun.core.adhoc_jobs.log_parser import trained_in
from herorun.core.canonical_json import canonical, digest, plain
from herorun.core.contract import Contract
from herorun.core.decode import decode
from herorun.core.evidence import History, Job, Nothing, Unavailable
from herorun.core.ports import LogPart, Place, Scheduler
from herorun.core.redaction.scrub import scrub, scrub_tree
from herorun.core.triage.incremental import LogSignals, OwnLog, follow, skip_to
from herorun.core.triage.scan import Scan
from herorun.core.triage.signatures import SignatureSet
from herorun.core.triage.state import AttemptLog
from herorun.core.untrusted_json import read_json
from herorun.sources._signatures import signature_set_of
from herorun.system.clock import now
from herorun.system.files import write_atomic

CACHE = "own-log.json"
# Bytes of one query. The end of a log has the root of a failure, followed only by the ends of other
# ranks. Bytes beyond the limit are skipped permanently and reported, because a log that grows
# faster than it is read would never be caught up.
MAX_BYTES = 64 << 20
PART = 4 << 20  # bytes in memory
# seconds of matching in one query: if every line must be classified, a MiB takes some
PATIENCE = 20.0
LAST = 1 << 20  # bytes at the end that are always read
TAIL = 20_000  # lines, if the scheduler cannot read from an offset
NEW_BYTES = 64 << 10  # bytes at the end of new data that are searched for the newest step
# a state of another shape is not continued
_SHAPE = [field.name for kind in (OwnLog, Scan, AttemptLog, LogSignals) for field in fields(kind)]
# by state folder: the last read, the cache's version, and the cache's content
_logs: dict[str, tuple[OwnLog, str, OwnLog | None]] = {}


def read_own_log(
    scheduler: Scheduler,
    job: Job | Nothing | Unavailable,
    history: History,
    contract: Contract,
    place: Place,
) -> OwnLog | Nothing:
    """The log up to now. The job is read first, so that the log of an ended job is complete."""
    current = history.current
    if current is None:
        return Nothing("no instance was launched yet")
    signature_set = signature_set_of(contract, place)
    version = digest([__version__, signature_set.digest, _SHAPE])
    cached_log = _load_cached_log(place, version, current.name)
    try:
        log = _caught_up(scheduler, signature_set, cached_log or OwnLog(instance=current.name))
    except FileNotFoundError:
        return Nothing(f"{current.name} has no log yet")
    _logs[place.state] = log, version, cached_log
    return log


def keep_own_log(place: Place, evidence: object) -> None:
    """Store the position after the log of `evidence`, unless it is stored already, so that it is
    not read again. A failure only costs time.
    """
    log, version, cached_log = _logs.get(place.state, (None, "", None))
    if log is not None and log is evidence and log != cached_log:
        partial_line = scrub(log.scan.carry.decode("utf-8", "surrogateescape")).encode(
            "utf-8", "surrogateescape"
        )
        form = scrub_tree(plain(replace(log, scan=replace(log.scan, carry=b""), skipped=0)))
        document = {
            "version": version,
            "carry": base64.b64encode(partial_line).decode(),
            "log": form,
        }
        data = (canonical(document) + "\n").encode()
        write_atomic(Path(place.state) / CACHE, data, spare=True, sync=False)


def _caught_up(scheduler: Scheduler, signature_set: SignatureSet, log: OwnLog) -> OwnLog:
    before = log
    for part in _read_new_parts(scheduler, log):
        if part.restarted:
            log = OwnLog(instance=log.instance)
        start = part.offset - len(part.data)
        if start > log.offset:
            log = skip_to(log, start)
        log = replace(
            follow(signature_set, log, part.data),
            offset=part.offset,
            mark=part.mark,
            changed_at=part.changed_at,
        )
        log = _update_step(log, before, part, scheduler)
    return log.date_complaints(log.changed_at or now(), before)


def _update_step(log: OwnLog, before: OwnLog, part: LogPart, scheduler: Scheduler) -> OwnLog:
    """The log with the newest step that it reports. A step in a log that is read again keeps its
    earlier time.
    """
    progress = trained_in(part.data[-NEW_BYTES:].decode("utf-8", "replace"))
    if progress is None or progress.step == log.step:
        return log
    if progress.step == before.step:
        return replace(log, step=before.step, stepped_at=before.stepped_at)
    ask = getattr(scheduler, "log_changed_at", None)
    changed_at = part.changed_at or (ask(log.instance) if ask else None)
    return replace(log, step=progress.step, stepped_at=changed_at or now())


def _read_new_parts(scheduler: Scheduler, log: OwnLog) -> Iterator[LogPart]:
    """The new parts, at most the last `MAX_BYTES` bytes. Only this function chooses how the
    scheduler is queried.
    """
    ask = getattr(scheduler, "read_log", None)
    if ask is None:
        yield _read_log_end(scheduler, log.instance)
        return
    part: LogPart = ask(log.instance, log.offset, 0, log.mark)
    is_restart, size = part.restarted, part.size
    at = max(part.offset, size - MAX_BYTES)
    if is_restart:
        yield part
    mark, judging = part.mark if at == part.offset else "", 0.0
    while at < size:
        part = ask(log.instance, at, min(PART, size - at), mark)
        if (
            part.restarted or not part.data
        ):  # the log was just replaced: the next query begins again
            return
        began = time.monotonic()
        yield part
        judging += time.monotonic() - began
        at, mark = part.offset, part.mark
        if judging > PATIENCE and at < size - LAST:
            at, mark = size - LAST, ""
    if at == log.offset and not is_restart:
        yield part


def _read_log_end(scheduler: Scheduler, instance: str) -> LogPart:
    """The log's end, treated as a complete new log."""
    data = scheduler.tail(instance, TAIL).encode("utf-8", "surrogateescape")
    return LogPart(
        data, len(data), len(data), "", restarted=True, changed_at=_changed_at(scheduler, instance)
    )


def _changed_at(scheduler: Scheduler, instance: str) -> datetime | None:
    """When the log changed, if its scheduler names a file on this machine."""
    where = getattr(scheduler, "log", None)
    if where is None:
        return None
    try:
        return datetime.fromtimestamp(Path(where(instance)).stat().st_mtime, UTC)
    except FileNotFoundError:
        return None


def _load_cached_log(place: Place, version: str, instance: str) -> OwnLog | None:
    """The state of the last tick. None if the cache is missing, damaged, outdated or of another
    instance: then the log is read again.
    """
    try:
        document = read_json((Path(place.state) / CACHE).read_bytes())
        log = decode(OwnLog, document["log"])
        if document["version"] != version or log.instance != instance:
            return None
        return replace(log, scan=replace(log.scan, carry=base64.b64decode(document["carry"])))
    except (OSError, ValueError, KeyError, TypeError):
        return None
