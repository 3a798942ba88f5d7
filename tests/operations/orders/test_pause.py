"""A pause is ordered once, and ends at its time or by a person's word."""

from types import SimpleNamespace
from typing import Any

import pytest

from builders import MINUTE, NOON
from herorun.core.event import Word
from herorun.operations.orders import pause as module


@pytest.fixture
def orders(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    orders: list[Any] = []

    def order(run: Any, *about: Any) -> tuple[str, ...]:
        orders.append(about)
        return ("ordered",)

    monkeypatch.setattr(module, "order", order)
    monkeypatch.setattr(module, "now", lambda: NOON)
    monkeypatch.setattr(module, "push_warning", lambda run: ("not pushed",))
    return orders


def a_run(monkeypatch: pytest.MonkeyPatch, until: Any = None) -> Any:
    memory = SimpleNamespace(
        pause=SimpleNamespace(until=until) if until else None,
        ledger=SimpleNamespace(paused=lambda at: until is not None and at < until),
    )
    monkeypatch.setattr(module, "memory_for_orders", lambda run: memory)
    contract = SimpleNamespace(babysit=SimpleNamespace(recovery="relaunch"))
    return SimpleNamespace(slug="tiny", contract=contract)


@pytest.mark.parametrize("before", [None, NOON + 2 * MINUTE])
def test_a_pause_is_ordered_until_its_end(
    monkeypatch: pytest.MonkeyPatch, orders: list[Any], before: Any
) -> None:
    outcome = module.pause(a_run(monkeypatch, before), NOON + MINUTE, "repairs")
    assert orders == [(Word.PAUSE, ["tiny"], "repairs", NOON + MINUTE)]
    assert outcome.warnings == ("ordered",)
    assert "12:01:00" in outcome.message


def test_the_same_pause_is_not_ordered_again(
    monkeypatch: pytest.MonkeyPatch, orders: list[Any]
) -> None:
    outcome = module.pause(a_run(monkeypatch, NOON + MINUTE), NOON + MINUTE)
    assert (orders, outcome.warnings) == ([], ("not pushed",))


def test_a_pause_is_ended_before_its_time_and_not_after_it(
    monkeypatch: pytest.MonkeyPatch, orders: list[Any]
) -> None:
    for until in (None, NOON):
        outcome = module.resume(a_run(monkeypatch, until), "done")
        assert (orders, outcome.warnings) == ([], ("not pushed",))
    assert module.resume(a_run(monkeypatch, NOON + MINUTE), "done").warnings == ("ordered",)
    assert orders == [(Word.RESUME, ["tiny"], "done")]
