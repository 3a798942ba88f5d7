"""Free space on disks: for the run's private folder and the record here, and for output roots on
the machine where the job runs.
"""

import os
from datetime import datetime
from pathlib import Path

from herorun.core.contract import Contract
from herorun.core.decode import decode
from herorun.core.evidence import Disk, Disks
from herorun.core.ports import Measured, Place, Scheduler, Store, scheduler_traits
from herorun.core.untrusted_json import read_json

DAYS = 2  # files of the evidence that are read for an earlier reading


def read_disks(place: Place, contract: Contract, store: Store, scheduler: Scheduler) -> Disks:
    """The disks by path. A missing path is measured at its nearest existing parent."""
    now = {path: _measure_disk(path) for path in _paths(place, contract, scheduler)}
    if place.reach and isinstance(store, Measured):
        now |= {root: Disk(*store.room(root)) for root in _roots_on_disk(contract)}
    before, at = _before(Path(place.state) / "evidence")
    return Disks(now, before, at)


def _paths(place: Place, contract: Contract, scheduler: Scheduler) -> list[str]:
    """The paths to measure. Roots count only if the job runs on this machine: elsewhere the same
    path is another disk.
    """
    clone = (
        [place.repository]
        if place.repository and not _same_disk(place.state, place.repository)
        else []
    )
    return [
        place.state,
        *clone,
        *(_roots_on_disk(contract) if scheduler_traits(scheduler).runs_here else []),
    ]


def _same_disk(one: str, other: str) -> bool:
    return _nearest_folder(one).stat().st_dev == _nearest_folder(other).stat().st_dev


def _roots_on_disk(contract: Contract) -> list[str]:
    output = contract.output
    return [root for root in (output.root, output.temporary_root) if root and root.startswith("/")]


def _measure_disk(path: str) -> Disk:
    stats = os.statvfs(_nearest_folder(path))
    inodes = stats.f_favail if stats.f_files else None
    return Disk(stats.f_bavail * stats.f_frsize, stats.f_blocks * stats.f_frsize, inodes)


def _nearest_folder(path: str) -> Path:
    folder = Path(path)
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder


def _before(folder: Path) -> tuple[dict[str, Disk], datetime | None]:
    """The oldest reading of the last `DAYS` days: the first line of the stored evidence. A damaged
    line is ignored.
    """
    for file in sorted(folder.glob("[0-9]*.jsonl"))[-DAYS:]:
        try:
            with file.open(encoding="utf-8") as lines:
                document = read_json(lines.readline())
            disks = decode(Disks, document["evidence"]["Disks"])
            return dict(disks.now), datetime.fromisoformat(document["at"])
        except (ValueError, KeyError, TypeError):
            continue
    return {}, None
