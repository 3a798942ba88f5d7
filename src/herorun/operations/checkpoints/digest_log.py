"""The finished digests of a checkpoint's files, so that a seal after a kill reads no file twice."""

import contextlib
import json
from dataclasses import asdict
from functools import cached_property
from pathlib import Path

from herorun.core.canonical_json import digest
from herorun.core.ports import FileDigest
from herorun.system.files import append_line


class DigestLog:
    """A private file with one line for each file of one checkpoint. A truncated line is ignored."""

    def __init__(self, folder: Path, checkpoint: str) -> None:
        self._file = folder / "digests" / f"{digest(checkpoint)[7:19]}.jsonl"

    @cached_property
    def digests(self) -> dict[str, FileDigest]:
        """The digests by name, read once."""
        try:
            lines = self._file.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return {}
        by_name = {}
        for line in lines:
            with contextlib.suppress(ValueError, TypeError):
                each = FileDigest(**json.loads(line))
                by_name[each.name] = each
        return by_name

    def add(self, each: FileDigest) -> None:
        append_line(self._file, json.dumps(asdict(each)))

    def remove(self) -> None:
        """Remove the log, once the manifest is in the record."""
        self._file.unlink(missing_ok=True)
