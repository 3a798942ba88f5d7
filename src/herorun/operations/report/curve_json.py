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

FIRST_LINE = 1 << 16  # bytes of the first line, which shows the file's type
MAX_LINE = 16 << 20  # bytes of a last line without a line end; the same limit as the tracker's
MAX_STATE_BYTES = 256 << 20  # bytes of a trainer's state: parsed, it takes some ten times that
TRAINER_STATE = "log_history"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def is_json(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(64).removeprefix(BYTE_ORDER_MARK).lstrip().startswith(b"{")


def rows_of_json(path: Path) -> Iterator[Row]:
    """The rows; `WrongUse` if the file is not a curve."""
    yield from _trainer_rows(path) if _is_trainer_state(path) else _json_lines(path)


def _is_trainer_state(path: Path) -> bool:
    """Whether the file is one document on many lines; a run's log has one on each line."""
    with path.open("rb") as file:
        first = file.readline(FIRST_LINE)
    try:
        document = read_json(first.decode("utf-8-sig", "replace"))
    except ValueError:
        return path.suffix == ".json"
    return isinstance(document, Mapping) and TRAINER_STATE in document


def _trainer_rows(path: Path) -> Iterator[Row]:
    """The log of a Hugging Face trainer, from its checkpoints, without its evaluations and the
    summary at the end.
    """
    if path.stat().st_size > MAX_STATE_BYTES:
        raise WrongUse(f"{path} is one JSON document of more than {MAX_STATE_BYTES >> 20} MiB.")
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
            f"{path} is one JSON document, but not a trainer's state with a {TRAINER_STATE!r}."
        ) from None


def _json_lines(path: Path) -> Iterator[Row]:
    """JSON lines, as the tracker `jsonl` reads them; `WrongUse` names the first invalid line. A
    last line without a line end counts if it is complete.
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
    """The row of a last line without a line end; none if the line was truncated."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(size - MAX_LINE, 0))
        before, _, line = file.read().rpartition(b"\n")
    if not line or (not before and size > MAX_LINE):
        return []
    with TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        copy.write_bytes(line + b"\n")
        return list(_tracker(copy).read("").rows)
