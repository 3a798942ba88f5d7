"""The process ends at every journal append, port call, push and tag of each command, and starts
again.

`make test` takes one slice of one command, by the day, and `make test-thorough` the others; a
rollback, a fork, a prune, and the orders that start a job again each time go the ways of a launch,
a tick and a relaunch, and stay a sample of the day.
HERORUN_CRASH_ALL=1 goes through all of them twice, before and after each call.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from crash.faults import Dead, Fault, deadly, raise_dead
from crash.stages import (
    EVERY,
    STAGES,
    TODAY,
    Stage,
    is_of_the_day,
    must_hold,
    of_the_day,
    outcome,
    undisturbed_outcome,
)
from herorun.operations.checkpoints import prune
from herorun.operations.seal import tag
from herorun.schedulers.local import Local
from stories import Story, copy, git

SAMPLED_STAGES = ("rollback", "fork", "stop", "approve", "prune")
MAX_CALLS = 100  # calls of one command

# how a stage ends undisturbed, by its place and by all refs of its world: another world, though
# at the same place, has other commits, and plans of another digest
_targets: dict[tuple[str, Path, str], dict[str, Any]] = {}


def parts_of_today(name: str, parts: int) -> Sequence[int]:
    """Half of the slices, so that two days go through every point; of a sampled command one."""
    if EVERY:
        return range(parts)
    count = 1 if name in SAMPLED_STAGES else (parts + 1) // 2
    return sorted((TODAY + 2 * number) % parts for number in range(count))


SLICES = [  # so that several processes can share the longest
    pytest.param(
        stage,
        range(1 + part, MAX_CALLS, parts),
        id=f"{stage.name}-{part + 1}",
        marks=() if part == TODAY % parts and is_of_the_day(n) else pytest.mark.thorough,
    )
    for n, (stage, parts) in enumerate(
        zip(STAGES, (1, 4, 8, 1, 6, 6, 4, 4, 3, 6, 1, 3, 1, 1, 1, 8), strict=True)
    )
    for part in parts_of_today(stage.name, parts)
]


@pytest.fixture(autouse=True)
def deaths() -> Iterator[None]:
    with deadly():
        yield


@pytest.fixture(autouse=True)
def witness(story: Story) -> Iterator[None]:
    """What cannot be undone is on the remote's record before it is done."""

    def after_the_record(real: Callable[..., Any]) -> Callable[..., Any]:
        def act(*args: Any, **keywords: Any) -> Any:
            assert story.is_published, "the record was not pushed before"
            return real(*args, **keywords)

        return act

    acts = ((Local, "submit"), (tag, "annotated_tag"), (prune, "delete_checkpoint"))
    with pytest.MonkeyPatch.context() as patch:
        for owner, name in acts:
            patch.setattr(owner, name, after_the_record(getattr(owner, name)))
        yield


@pytest.mark.parametrize(("stage", "points"), SLICES)
def test_ending_before_any_call_it_is_done_once(
    stage: Stage, points: range, story: Story, tmp_path: Path
) -> None:
    _ends_well_at(stage, points, False, story, tmp_path / "kept")


@pytest.mark.parametrize("stage", of_the_day(STAGES))
def test_ending_after_a_call_it_is_done_once(stage: Stage, story: Story, tmp_path: Path) -> None:
    """After a call is before the next one, but for what is written in between: a sample of the day
    will do.
    """
    points = range(1, MAX_CALLS) if EVERY else range(1 + TODAY % 6, MAX_CALLS, 6)
    _ends_well_at(stage, points, True, story, tmp_path / "kept")


def _ends_well_at(stage: Stage, points: range, after: bool, story: Story, path: Path) -> None:
    stage.begin(story)
    copy(story.home, path)
    world = stage.name, story.home, git(story.work, "show-ref", "--head")
    if world not in _targets:
        stage.ready(story)
        _targets[world] = undisturbed_outcome(stage, story)
        story.end()
    target = _targets[world]
    for at in points:
        copy(path, story.home)
        stage.ready(story)
        fault = _interrupt_stage(stage, story, at, after)
        if not fault.has_struck:
            return
        with _name_fault(fault):
            stage.again(story)
            stage.rest(story)
            must_hold(story)
            end_outcome = outcome(story)
            assert not {
                key: (end_outcome[key], target[key])
                for key in target
                if end_outcome[key] != target[key]
            }
        story.end()
    raise AssertionError("the command makes more calls than this test goes through")


def _interrupt_stage(stage: Stage, story: Story, at: int, after: bool) -> Fault:
    fault = Fault(at, after, raise_dead)
    with pytest.MonkeyPatch.context() as patch, contextlib.suppress(Dead):
        fault.install(patch)
        stage.act(story)
    return fault


@contextlib.contextmanager
def _name_fault(fault: Fault) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        error.add_note(
            f"it ended {'after' if fault.after else 'before'} the last of {fault.calls_seen}"
        )
        raise
