"""A walk through the record's history: a fault of any commit stays one, whatever came after it."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from builders import NOON
from herorun.core.event import Initialised, Noted
from herorun.core.journal import JournalLine, chain
from herorun.core.record.render import add_entries, digest_of, entries_of, new_logbook
from herorun.core.record.verify import HistoryVerdict, RecordSnapshot, judge_history
from herorun.system.templates import template

PAGE, SEGMENT = ".agents/logbooks/tiny.md", "20260101.jsonl"
NOTES = 4


def journal() -> list[JournalLine]:
    notes = [
        Noted(NOON + number * timedelta(hours=1), "dri", f"note {number}", {"Status": "on"})
        for number in range(NOTES)
    ]
    return chain([Initialised(NOON, "tiny", {"DRI": "@dri"}, "issue.md"), *notes], "", digest_of)


def snapshot(lines: list[JournalLine], number: int) -> RecordSnapshot:
    segment = "".join(f"{line.text}\n" for line in lines).encode()
    empty = new_logbook(template("logbook.md"), "tiny", {"DRI": "@dri"})
    page = add_entries(empty, entries_of(lines)).encode()
    parents = (f"{number - 1:040}",) if number else ()
    return RecordSnapshot(f"{number:040}", parents, {SEGMENT: segment}, {PAGE: page})


def history() -> list[RecordSnapshot]:
    lines = journal()
    return [snapshot(lines[: number + 1], number) for number in range(len(lines))]


def test_what_only_grew_is_counted() -> None:
    assert judge_history(history()) == HistoryVerdict((), NOTES + 1, NOTES + 1, 0)


def test_without_a_commit_nothing_was_counted() -> None:
    assert judge_history([]) == HistoryVerdict((), 0, 0, 0)


@pytest.mark.parametrize("position", [1, 2, NOTES - 1, NOTES])
@pytest.mark.parametrize(
    "change",
    [
        {"parents": ()},
        {"parents": ("a", "b")},
        {"segments": {}},
        {"segments": {SEGMENT: b"x"}},
        {"pages": {}},
    ],
)
def test_a_commit_that_was_put_right_again_is_a_fault_to_the_end(
    change: dict[str, Any], position: int
) -> None:
    commits = history()
    changed_commit = replace(commits[position], **change)
    faults = judge_history([*commits[:position], changed_commit, *commits[position + 1 :]]).faults
    assert any(fault.startswith(f"commit {changed_commit.commit[:9]}: ") for fault in faults)


def test_each_fault_is_reported() -> None:
    commits = [replace(each, parents=("a", "b")) for each in history()]
    assert len(judge_history(commits).faults) == NOTES  # the first commit has none before it
