"""A contract that moved since the launch: named key by key, at the next launch and at every
turn.
"""

import json
from typing import Any

import pytest

from commands.answers import ask
from stories import SLUG, WAIT, Story
from wording import mentions

CAPTURE = pytest.CaptureFixture[str]


def drift(story: Story, capsys: CAPTURE, *words: str) -> Any:
    capsys.readouterr()
    story.herorun(*words, "--json")
    (finding,) = [
        f for f in json.loads(capsys.readouterr().out)["findings"] if f["check"] == "contract-drift"
    ]
    return finding


def test_before_the_first_launch_there_is_none(story: Story, capsys: CAPTURE) -> None:
    story.init()
    assert drift(story, capsys, "preflight", SLUG)["outcome"] == "n/a"


@pytest.mark.thorough
def test_the_next_launch_names_each_key(story: Story, capsys: CAPTURE) -> None:
    story.run_first_job()
    assert drift(story, capsys, "preflight", SLUG)["outcome"] == "pass"
    story.sign(checkpoints={"keep": 3}, goal="another", babysit={"cadence": "5m"})
    drifts = drift(story, capsys, "preflight", SLUG)
    assert (drifts["outcome"], drifts["subject"], drifts["gate"]) == ("fail", "tiny-1", "launch")
    assert drifts["details"] == ["checkpoints.keep: 10 -> 3"]


@pytest.mark.thorough
def test_every_turn_names_them_and_tells_once(story: Story, capsys: CAPTURE) -> None:
    story.run_first_job(WAIT)
    assert drift(story, capsys, "babysit", SLUG, "--once")["outcome"] == "pass"
    story.sign(checkpoints={"keep": 3})
    drifts = drift(story, capsys, "babysit", SLUG, "--once")
    assert (drifts["outcome"], drifts["details"]) == ("fail", ["checkpoints.keep: 10 -> 3"])
    assert drifts["gate"] == "health" and mentions(drifts["message"], "admitted", "applies")
    story.tick()
    keys = [key for key in story.comments if key.startswith("tell/contract-drift")]
    assert len(keys) == 1


@pytest.mark.thorough
def test_a_broken_file_is_reported_with_what_is_wrong(story: Story, capsys: CAPTURE) -> None:
    story.run_first_job(WAIT)
    (story.work / "runs" / "tiny.toml").write_text("[[[")
    drifts = drift(story, capsys, "babysit", SLUG, "--once")
    assert drifts["outcome"] == "fail" and mentions(drifts["message"], "valid", "TOML")


@pytest.mark.parametrize("name", ["runs/absent/tiny", "other/tiny.toml"])
def test_a_path_to_no_contract_is_none_of_the_run(story: Story, capsys: CAPTURE, name: str) -> None:
    """As one that was typed in another folder: the run's own contract has not drifted."""
    story.run_first_job()
    for argv in (["status", name], ["babysit", name, "--once"]):
        answer = ask(story, capsys, *argv)
        assert answer.code == 2 and mentions(answer.err, "no contract", name)
    assert drift(story, capsys, "babysit", "runs/tiny", "--once")["outcome"] == "pass"
