"""Checkpoints in Levanter's shape: `<root>/step-N/metadata.json`, where N counts completed updates.

The data is written first and `metadata.json` last, each of them whole or not at all: a folder
without `metadata.json` is no checkpoint, whenever the process was killed.
"""

import json
import os
import shutil
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

State = dict[str, np.ndarray]


def load(path: Path) -> State:
    """The state in this checkpoint, which must be complete."""
    if not (path / "metadata.json").is_file():
        raise SystemExit(f"{path} is no complete checkpoint: it holds no metadata.json")
    with np.load(path / "state.npz", allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


class Checkpoints:
    """When to write one, where, and which to delete."""

    def __init__(
        self, root: Path, temporary_root: Path, policy: Mapping[str, Any], final_step: int
    ) -> None:
        self._root, self._temporary_root, self._final_step = root, temporary_root, final_step
        # steps; 0: only the final one
        self._permanent_every: int = policy.get("permanent_every", 0)
        self._every_steps: int = policy.get("temporary_every_steps", 0)
        self._every_seconds: float = policy.get("temporary_every_seconds", 0)
        self._keep: int = policy["keep"]
        self._saved_at = time.monotonic()

    def save_if_due(self, step: int, state: Callable[[], State], stopping: bool) -> None:
        if step == self._final_step or (
            self._permanent_every and step % self._permanent_every == 0
        ):
            self._save(self._root / f"step-{step}", step, state(), temporary=False)
            self._prune(keep=0)  # a permanent one makes the temporary ones needless
        elif stopping or self._temporary_is_due(step):
            self._save(self._temporary_root / f"step-{step}", step, state(), temporary=True)
            self._prune(self._keep)

    def _temporary_is_due(self, step: int) -> bool:
        by_steps = self._every_steps and step % self._every_steps == 0
        by_time = self._every_seconds and time.monotonic() - self._saved_at >= self._every_seconds
        return bool(by_steps or by_time)

    def _save(self, folder: Path, step: int, state: State, temporary: bool) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        # written again: incomplete until it is whole again
        (folder / "metadata.json").unlink(missing_ok=True)
        _sync_folder(folder)
        _sync_folder(folder.parent)
        _write(folder / "state.npz", lambda file: np.savez(file, **state))
        now = datetime.now().isoformat()  # noqa: DTZ005  # Levanter's are local, without a zone
        metadata = {"step": step, "timestamp": now, "is_temporary": temporary}
        _write(folder / "metadata.json", lambda file: file.write(json.dumps(metadata).encode()))
        self._saved_at = time.monotonic()
        print(f"saved {'temporary ' if temporary else ''}checkpoint {folder}", flush=True)

    def _prune(self, keep: int) -> None:
        """Delete all but the newest temporary checkpoints, newest by when they were written."""
        written_at = {
            marker: marker.stat().st_mtime_ns
            for marker in self._temporary_root.glob("step-*/metadata.json")
            if json.loads(marker.read_bytes())["is_temporary"]
        }
        for marker in sorted(written_at, key=written_at.__getitem__, reverse=True)[keep:]:
            marker.unlink()  # first, so that half a deletion leaves no complete checkpoint
            shutil.rmtree(marker.parent)


def _write(path: Path, fill: Callable[[BinaryIO], Any]) -> None:
    """Whole or not at all, and on disk when this returns."""
    aside = path.with_name(f"{path.name}.new")
    with aside.open("wb") as file:
        fill(file)
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
