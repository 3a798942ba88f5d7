"""The process ends at every journal append, port call, push and tag of each command, and starts again."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from crash.faults import Dead, Fault, deadly, raise_dead
from crash.stages import STAGES, Stage, must_hold, outcome, undisturbed
from herorun.acts import sealing
from herorun.schedulers.local import Local
from stories import Story, copy


@pytest.fixture(autouse=True)
def deaths() -> Iterator[None]:
    with deadly():
        yield


@pytest.fixture(autouse=True)
def witness(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be undone is on the remote's record before it is done."""

    def after_the_record(real: Callable[..., Any]) -> Callable[..., Any]:
        def act(*args: Any, **named: Any) -> Any:
            assert story.published, "the record was not pushed before"
            return real(*args, **named)

        return act

    for owner, name in ((Local, "submit"), (sealing, "annotated_tag")):
        monkeypatch.setattr(owner, name, after_the_record(getattr(owner, name)))


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
def test_wherever_it_ends_it_is_done_once(stage: Stage, after: bool, story: Story, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    stage.before(story)
    copy(story.home, kept)
    wanted = undisturbed(stage, story)
    for at in range(1, 100):
        copy(kept, story.home)
        fault = _interrupted(stage, story, at, after)
        if not fault.struck:
            break
        with _named(fault):
            stage.again(story)
            stage.rest(story)
            must_hold(story)
            assert outcome(story) == wanted
        story.end()
    assert at > 3, "hardly any call was reached"


def _interrupted(stage: Stage, story: Story, at: int, after: bool) -> Fault:
    fault = Fault(at, after, raise_dead)
    with pytest.MonkeyPatch.context() as patch, contextlib.suppress(Dead):
        fault.install(patch)
        stage.act(story)
    return fault


@contextlib.contextmanager
def _named(fault: Fault) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        error.add_note(f"it ended {'after' if fault.after else 'before'} the last of {fault.seen}")
        raise
