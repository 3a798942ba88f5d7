"""A job that was submitted is told of, also when nobody watches it; and a babysitter ends with its
last verdict.
"""

import json
from types import SimpleNamespace

import pytest

from herorun.operations.launch import start_babysitter
from herorun.operations.record.heartbeat import bell_file
from herorun.system.files import hold_lock
from stories import SLUG, Story
from wording import mentions

CAPTURE = pytest.CaptureFixture[str]


@pytest.mark.thorough
def test_a_babysitter_that_does_not_start_hides_no_launch(
    story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(start_babysitter, "sys", SimpleNamespace(executable="/bin/false"))
    story.init()
    capsys.readouterr()
    assert story.herorun("launch", SLUG, "--json") == 3
    output = capsys.readouterr()
    document = json.loads(output.out)
    assert (document["instance"], document["job"], document["babysitter"]) == (
        "tiny-1",
        "tiny-1",
        "not running",
    )
    assert mentions(document["warnings"][0], "babysitter", "1")
    assert story.shown_commands(document["warnings"][0]) in output.err


@pytest.mark.thorough
def test_a_babysitter_ends_with_what_fires(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    story.run_first_job()
    with (story.root / "metrics.jsonl").open("a") as file:
        file.write('{"step": 4, "train/loss": NaN}\n')
    assert story.herorun("babysit", SLUG) == 1


@pytest.mark.parametrize("option", [(), ("--no-babysit",)])
def test_a_launch_wakes_the_babysitter_that_runs_already(
    story: Story, option: tuple[str, ...]
) -> None:
    story.init()
    run = story.run
    run.prepare()
    bell_file(run).unlink(missing_ok=True)
    with hold_lock(run.lock("babysitter")):
        assert story.herorun("launch", SLUG, *option) == 0
    assert bell_file(run).exists()
