"""How a CSV file writes its numbers: with a point before the decimals, or with a comma.

`1,234` is 1234 in one file and 1.234 in another. The other numbers of the file decide which, before
its first row is read; if none does, it is unknown.
"""

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from pathlib import Path

from herorun.core.errors import WrongUse
from herorun.core.lazy_regex import lazy_regex
from herorun.core.row_bounds import MAX_STEP

_SWAP_POINT_AND_COMMA = str.maketrans(",.", ".,")
# a number with a point before its decimals and, perhaps, commas between thousands
_WITH_POINT = lazy_regex(
    r"[+-]?(?:[1-9]\d{0,2}(?:,\d{3})+|\d+|(?=\.\d))(?:\.\d*)?(?:[eE][+-]?\d+)?"
)


class Notation(Enum):
    POINT = "."
    COMMA = ","

    def number(self, cell: str) -> float:
        """The number; `ValueError` if the cell is not a number in this notation."""
        if self is Notation.COMMA and ("," in cell or "." in cell):
            cell = cell.translate(_SWAP_POINT_AND_COMMA)
        if "," in cell:
            if not _WITH_POINT.fullmatch(cell):
                raise ValueError(cell)
            cell = cell.replace(",", "")
        return float(cell)

    def step(self, cell: str) -> int:
        """The step; `ValueError` also for a fraction, which would become another row's step."""
        number = self.number(cell)
        if not number.is_integer() or abs(number) > MAX_STEP:
            raise ValueError(f"{cell} is no step")
        return int(number)


def notation_of(
    path: Path, rows: Iterable[Sequence[str]], judged_places: Sequence[int]
) -> Notation:
    """The notation of the judged columns, or of the others if those do not show it."""
    firsts = [_NotationSamples(), _NotationSamples()]  # of the judged columns, and of the others
    places = frozenset(judged_places)
    for cells in rows:
        for place, cell in enumerate(cells):
            if "," in cell or "." in cell:
                firsts[place not in places].see(cell.strip())
    if not any(each.with_comma for each in firsts):
        return Notation.POINT
    for each in firsts:
        if each.point and each.comma:
            raise WrongUse(
                f"{path} writes numbers in two ways, such as {each.point!r} and {each.comma!r}: "
                "write all of them with a point before the decimals."
            )
        if each.point or each.comma:
            return Notation.POINT if each.point else Notation.COMMA
    return _assume_point(path, firsts)


def _assume_point(path: Path, firsts: Iterable["_NotationSamples"]) -> Notation:
    example = next((each.either for each in firsts if each.either), "")
    if not example:
        return Notation.POINT
    decimal = float(example.translate(_SWAP_POINT_AND_COMMA).replace(",", ""))
    raise WrongUse(
        f"{path}: {example!r} may be {float(example.replace(',', '')):g} or {decimal:g}, and no "
        "other number in the file shows which: write numbers with a point before the decimals."
    )


class _NotationSamples:
    """The first cells that show their notation, and the first that is ambiguous."""

    def __init__(self) -> None:
        self.point = self.comma = self.either = ""
        self.with_comma = False

    def see(self, cell: str) -> None:
        if "," not in cell and self.point:
            return
        as_point = _WITH_POINT.fullmatch(cell) is not None
        as_comma = _WITH_POINT.fullmatch(cell.translate(_SWAP_POINT_AND_COMMA)) is not None
        self.with_comma |= "," in cell and (as_point or as_comma)
        if as_point and not as_comma:
            self.point = self.point or cell
        elif as_comma and not as_point:
            self.comma = self.comma or cell
        elif as_point and "," in cell:
            self.either = self.either or cell


def may_hold_commas(chunks: Iterator[bytes], delimiter: str) -> bool:
    """Whether a cell may contain a comma: in a comma-separated file only a quoted cell can."""
    mark = b'"' if delimiter == "," else b","
    return any(mark in chunk for chunk in chunks)
