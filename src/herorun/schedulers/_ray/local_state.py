"""This clone's own records of a Ray job, in private files of the run: its cluster, and who stopped
it.
"""

import contextlib
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from herorun.core.canonical_json import canonical
from herorun.core.decode import decode
from herorun.core.errors import CouldNotLook
from herorun.core.lazy_dataclass import dataclass
from herorun.core.untrusted_json import read_json
from herorun.schedulers._ray.parse import RayStop
from herorun.system.files import create_atomic, write_atomic

T = TypeVar("T")


@dataclass(frozen=True)
class SubmissionNote:
    """Where an instance was submitted to, written before it was."""

    cluster: str  # the session that the head named
    address: str
    at: datetime


@dataclass(frozen=True)
class SubmissionFiles:
    folder: Path

    def submission(self, instance: str) -> SubmissionNote | None:
        return self._read(f"{instance}.sent.json", SubmissionNote)

    def stop(self, instance: str) -> RayStop | None:
        return self._read(f"{instance}.stop.json", RayStop)

    def keep_sent(self, instance: str, note: SubmissionNote) -> None:
        write_atomic(self.folder / f"{instance}.sent.json", _bytes(note))

    def keep_stop(self, instance: str, stop: RayStop) -> None:
        """Who ordered the stop first."""
        with contextlib.suppress(FileExistsError):
            create_atomic(self.folder / f"{instance}.stop.json", _bytes(stop), 0o600)

    def _read(self, name: str, kind: type[T]) -> T | None:
        path = self.folder / name
        try:
            return decode(kind, read_json(path.read_bytes()))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise CouldNotLook(
                f"{path} cannot be read ({str(error).splitlines()[0]}): correct it, or delete it."
            ) from None


def _bytes(value: SubmissionNote | RayStop) -> bytes:
    return (canonical(value) + "\n").encode()
