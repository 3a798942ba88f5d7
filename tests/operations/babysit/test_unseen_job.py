"""A job that trains where nobody looks: a wrong `[tracker] path`, and no check-in."""

from typing import Any

import pytest
import tomli_w

from commands.answers import ask
from stories import SLUG, Story, contract_of, eventually
from wording import mentions

pytestmark = pytest.mark.thorough

SCRIPT = """\
import json, pathlib, sys, time
data = pathlib.Path(sys.argv[1])
root = data / "tiny"
for step in range(1, 5):
    if step == 4:
        while not (data / "go").exists():
            time.sleep(0.05)
    with open(root / "loss.jsonl", "a") as rows:
        rows.write(json.dumps({"step": step - 1, "train/loss": 2.5}) + "\\n")
    if step % 2 == 0:
        folder = root / f"step-{step}"
        folder.mkdir(parents=True)
        (folder / "weights").write_text("weights")
        (folder / "metadata.json").write_text(
            json.dumps({"step": step, "timestamp": f"2026-01-01T00:00:0{step}", "is_temporary": False})
        )
"""  # noqa: E501  # a text that is read as it stands


@pytest.fixture
def unseen_story(story: Story) -> Story:
    (story.work / "train.py").write_text(SCRIPT)
    story.sign(command={"argv": ["python3", "train.py", str(story.data)]})
    assert story.init() == 0
    return story


def open_checks(document: Any) -> dict[str, str]:
    return {
        alert["check"]: alert["message"]
        for alert in document["alerts"]
        if alert["state"] == "firing"
    }


def test_a_job_that_reports_elsewhere_is_warned_of_and_never_healthy(
    unseen_story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    gate = ask(unseen_story, capsys, "preflight", SLUG, "--json")
    (finding,) = [
        each for each in gate.document["findings"] if each["check"] == "unmatched-tracker"
    ]
    assert finding["outcome"] == "fail" and "'loss.jsonl' (train.py:8)" in finding["message"]
    assert unseen_story.launch() == 0
    eventually(lambda: (unseen_story.root / "step-2" / "metadata.json").exists())
    for look in (1, 2):
        answer = ask(unseen_story, capsys, "status", SLUG, "--json")
        assert answer.document["run"] != "healthy" and answer.code == 3
        assert {each["evidence"] for each in answer.document["missing_evidence"]} >= {"receipt"}
        assert unseen_story.tick() == 3, look
    alerts = open_checks(ask(unseen_story, capsys, "status", SLUG, "--json").document)
    assert mentions(alerts["unreported-steps"], "metrics.jsonl", "reports")
    (unseen_story.data / "go").touch()
    unseen_story.wait_for_end()


def test_with_the_path_that_the_script_names_nothing_warns(
    unseen_story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    tables = contract_of(unseen_story.data)
    tables["tracker"]["path"] = "loss.jsonl"
    tables["command"]["argv"] = ["python3", "train.py", str(unseen_story.data)]
    (unseen_story.work / "runs" / "tiny.toml").write_text(tomli_w.dumps(tables))
    unseen_story.publish()
    gate = ask(unseen_story, capsys, "preflight", SLUG, "--json")
    (finding,) = [
        each for each in gate.document["findings"] if each["check"] == "unmatched-tracker"
    ]
    assert finding["outcome"] == "pass"
