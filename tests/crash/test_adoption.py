"""The process ends at every journal append, port call and push of an adoption, and starts again:
one instance, no submission.
"""

import contextlib
import os
import subprocess
from pathlib import Path

import pytest

from crash.faults import Dead, Fault, deadly, raise_dead
from stories import SLUG, WAIT, Story, copy, eventually, git

MAX_CALLS = 40  # calls of one adoption


@pytest.mark.parametrize(
    "part", [pytest.param(0), *(pytest.param(n, marks=pytest.mark.thorough) for n in range(1, 5))]
)
def test_ending_before_any_call_a_job_is_adopted_once(
    part: int, story: Story, tmp_path: Path
) -> None:
    story.order("mine", f'touch "$data/waits"; {WAIT}')
    fields = {**os.environ, "HERORUN_INSTANCE": "mine"}
    job = subprocess.Popen(["sh", "train.sh", str(story.data)], cwd=story.work, env=fields)
    try:
        story.init()
        eventually((story.data / "waits").exists)
        copy(story.home, tmp_path / "kept")
        for at in range(1 + part, MAX_CALLS, 5):
            copy(tmp_path / "kept", story.home)
            if not _interrupt_adoption(story, str(job.pid), at).has_struck:
                return
            for _ in range(3):
                if story.launch("--adopt", str(job.pid)) == 0:
                    break
            _must_hold(story, str(job.pid))
        raise AssertionError("an adoption makes more calls than this test goes through")
    finally:
        job.kill()
        job.wait()


def _interrupt_adoption(story: Story, job: str, at: int) -> Fault:
    fault = Fault(at, False, raise_dead)
    with deadly(), pytest.MonkeyPatch.context() as patch, contextlib.suppress(Dead):
        fault.install(patch)
        story.launch("--adopt", job)
    return fault


def _must_hold(story: Story, job: str) -> None:
    assert [(e.instance, e.job) for e in story.events("Launched")] == [("tiny-1", job)]
    assert story.starts == ["mine scratch"]
    assert story.comments.count("post/submit/tiny-1") == 1
    assert not story.run.record.memory().unsettled
    there = git(story.origin, "rev-parse", f"refs/heads/herorun/{SLUG}").strip()
    assert there == story.run.record.tip
    assert story.herorun("logbook", "verify", SLUG) == 0
