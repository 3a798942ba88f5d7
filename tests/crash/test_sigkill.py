"""The process is really killed, with SIGKILL, at some points of each command; at all with
HERORUN_CRASH_ALL=1.

Which points, and of which commands, is a matter of the day, so that all have their turn;
`test_every_point` ends at all of them.
"""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from crash import killed
from crash.faults import Fault, is_read
from crash.stages import (
    EVERY,
    STAGES,
    TODAY,
    Stage,
    must_hold,
    of_the_day,
    outcome,
    undisturbed_outcome,
)
from stories import Story, copy

SAMPLE = {"launch": 2, "tick": 3, "relaunch": 2, "seal": 2, "prune": 2}  # the others: one
SOURCES = Path(__file__).parents[2]


@pytest.mark.parametrize("stage", of_the_day(STAGES))
def test_a_killed_command_is_done_once(stage: Stage, story: Story, tmp_path: Path) -> None:
    path = tmp_path / "kept"
    stage.begin(story)
    copy(story.home, path)
    counting = Fault(0, False, lambda: None)
    stage.ready(story)
    with pytest.MonkeyPatch.context() as patch:
        counting.install(patch)
        stage.act(story)
    target = undisturbed_outcome(stage, story)
    story.end()
    for at, moment in _choose_points(stage, counting.calls_seen):
        copy(path, story.home)
        stage.ready(story)
        kill(stage, story, at, moment)
        stage.again(story)
        stage.rest(story)
        must_hold(story)
        assert outcome(story) == target, f"killed {moment} call {at} of {counting.calls_seen}"
        story.end()


def _choose_points(stage: Stage, calls: list[str]) -> list[tuple[int, str]]:
    writes = [call for call in calls if not is_read(call)]
    points = [(at, "before") for at in range(1, len(calls) + 1)]
    points += [(at, "after") for at in range(1, len(writes) + 1)]
    if EVERY:
        return points
    size = SAMPLE.get(stage.name, 1)
    return [points[(TODAY + n * len(points) // size) % len(points)] for n in range(size)]


def kill(stage: Stage, story: Story, at: int, moment: str) -> None:
    """In this process's environment, to the letter: another one is another plan, which no launch
    goes on with.
    """
    argv = [
        sys.executable,
        "-m",
        killed.__name__,
        str(at),
        moment,
        "-C",
        str(story.work),
        *stage.command_of(story),
    ]
    typed_content = stage.prompt_answer(story).encode()
    process = subprocess.run(
        argv, input=typed_content, capture_output=True, cwd=SOURCES / "tests", check=False
    )
    assert process.returncode == -signal.SIGKILL, process.stderr.decode()
