"""JSON that was written to bring a reader down is a value, or a ValueError."""

import pytest

from herorun.core.canonical_json import canonical
from herorun.core.contract import parse_contract
from herorun.core.errors import WrongUse
from herorun.core.journal import BrokenJournal, read_line
from herorun.core.record.lease import Lease, read_lease
from herorun.core.redaction.scrub import scrub_tree
from herorun.core.untrusted_json import parse_time, read_json, whole_number
from herorun.sources.receipts import parse_receipt
from herorun.trackers._json_rows import UnusableLine, parse_row

DEEP = "[" * 200_000 + "]" * 200_000
TABLES = '{"a":' * 200_000 + "1" + "}" * 200_000
ENDLESS = "9" * 10_000
BOMBS = {
    "deep": DEEP,
    "tables": TABLES,
    "open": "[" * 200_000,
    "endless": ENDLESS,
    "endless-step": f'{{"step": {ENDLESS}}}',
    "infinite": (
        '{"owner": "a", "slug": "b", "fence": Infinity, "beat": 1e999, "attempt": Infinity, '
        '"items": []}'
    ),
    "not-a-number": (
        '{"owner": "a", "slug": "b", "fence": NaN, "beat": NaN, "attempt": NaN, "items": [], "v": '
        "NaN}"
    ),
    "fraction": '{"owner": "a", "slug": "b", "fence": 1.5, "beat": 1, "attempt": 1.5, "items": []}',
    "text": '"' + "a" * 1_000_000 + '"',
    "list": "[1]",
    "null": "null",
    "wrong": '{"v": [1], "items": 7, "owner": {}, "fence": {}, "beat": [], "attempt": {}}',
    "items": '{"instance": "a", "attempt": 1, "outcome": "pass", "items": [7, null, {"item": 1}]}',
    "surrogate": '{"owner": "\\ud800", "v": "\\udfff"}',
    "half": '{"owner": "a',
    "nul": "\0",
    "empty": "",
}


@pytest.mark.parametrize("text", BOMBS.values(), ids=BOMBS)
def test_no_reader_falls(text: str) -> None:
    assert read_lease(text.encode()) is None
    with pytest.raises(BrokenJournal):
        read_line(text, "line 1")
    with pytest.raises(ValueError):  # noqa: PT011 - each says something else
        parse_receipt(read_json(text))
    with pytest.raises(WrongUse):
        parse_contract(f"final_step = {text}", "runs/a.toml")


@pytest.mark.parametrize("text", [DEEP, TABLES, ENDLESS, f'{{"step": {ENDLESS}}}', "{" * 1000])
def test_a_row_that_cannot_be_read_is_unusable_and_no_more(text: str) -> None:
    with pytest.raises(UnusableLine):
        parse_row(text.encode())


def test_a_lease_is_read_as_it_was_written() -> None:
    lease = Lease("dri@here", "tiny", 3, 4)
    assert read_lease(lease.bytes()) == lease
    assert read_lease(b'{"owner": "a", "slug": "b", "fence": 1e400, "beat": 0}') is None


@pytest.mark.parametrize("value", [1.0, True, "1", None, float("inf"), float("nan")])
def test_a_whole_number_is_an_integer(value: object) -> None:
    with pytest.raises(ValueError, match=r"whole.*number"):
        whole_number(value)


@pytest.mark.parametrize("value", ["2026-01-01T00:00:00", "now", 7, None])
def test_a_time_has_its_zone(value: object) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - Python's own words, or ours
        parse_time(value)


def test_what_is_masked_can_be_written() -> None:
    assert canonical(scrub_tree({"a": [{"b": "c"}]})) == '{"a":[{"b":"c"}]}'
