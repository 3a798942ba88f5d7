"""The keys by which the field's trainers name where they write."""

from collections.abc import Mapping
from typing import Any

from herorun.core.config.key_classes import snake_parts
from herorun.core.config.normalise import flatten
from herorun.core.config.trainer_keys import RUN_WORDS

NAMES = frozenset(
    ["output_root", "output_dir", "output_path", "save_dir", "save_folder", "checkpoint_dir"]
)
BASE = "base_path"  # Levanter's `trainer.checkpointer.base_path`
SAVING = frozenset(["checkpointer", "checkpoint", "checkpoints", "checkpointing", "output"])


def output_paths(config: Mapping[str, Any]) -> dict[str, str]:
    """Absolute paths and URLs by key; a relative one says nothing without the folder that the job
    started in.
    """
    return {
        key: value.rstrip("/")
        for key, value in flatten(config).items()
        if _is_path(value) and _names_output(key)
    }


def _is_path(value: object) -> bool:
    return isinstance(value, str) and (value.startswith("/") or "://" in value)


def _names_output(key: str) -> bool:
    *above, last = snake_parts(key)
    parts = {word for part in above for word in part.split("_")}
    if last == BASE:
        return bool(parts & SAVING)
    return last in NAMES and parts <= RUN_WORDS | SAVING
