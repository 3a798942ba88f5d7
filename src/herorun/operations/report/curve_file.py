"""Curves in files: CSV of any usual dialect, the JSON lines of a run, or a Hugging Face trainer's
`trainer_state.json`.
"""

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from io import TextIOWrapper
from itertools import chain, islice
from pathlib import Path
from typing import TextIO, TypeVar

from herorun.core.backtest.curve import CHUNK as ROWS
from herorun.core.detectors.names import LOSSES, Names
from herorun.core.errors import WrongUse
from herorun.core.lazy_regex import lazy_regex
from herorun.core.ports import Row
from herorun.operations.report.csv_numbers import Notation, may_hold_commas, notation_of
from herorun.operations.report.csv_table import CsvTable, plain_cells
from herorun.operations.report.curve_json import FIRST_LINE, MAX_LINE, is_json, rows_of_json
from herorun.system import progress

# Step columns, as trainers and trackers name them; the first one in the header is used.
STEPS = (
    "step", "steps", "_step", "global_step", "train/global_step", "trainer/global_step",
    "iteration", "iterations", "iter", "Step", "Iteration",
)  # fmt: skip
# Other names of a training loss, in lower case and with one kind of separator.
OTHER_LOSSES = (
    "train_loss", "training_loss", "loss_train", "loss", "running_loss", "train_loss_step",
    "train_total_loss", "total_loss", "loss_total", "mean_loss", "avg_loss", "loss_avg",
)  # fmt: skip
DELIMITERS = (",", "\t", ";", "|")
CHUNK = 1 << 20  # bytes

Item = TypeVar("Item")

_SEPARATORS = lazy_regex(r"[^a-z0-9]+")


def names_of(columns: Sequence[str]) -> Names | None:
    """The roles of the columns; None if no check evaluates any of them. Messages use the file's own
    step numbers.
    """
    losses = LOSSES if any(n in LOSSES for n in columns) else _other_loss(columns)
    names = Names(first_step=1, loss=losses)
    return names if any(name in names.loss or names.roles[name] for name in columns) else None


def _other_loss(columns: Sequence[str]) -> tuple[str, ...]:
    """The training loss under another name, such as `Loss/train`, or `run 7 - train/loss` in a
    tracker's export.
    """
    plain = {_plain(name.rpartition(" - ")[2]): name for name in reversed(columns)}
    return next(((plain[name],) for name in OTHER_LOSSES if name in plain), ())


def _plain(name: str) -> str:
    return _SEPARATORS.sub("_", name.lower()).strip("_")


def refuse_pipe(path: Path) -> None:
    """A curve is read more than once, and what is read from a pipe is gone."""
    if path.is_fifo():
        raise WrongUse(f"{path} is a pipe, and a curve is read twice: write it to a file first.")


def why_no_curve(path: Path) -> str:
    """Why one of several files is not a curve; "" if it is one."""
    try:
        columns = columns_of(path)
        return "" if _has_steps(columns) else _without_steps(path, columns)
    except WrongUse as why:
        return str(why).rstrip(".")


def _has_steps(columns: Sequence[str]) -> bool:
    """Whether there is a step column, or a loss whose rows can count as steps."""
    names = names_of(columns)
    return _step_name(columns) is not None or bool(names and any(n in columns for n in names.loss))


def _without_steps(path: Path, columns: Sequence[str]) -> str:
    first = f"its first line is {','.join(columns)[:80]!r}"
    return f"{path} has no step column, such as step, global_step or iteration: {first}"


def _step_name(columns: Sequence[str]) -> str | None:
    return next((name for name in STEPS if name in columns), None)


def columns_of(path: Path) -> list[str]:
    """The columns; `WrongUse` if two have one name, or if a metric is there for two runs."""
    if is_json(path):
        return ["step", *dict.fromkeys(name for row in rows_of(path) for name in row.values)]
    header = next(_cells_of(path), [])
    columns = [name.strip().lstrip("#").strip() for name in header]
    if twice := [name for name, times in Counter(columns).items() if name and times > 1]:
        raise WrongUse(f"{path} has two columns called {twice[0]!r}: name them differently.")
    if len(losses := _losses_of_runs(columns)) > 1:
        raise WrongUse(
            f"{path} has the losses of {len(losses)} runs, {losses[0]!r} and {losses[1]!r}: export "
            "each run to its own file."
        )
    return columns


def _losses_of_runs(columns: Sequence[str]) -> list[str]:
    """The columns with the loss of each run, if a tracker exported several runs into one file."""
    names = names_of(columns)
    loss = next((name for name in names.loss if name in columns), "") if names else ""
    metric = _plain(loss.rpartition(" - ")[2])
    exported_names = [name for name in columns if " - " in name and " - " in loss]
    return [name for name in exported_names if _plain(name.rpartition(" - ")[2]) == metric]


def _cells_of(path: Path) -> Iterator[list[str]]:
    try:
        with path.open(newline="", encoding="utf-8-sig", errors="replace") as file:
            yield from csv.reader(_lines(file), delimiter=_delimiter(path), strict=True)
    except csv.Error as error:
        raise WrongUse(f"{path} cannot be read as CSV: {error}.") from None


def _lines(file: TextIO) -> Iterator[str]:
    while line := file.readline(MAX_LINE):
        if len(line) == MAX_LINE and not line.endswith("\n"):
            raise csv.Error(f"a line is longer than {MAX_LINE >> 20} MiB")
        yield line


def _delimiter(path: Path) -> str:
    """The delimiter that gives the most cells in the first line."""
    with path.open("rb") as file:
        first = file.readline(FIRST_LINE).decode("utf-8-sig", "replace")
    return max(DELIMITERS, key=lambda each: len(next(csv.reader([first], delimiter=each), [])))


def _notation(path: Path, columns: Sequence[str]) -> Notation:
    with path.open("rb") as file:
        file.readline(MAX_LINE)
        if not may_hold_commas(iter(partial(file.read, CHUNK), b""), _delimiter(path)):
            return Notation.POINT
    judged_columns = _judged_columns(columns) | {_step_name(columns)}
    places = [place for place, name in enumerate(columns) if name in judged_columns]
    return notation_of(path, islice(_cells_of(path), 1, None), places)


def rows_of(path: Path) -> Iterator[Row]:
    """The rows of a file, one by one, as `chunks_of` reads them."""
    return chain.from_iterable(chunks_of(path))


def chunks_of(path: Path) -> Iterator[Sequence[Row]]:
    """The rows of a file, many at once, by its step column; without one, each row is a step (an
    epoch may be a fraction, or have many rows). An empty cell is no value; `nan` and `inf` are
    kept. `WrongUse` if the file is not a curve.
    """
    if is_json(path):
        yield from _iter_chunks(rows_of_json(path))
        return
    columns = columns_of(path)
    if not _has_steps(columns):
        raise WrongUse(f"{_without_steps(path, columns)}.")
    step_name, judged_columns = _step_name(columns), _judged_columns(columns)
    table = CsvTable(path, columns, step_name, judged_columns, _notation(path, columns))
    try:
        with path.open("rb") as file:
            text = TextIOWrapper(file, newline="", encoding="utf-8-sig")
            lines = _lines(text)
            next(csv.reader(lines, delimiter=_delimiter(path), strict=True), None)
            size, activity = path.stat().st_size, f"reading {path.name}"
            for chunk in _rows_of_lines(table, lines, _delimiter(path), len(columns)):
                progress.progress(activity, min(file.tell(), size - 1), size)
                yield chunk
            progress.progress(activity, 1, 1)
    except (UnicodeDecodeError, csv.Error) as error:
        raise WrongUse(f"{path} cannot be read as CSV: {error}.") from None


def _rows_of_lines(
    table: CsvTable, lines: Iterator[str], delimiter: str, width: int
) -> Iterator[Sequence[Row]]:
    """The rows below the header; `csv` splits the lines from the first one on that is not plain."""
    number = 2
    while chunk := list(islice(lines, ROWS)):
        cells = plain_cells(chunk, delimiter, width)
        if cells is None:
            break
        yield table.of_cells(cells, number) or list(
            table.rows([list(row) for row in zip(*cells, strict=True)], number)
        )
        number += len(chunk)
    reader = csv.reader(chain(chunk, lines), delimiter=delimiter, strict=True)
    for rows in _iter_chunks(reader):
        yield table.columnar(rows, number) or list(table.rows(rows, number))
        number += len(rows)


def _iter_chunks(items: Iterator[Item]) -> Iterator[list[Item]]:
    while chunk := list(islice(items, ROWS)):
        yield chunk


def _judged_columns(columns: Sequence[str]) -> frozenset[str]:
    """The columns in which a cell that is not a number is an error."""
    names = names_of(columns)
    if names is None:
        return frozenset()
    return frozenset(name for name in columns if name in names.loss or names.roles[name])
