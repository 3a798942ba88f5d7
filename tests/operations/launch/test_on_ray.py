"""A whole run on a real Ray cluster, with the code uploaded: launched, crashed, relaunched,
finished.
"""

import json
import time
from uuid import uuid4

import pytest

from herorun.core.evidence import Job, JobState
from herorun.core.ports import Found
from services.ray_service import Head
from stories import CRASH, SLUG, Story

pytestmark = pytest.mark.back_end

PATIENCE = 90.0


def wait_for_end(story: Story, instance: str) -> Job:
    until = time.monotonic() + PATIENCE
    while True:
        search = story.run.scheduler.find(instance, story.events("Launching")[0].at)
        if isinstance(search, Found) and search.job.state.is_final:
            return search.job
        assert time.monotonic() < until, search
        time.sleep(0.1)


@pytest.fixture
def on_ray(ray_head: Head, story: Story) -> Story:
    prefix = f"{uuid4().hex[:8]}-"
    story.sign(
        scheduler={"kind": "ray", "address": ray_head.url, "prefix": prefix, "settle": "200ms"}
    )
    return story


def test_a_run_that_crashes_is_relaunched_from_its_checkpoint_and_ends(
    on_ray: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    story = on_ray
    story.order("tiny-1", CRASH)
    assert story.init() == 0
    assert story.herorun("preflight", SLUG, "-v") == 0
    output = capsys.readouterr().out
    assert "/api/jobs/" in output and "_ray_pkg_<digest>" in output
    assert story.launch() == 0
    job = wait_for_end(story, "tiny-1")
    assert (job.state, job.signal) == (JobState.FAILED, "SIGKILL")
    assert story.tick() == 1
    again = wait_for_end(story, "tiny-2")
    assert (again.state, again.exit_code) == (JobState.SUCCEEDED, 0)
    assert story.starts == ["tiny-1 scratch", f"tiny-2 {story.root}/step-2"]
    assert story.tick() == 0
    request = (story.state / "requests" / "tiny-2.txt").read_text()
    assert json.loads(request.splitlines()[1])["metadata"]["herorun_instance"] == "tiny-2"
