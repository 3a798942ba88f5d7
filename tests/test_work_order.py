"""The longest tests begin first, and each one that is listed is there."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from work_order import LONG_TESTS, begins_a_share, deal_items
from work_shares import NOTHING, Shares

TESTS = Path(__file__).parent


def item(name: str, *fixtures: str) -> SimpleNamespace:
    return SimpleNamespace(name=name, fixturenames=fixtures)


@pytest.mark.parametrize("workers", [1, 2, 3, 7])
def test_each_worker_begins_with_one_of_the_longest(workers: int) -> None:
    items = list(range(40))
    longest = set(range(33, 40))
    order = deal_items(items, workers, longest.__contains__)

    assert sorted(order) == items
    shares = Shares(len(items), workers)
    began = [order[shares.take(worker).current] for worker in range(workers)]
    assert longest.issuperset(began)
    others = [number for number in order if number not in longest]
    assert others == sorted(others)


def test_few_items_are_dealt_too() -> None:
    assert deal_items([1, 2], 2, lambda number: number == 2) == [2, 1]
    assert deal_items([1, 2, 3], 2, lambda number: True) == [1, 3, 2]
    assert Shares(0, 1).take(0).current == NOTHING


def test_one_that_needs_a_server_stays_with_the_others_of_that_server() -> None:
    name = f"{min(LONG_TESTS)}[a-1]"
    assert begins_a_share(item(name, "tmp_path"))
    assert not begins_a_share(item(name, "tmp_path", "s3_server"))
    assert not begins_a_share(item("test_any", "tmp_path"))


def test_all_that_are_listed_are_there() -> None:
    texts = (path.read_text() for path in TESTS.rglob("test_*.py"))
    defined_tests = {name for text in texts for name in re.findall(r"def (test_\w+)\(", text)}
    assert defined_tests >= LONG_TESTS
