"""Assigns arriving rows to attempts by the detectors' own rule, without evaluating them."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from itertools import islice

from herorun.core.detectors import reorder
from herorun.core.detectors.names import Names
from herorun.core.detectors.reorder import WAITING
from herorun.core.lazy_dataclass import dataclass
from herorun.core.ports import Row
from herorun.core.ports.columnar import ColumnarRows, parts_of


@dataclass(slots=True, kw_only=True)
class AttemptTracker:
    """What the rows so far determine for later rows. `number` is that of the newest attempt; the
    first is 1.
    """

    number: int = 1
    waiting: list[Row] = field(default_factory=list)
    attempt: str = ""  # the newest execution
    older: list[str] = field(default_factory=list)
    # of those executions: their newest attempts
    numbers: Mapping[str, int] = field(default_factory=dict)
    has_begun: bool = False
    step: int = 0
    late: int = 0

    def attempts_of(self, rows: Sequence[Row], names: Names) -> list[int]:
        """The attempt of each of the next rows; consecutive rows in order are assigned at once."""
        return [number for part in parts_of(rows) for number in self._attempts_of(part, names)]

    def _attempts_of(self, rows: Sequence[Row], names: Names) -> list[int]:
        numbers: list[int] = []
        while len(numbers) < len(rows):
            place = len(numbers)
            if count := self._in_order(rows, place):
                end = place + count
                self.waiting = [_bare(row, names) for row in rows[end - WAITING : end]]
                self.step = rows[end - WAITING - 1].step + 1 - names.first_step
                numbers += [self.number] * count
            else:
                numbers += [self.attempt_of(row, names) for row in rows[place : place + WAITING]]
        return numbers

    def _in_order(self, rows: Sequence[Row], first: int) -> int:
        """How many rows from `first` on continue the rows before; 0 if too few do."""
        if not self.has_begun or len(self.waiting) < WAITING:
            return 0
        if self.attempt and self.numbers.get(self.attempt) != self.number:
            return 0
        attempts, step = ("", self.attempt), self.waiting[-1].step
        if isinstance(rows, ColumnarRows):
            count = rows.rising(first, step) if rows.attempt in attempts else 0
            return count if count > WAITING else 0
        count = 0
        for row in islice(rows, first, None):
            if row.step <= step or row.attempt not in attempts:
                break
            step, count = row.step, count + 1
        return count if count > WAITING else 0

    def attempt_of(self, row: Row, names: Names) -> int:
        """The attempt of the next row. A late row of an older execution belongs to that execution's
        newest attempt.
        """
        if row.attempt and row.attempt != self.attempt and row.attempt in self.older:
            return self.numbers.get(row.attempt, self.number)
        ready, is_new_attempt = reorder.take(self, _bare(row, names), names)
        for row_ready in ready:
            self.has_begun, self.step = True, row_ready.step + 1 - names.first_step
        if is_new_attempt:
            self.has_begun = False
            self.number += 1
        if row.attempt and self.numbers.get(row.attempt) != self.number:
            numbers = {name: self.numbers[name] for name in self.older if name in self.numbers}
            self.numbers = {**numbers, row.attempt: self.number}
        return self.number


def _bare(row: Row, names: Names) -> Row:
    """The row with its losses only, which show whether a step was trained again."""
    losses = {name: row.values[name] for name in names.loss if name in row.values}
    return Row(row.step, losses, row.at, row.attempt)
