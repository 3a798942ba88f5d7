"""The process ends at every journal append, port call, push and tag of each command, and starts again."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from crash.faults import Dead, Fault, deadly, raise_dead
from crash.stages import STAGES, Stage, must_hold, outcome
from stories import Story, copy


@pytest.fixture(autouse=True)
def deaths() -> Iterator[None]:
    with deadly():
        yield


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
def test_wherever_it_ends_it_is_done_once(stage: Stage, after: bool, tmp_path: Path) -> None:
    story, kept = Story(tmp_path / "world").begin(), tmp_path / "kept"
    stage.before(story)
    copy(story.home, kept)
    undisturbed = _whole(stage, story)
    for at in range(1, 100):
        copy(kept, story.home)
        fault = _interrupted(stage, story, at, after)
        if not fault.struck:
            break
        try:
            stage.again(story)
            stage.rest(story)
            must_hold(story)
            assert outcome(story) == undisturbed
        except BaseException:
            print(f"ended {'after' if after else 'before'} call {at}: {fault.seen}")
            raise
        finally:
            story.end()
    assert at > 3


def _whole(stage: Stage, story: Story) -> dict[str, object]:
    stage.again(story)
    stage.rest(story)
    must_hold(story)
    return outcome(story)


def _interrupted(stage: Stage, story: Story, at: int, after: bool) -> Fault:
    fault = Fault(at, after, raise_dead)
    with pytest.MonkeyPatch.context() as patch, contextlib.suppress(Dead):
        fault.install(patch)
        stage.act(story)
    return fault
