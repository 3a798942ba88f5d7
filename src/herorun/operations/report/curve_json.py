"""Curves in JSON: the lines of a run, or a Hugging Face trainer's `trainer_state.json`."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from herorun import adapters
from herorun.core.detectors.names import is_eval
from herorun.core.errors import WrongUse
from herorun.core.ports import Place, Row, Tracker
from herorun.core.untrusted_json import read_json

FIRST_LINE = 1 << 16  # bytes of it that say what a file holds
LONGEST_LINE = 16 << 20  # bytes of a last line without an end; as long as the tracker reads one
LARGEST_STATE = 256 << 20  # bytes of a trainer's state: parsed, it takes some ten times that
TRAINER_STATE = "log_history"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def is_json(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(64).removeprefix(BYTE_ORDER_MARK).lstrip().startswith(b"{")


def rows_of_json(path: Path) -> Iterator[Row]:
    """`WrongUse` where it holds no curve."""
    yield from _trainer_rows(path) if _is_trainer_state(path) else _json_lines(path)


def _is_trainer_state(path: Path) -> bool:
    """One document over many lines, where a run logs one a line."""
    with path.open("rb") as file:
        first = file.readline(FIRST_LINE)
    try:
        document = read_json(first.decode("utf-8-sig", "replace"))
    except ValueError:
        return path.suffix == ".json"
    return isinstance(document, Mapping) and TRAINER_STATE in document


def _trainer_rows(path: Path) -> Iterator[Row]:
    """The log of a Hugging Face trainer, as its checkpoints hold it, without its evaluations and
    its last entry, which sums all up.
    """
    if path.stat().st_size > LARGEST_STATE:
        raise WrongUse(f"{path} is one JSON document of more than {LARGEST_STATE >> 20} MiB.")
    try:
        history = json.loads(path.read_text(encoding="utf-8-sig"))[TRAINER_STATE]
        for entry in history:
            values = {
                str(name): float(value)
                for name, value in entry.items()
                if isinstance(value, (int, float)) and name != "step"
            }
            if not any(is_eval(name) or name == "train_runtime" for name in values):
                yield Row(int(entry["step"]), values, None)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        raise WrongUse(
            f"{path} is one JSON document, and no trainer's state with a {TRAINER_STATE!r}."
        ) from None


def _json_lines(path: Path) -> Iterator[Row]:
    """JSON lines, as the tracker `jsonl` reads a run's; `WrongUse` names the first line that is no
    row. A last line without an end counts where it is a whole one.
    """
    tracker = _tracker(path)
    cursor, batch, last = "", tracker.read(""), _last_row(path)
    if not batch.rows and not last:
        raise WrongUse(
            f"{path} has no JSON line with a step: "
            f"{'; '.join(batch.problems[:1]) or 'it has no complete line'}."
        )
    while batch.rows or batch.cursor != cursor:
        if batch.problems:
            raise WrongUse(f"{batch.problems[0]} in a file of JSON lines.")
        yield from batch.rows
        cursor = batch.cursor
        batch = tracker.read(cursor)
    yield from last


def _tracker(path: Path) -> Tracker:
    folder, path_text = str(path.parent), str(path.absolute())
    place = Place("curve", folder, folder, folder)
    return adapters.connect("trackers", "jsonl", {"path": path_text}, place)


def _last_row(path: Path) -> list[Row]:
    """The row of a last line that no line end follows; none where it was cut."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(size - LONGEST_LINE, 0))
        before, _, line = file.read().rpartition(b"\n")
    if not line or (not before and size > LONGEST_LINE):
        return []
    with TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        copy.write_bytes(line + b"\n")
        return list(_tracker(copy).read("").rows)
