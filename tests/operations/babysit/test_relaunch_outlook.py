"""The alert about a run that is down says what happens next, after what people ordered."""

from datetime import timedelta
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest

from builders import NOON, an_instance
from herorun import discover
from herorun.core.babysit.alert import Alert, AlertState
from herorun.core.check import Gate
from herorun.core.contract import Recovery
from herorun.core.event import Ordered, Word
from herorun.core.journal import Memory
from herorun.core.recovery.policy import RelaunchAnswer
from herorun.operations.babysit.tick_json import alert_entries, relaunch_outlook
from wording import mentions

DOWN = {"run": "down", "wake": None, "stays_down": True}
DENIAL = {"answers": {"tiny-1": RelaunchAnswer(False, NOON, "ada")}}
STOP_ORDERS = {"orders": (Ordered(NOON, "eve", Word.STOP, ("tiny-1",)),)}


def outlook(
    orders: Any = MappingProxyType({}),
    is_paused: bool = False,
    recovery: str = "relaunch",
    lack: str = "",
    **tick: Any,
) -> str:
    memory = Memory(instances=(an_instance(1),), **orders)
    tick_outcome: Any = SimpleNamespace(**{**DOWN, **tick})
    return relaunch_outlook(tick_outcome, memory, Recovery(recovery), is_paused, "DECIDE", lack)


@pytest.mark.parametrize("is_paused", [False, True])
@pytest.mark.parametrize(("orders", "person"), [(DENIAL, "ada"), (STOP_ORDERS, "eve")])
def test_a_person_who_keeps_it_down_is_named_and_nothing_more_is_decided(
    orders: Any, person: str, is_paused: bool
) -> None:
    text = outlook(orders, is_paused)
    assert mentions(text, "nothing", person) and "DECIDE" not in text


@pytest.mark.parametrize(
    ("recovery", "who"), [("relaunch", "babysitter"), ("ask", "DRI"), ("observe", "DRI")]
)
def test_a_pause_says_what_follows_it(recovery: str, who: str) -> None:
    wake = NOON + timedelta(hours=1)  # no relaunch before the end of the pause
    assert mentions(outlook(is_paused=True, recovery=recovery, wake=wake), "pause", who)


def test_without_orders_it_waits_or_a_person_decides() -> None:
    assert mentions(outlook(wake=NOON, stays_down=False), "2026-01-01T12:00:00Z")
    assert outlook() == "DECIDE"
    assert outlook(stays_down=False) == outlook(run="healthy") == ""


@pytest.mark.parametrize(("key", "is_refused"), [("tiny-1/gate", True), ("tiny-0/gate", False)])
def test_after_a_refusal_only_the_next_check_is_promised(key: str, is_refused: bool) -> None:
    text = outlook({"done": {f"escalate/relaunch/{key}": ""}}, wake=NOON, stays_down=False)
    assert ("refused" in text) is is_refused is ("herorun relaunches" not in text)
    assert mentions(text, "2026-01-01T12:00:00Z")


@pytest.mark.parametrize("wake", [None, NOON])
def test_without_a_babysitter_no_relaunch_is_promised(wake: Any) -> None:
    text = outlook(lack="LACK", wake=wake, stays_down=False)
    assert mentions(text, "nothing", "LACK") and "herorun relaunches" not in text
    assert outlook(lack="LACK") == "DECIDE"
    assert "LACK" in outlook(lack="LACK", is_paused=True)
    assert "LACK" not in outlook(lack="LACK", is_paused=True, recovery="ask")
    assert outlook(lack="LACK", run="healthy") == ""


@pytest.mark.parametrize(
    ("state", "proposes"), [(AlertState.FIRING, True), (AlertState.ENDED, False)]
)
def test_an_alert_that_ended_unresolved_proposes_no_fix_that_may_stop_the_next_job(
    state: AlertState, proposes: bool
) -> None:
    checks = {check.name: check for check in discover.checks(Gate.HEALTH)}
    alert = Alert(
        check="output-moved", subject="", since=NOON, seen=NOON, state=state, message="moved"
    )
    (entry,) = alert_entries([alert], checks, "tiny")
    assert ("`herorun stop tiny`" in entry.fix) is proposes and bool(entry.fix) is proposes
