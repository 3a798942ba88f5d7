"""Free space on disks: for the run's private folder and the record here, and for output roots on
the machine where the job runs.
"""

import os
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

from herorun.core.canonical_json import sha256
from herorun.core.contract import Contract
from herorun.core.decode import decode
from herorun.core.evidence import Disk, Disks
from herorun.core.ports import Measured, Place, Scheduler, Store, scheduler_traits
from herorun.core.untrusted_json import read_json

DAYS = 2  # files of the evidence that are read for an earlier reading
_Reading: TypeAlias = tuple[dict[str, Disk], datetime | None]
_NONE: tuple[bytes, _Reading] = b"", ({}, None)
# by the folder of evidence, with the digest of the line: a babysitter reads the same each tick
_readings: dict[str, tuple[bytes, _Reading]] = {}


def read_disks(place: Place, contract: Contract, store: Store, scheduler: Scheduler) -> Disks:
    """The disks by path. A missing path is measured at its nearest existing parent."""
    now = {path: _measure_disk(path) for path in _paths(place, contract, scheduler)}
    if place.reach and isinstance(store, Measured):
        now |= {root: Disk(*store.room(root)) for root in _roots_on_disk(contract)}
    before, at = _before(f"{place.state}/evidence")
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


def _before(folder: str) -> _Reading:
    """The oldest reading of the last `DAYS` days: the first line of the stored evidence. A damaged
    line is ignored.
    """
    for name in _evidence_files(folder)[-DAYS:]:
        with open(f"{folder}/{name}", "rb") as file:
            line = file.readline()
        digest, (last_digest, reading) = sha256(line).digest(), _readings.get(folder, _NONE)
        if digest == last_digest:
            return reading
        try:
            document = read_json(line)
            disks = decode(Disks, document["evidence"]["Disks"]["value"])
            reading = dict(disks.now), datetime.fromisoformat(document["at"])
        except (ValueError, KeyError, TypeError):
            continue
        _readings[folder] = digest, reading
        return reading
    return _NONE[1]


def _evidence_files(folder: str) -> list[str]:
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return sorted(name for name in names if name.endswith(".jsonl") and name[0] in "0123456789")
