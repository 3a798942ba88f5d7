"""Records of this machine's submissions to a cluster, in the run's private folder: the job's id,
and who stopped it.

Other clones find a job by querying the cluster; these files help if the cluster has forgotten the
job, or reports too little.
"""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from herorun.core.canonical_json import canonical
from herorun.core.errors import CouldNotLook
from herorun.core.lazy_dataclass import dataclass
from herorun.core.untrusted_json import read_json
from herorun.system.clock import now
from herorun.system.files import hold_lock, write_atomic


@dataclass(frozen=True)
class SubmissionRecord:
    """This machine's record of a submission and of a stop."""

    is_ours: bool = False  # whether a submission from here was ever attempted
    id: str | None = None  # None: not known to have been accepted
    by: str | None = None  # who ordered the stop


def read_submission(folder: Path, instance: str) -> SubmissionRecord:
    note, stop = (
        _read_record(folder / f"{instance}.json"),
        _read_record(folder / f"{instance}.stop.json"),
    )
    number = note.get("id") if note else None
    by = stop.get("by") if stop and stop.get("id") == number else None
    is_ours = note is not None and (not number or "asked" in note)
    return SubmissionRecord(is_ours, str(number) if number else None, str(by) if by else None)


def submission_lock(folder: Path, instance: str, timeout: float) -> AbstractContextManager[object]:
    """Held while an instance is submitted, so that no two processes submit it at once."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return hold_lock(folder / f"{instance}.lock", timeout, f"another submission of {instance}")


def record_attempt(folder: Path, instance: str) -> None:
    """Record the attempt before the submission: from now on the job may exist."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _write_record(folder / f"{instance}.json", {"asked": now()})


def record_id(folder: Path, instance: str, number: str) -> None:
    _write_record(folder / f"{instance}.json", {"asked": now(), "id": number})


def keep_stop(folder: Path, instance: str, number: str, by: str) -> None:
    """Record a stop, with the id: if another clone submitted the job, this machine has no record
    yet, and what it writes now is none of a submission.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    record = read_submission(folder, instance)
    if record.id != number and record.is_ours:
        record_id(folder, instance, number)
    elif record.id != number:
        _write_record(folder / f"{instance}.json", {"id": number})
    _write_record(folder / f"{instance}.stop.json", {"id": number, "by": by, "at": now()})


def forget_stop(folder: Path, instance: str) -> None:
    (folder / f"{instance}.stop.json").unlink(missing_ok=True)


def _write_record(path: Path, document: dict[str, Any]) -> None:
    write_atomic(path, (canonical(document) + "\n").encode())


def _read_record(path: Path) -> dict[str, Any] | None:
    try:
        document = read_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        document = None
    if not isinstance(document, dict):
        raise CouldNotLook(
            f"The submission record {path} cannot be read: delete it, then repeat the command."
        )
    return document
