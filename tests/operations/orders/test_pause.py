"""A pause is ordered once, and ends at its time or by a person's word: in a real record."""

from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from builders import a_contract
from herorun.core.event import Decided, Word
from herorun.core.health.run_health import RunHealth
from herorun.core.journal import Memory
from herorun.operations.orders import pause as module
from herorun.operations.orders.order import unwatched_warnings
from herorun.operations.orders.pause import pause, resume
from herorun.system.clock import now
from herorun.system.files import hold_lock
from stories import Story
from wording import mentions

HOUR = timedelta(hours=1)


def orders(story: Story) -> list[tuple[Any, ...]]:
    return [(e.word, e.about, e.reason, e.until) for e in story.events("Ordered")]


def test_a_pause_is_ordered_once_until_another_end_is_given(story: Story) -> None:
    story.init()
    until = now().replace(microsecond=0) + HOUR
    first = (Word.PAUSE, ("tiny",), "repairs", until)
    for _ in range(2):
        pause(story.run, until, "repairs")
        assert orders(story) == [first]
    later = pause(story.run, until + HOUR)
    assert orders(story) == [first, (Word.PAUSE, ("tiny",), "", until + HOUR)]
    assert f"{until + HOUR:%H:%M:%S}" in later.message
    assert story.run.record.memory().ledger.is_paused(now())


def test_it_is_ended_before_its_time_and_not_again(story: Story) -> None:
    story.init()
    resume(story.run, "nothing to end")
    assert orders(story) == []
    pause(story.run, now() + HOUR)
    for _ in range(2):
        resume(story.run, "done")
    assert orders(story)[1:] == [(Word.RESUME, ("tiny",), "done", None)]
    assert not story.run.record.memory().ledger.is_paused(now())


@pytest.mark.parametrize(
    ("owner", "names"), [("", ("herorun babysit tiny",)), ("eve@node7", ("eve@node7", "watchdog"))]
)
def test_without_a_babysitter_here_the_order_says_who_monitors(
    owner: str, names: tuple[str, ...], tmp_path: Path
) -> None:
    run: Any = SimpleNamespace(
        slug="tiny",
        lock=lambda name: tmp_path / name,
        contract=a_contract(),
        other_babysit_owner=owner,
        record=SimpleNamespace(memory=Memory),
        state=tmp_path,
    )
    (warning,) = unwatched_warnings(run)
    assert mentions(warning, *names)
    with hold_lock(run.lock("babysitter"), what="the babysitter"):
        assert unwatched_warnings(run) == ()


def test_one_that_is_over_needs_no_word(story: Story) -> None:
    story.init()
    pause(story.run, now() - timedelta(seconds=1))
    resume(story.run)
    assert [word for word, *_ in orders(story)] == [Word.PAUSE]


@pytest.mark.parametrize("is_down", [True, False])
def test_a_run_that_is_down_and_not_paused_needs_another_command(
    is_down: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    health = RunHealth.DOWN if is_down else RunHealth.HEALTHY
    memory = Memory(last_decided=Decided(at=now(), run=health, monitor="fresh", progress=""))
    monkeypatch.setattr(module, "memory_for_orders", lambda run: memory)
    monkeypatch.setattr(module, "push_warning", lambda run: ())
    run: Any = SimpleNamespace(slug="tiny")
    assert mentions(resume(run).message, "`herorun status tiny`") is is_down


def test_an_order_that_the_remote_refuses_stands_and_is_warned_of(story: Story) -> None:
    story.init()
    hook = story.refuse_pushes()
    until = now() + HOUR
    assert len(pause(story.run, until).warnings) == 1
    assert len(pause(story.run, until).warnings) == 1
    hook.unlink()
    assert pause(story.run, until).warnings == ()
    assert len(orders(story)) == 1
