"""The receipts that check-in left in the output root, and its lines in the job's log: not every
rank can write there.

Rank 0 writes one at each start, another rank only if it refused. One refusal is enough, because a
launcher may replace exit code 78 by its own. Receipts older than rank 0's newest one are of an
earlier start.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

from herorun.core.babysit.cadence import FIRST_CHECK
from herorun.core.contract import Contract
from herorun.core.evidence import (
    Admitted,
    History,
    Job,
    JobState,
    LateReceipts,
    Nothing,
    Now,
    Receipt,
    Unavailable,
)
from herorun.core.lazy_regex import lazy_regex
from herorun.core.ports import Scheduler, Store
from herorun.core.record.anchors import RECEIPT_LINE
from herorun.core.untrusted_json import read_json, whole_number

LOG_LINES = 2000
BEGINNING = 4 << 20  # bytes of a log: many ranks can print so much before the first tick
MAX_LATE = 20  # earlier instances, newest first, that are searched for a late receipt
_NAME = lazy_regex(r"(?P<instance>.+)\.(?P<attempt>\d+)(?:\.rank(?P<rank>\d+))?\.json")


class _FoundReceipt(NamedTuple):
    """One receipt, ordered by its start."""

    attempt: int
    line: int  # of the log; in one attempt, a later line is newer
    rank: int
    source: str  # the file's name, or the line's JSON


def read_receipt(
    contract: Contract,
    store: Store,
    scheduler: Scheduler,
    history: History,
    job: Job | Nothing | Unavailable,
    at: Now,
) -> Receipt | Nothing:
    """The newest receipt of the current instance: a refusal of any rank, or else rank 0's receipt.

    A job that waits for its hardware, or has just begun, may have no log yet; then the folder's
    receipts are enough.
    """
    current = history.current
    if current is None:
        return Nothing("no instance was launched yet")
    folder = f"{contract.output.root.rstrip('/')}/_herorun/receipts"
    files = _in_folder(store, folder, current.name)
    is_needed = not files and not _may_lack_a_log(job, at.at)
    receipt = that_counts(files + _in_log(scheduler, current.name, is_needed))
    if receipt is None and is_needed and current.name not in history.checked_in:
        receipt = that_counts(_in_beginning(scheduler, current.name))
    if receipt is None:
        return Nothing(f"{current.name} has not checked in yet")
    text = receipt.source if receipt.line else store.read(f"{folder}/{receipt.source}")
    return parse_receipt(read_json(text))


def read_late_receipts(
    contract: Contract, store: Store, history: History
) -> LateReceipts | Nothing:
    """Late receipts, for example from a slow store, of earlier instances without a check-in. Their
    logs were read while they were current.
    """
    earlier = [i.name for i in history.instances[:-1] if i.name not in history.checked_in]
    if not earlier:
        return Nothing("no earlier instance lacks a check-in")
    folder = f"{contract.output.root.rstrip('/')}/_herorun/receipts"
    receipts, damaged_files = [], []
    for name in reversed(earlier[-MAX_LATE:]):
        receipt = that_counts(_in_folder(store, folder, name))
        if receipt is None:
            continue
        try:
            receipts.append(_of(name, read_json(store.read(f"{folder}/{receipt.source}"))))
        except ValueError as error:
            damaged_files.append((name, str(error)))
    return LateReceipts(tuple(receipts), tuple(damaged_files))


def _of(instance: str, data: Any) -> Receipt:
    receipt = parse_receipt(data)
    if receipt.instance != instance:
        raise ValueError("it is of another instance")
    return receipt


def read_admitted(receipt: Receipt) -> Admitted:
    """The results of check-in's comparison, from its receipt."""
    return Admitted(receipt.items)


def that_counts(receipts: list[_FoundReceipt]) -> _FoundReceipt | None:
    """The receipt of the newest start that counts: the refusal of the lowest rank above 0, or else
    rank 0's receipt.
    """
    newest = max((one for one in receipts if one.rank == 0), default=None)
    refusals = [
        one for one in receipts if one.rank and (newest is None or one.attempt >= newest.attempt)
    ]
    return min(refusals, key=lambda one: (-one.attempt, one.rank, one.line), default=newest)


def _may_lack_a_log(job: Job | Nothing | Unavailable, at: datetime) -> bool:
    if not isinstance(job, Job):
        return False
    waits = job.state in (JobState.PENDING, JobState.BUILDING)
    early_receipts = (
        job.state is JobState.RUNNING and job.started is not None and at - job.started < FIRST_CHECK
    )
    return waits or early_receipts


def _in_folder(store: Store, folder: str, instance: str) -> list[_FoundReceipt]:
    try:
        names = store.names(folder)
    except FileNotFoundError:
        return []
    matches = [
        match
        for name in names
        if (match := _NAME.fullmatch(name)) and match["instance"] == instance
    ]
    return [
        _FoundReceipt(int(match["attempt"]), 0, int(match["rank"] or 0), match[0])
        for match in matches
    ]


def _in_log(scheduler: Scheduler, instance: str, is_needed: bool) -> list[_FoundReceipt]:
    """Receipts in the log. A truncated line or a missing log is an error only if nothing else can
    show the receipt.
    """
    try:
        lines = scheduler.tail(instance, LOG_LINES).splitlines()
    except FileNotFoundError:
        if is_needed:
            raise
        return []
    return _among(lines, instance, is_needed)


def _in_beginning(scheduler: Scheduler, instance: str) -> list[_FoundReceipt]:
    """Receipts in the beginning of the log: check-in comes before the first step, so its line may
    be far from the end.
    """
    read_log = getattr(scheduler, "read_log", None)
    if read_log is None:
        return []
    text = read_log(instance, 0, BEGINNING).data.decode("utf-8", "replace")
    return _among(text.splitlines(), instance, False)


def _among(lines: Sequence[str], instance: str, is_needed: bool) -> list[_FoundReceipt]:
    receipts = []
    for number, match in enumerate(map(RECEIPT_LINE.match, lines), start=1):
        try:
            document = read_json(match[1]) if match else {}
            if document.get("instance") == instance:
                receipts.append(
                    _FoundReceipt(
                        whole_number(document["attempt"]),
                        number,
                        whole_number(document.get("rank", 0)),
                        json.dumps(document),
                    )
                )
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            if is_needed:
                raise ValueError(
                    f"line {number} of the log's end is a damaged receipt: {error}"
                ) from None
    return receipts


def _parse_checkin_time(text: Any) -> datetime | None:
    """When the job checked in, by its own clock; None if the receipt's time has not check-in's
    form.
    """
    try:
        return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    except (TypeError, ValueError):
        return None


def parse_receipt(data: Any) -> Receipt:
    """The receipt; ValueError if the JSON is not a receipt."""
    try:
        items = tuple((str(i["item"]), str(i["outcome"]), str(i["message"])) for i in data["items"])
        receipt = Receipt(
            str(data["instance"]),
            whole_number(data["attempt"]),
            str(data["outcome"]),
            items,
            _parse_checkin_time(data.get("at")),
            data.get("loaded"),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"the receipt lacks {error}") from None
    rank = data.get("rank", 0)
    return (
        receipt
        if not rank
        else replace(receipt, items=tuple((i, o, f"{m} (rank {rank})") for i, o, m in items))
    )
