"""Replacing the machine of a bad TPU, with a `gcloud` that keeps its machines in a file."""

import json
from pathlib import Path

import pytest

from herorun.core.babysit.actions import DeleteNode
from herorun.operations.babysit.perform import ActionResult, perform, settle
from herorun.operations.babysit.tick_json import actions_of
from stories import Story
from wording import mentions

GCLOUD = """#!/usr/bin/env python3
import json, pathlib, sys
path = pathlib.Path(__file__).with_name("machines.json")
machines = json.loads(path.read_text())
with path.with_name("calls").open("a") as calls:
    calls.write(" ".join(sys.argv[1:]) + "\\n")
if sys.argv[4] == "list":
    print(json.dumps(machines))
elif "broken" in path.read_text():
    sys.exit("no permission")
else:
    path.write_text(json.dumps([m for m in machines if not m["name"].endswith("/" + sys.argv[5])]))
"""
CREATE_TIME = "2026-01-01T00:00:00.000000001Z"
ACTION = DeleteNode("node/tiny-1", "tiny-1", "No accelerator found", "10.0.0.7", "us-east5-a")


@pytest.fixture
def cloud(story: Story, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two machines, one of them the bad one."""
    folder = story.home / "bin"
    folder.mkdir()
    (folder / "gcloud").write_text(GCLOUD)
    (folder / "gcloud").chmod(0o755)
    machines = {"ray-1": "10.0.0.71", "ray-2": "10.0.0.7"}
    fields = [
        {"name": f"p/nodes/{n}", "createTime": CREATE_TIME, "networkEndpoints": [{"ipAddress": a}]}
        for n, a in machines.items()
    ]
    (folder / "machines.json").write_text(json.dumps(fields))
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    story.init()
    return folder


def deletions(cloud: Path) -> list[str]:
    return [call for call in (cloud / "calls").read_text().splitlines() if " delete " in call]


@pytest.mark.thorough
def test_exactly_that_machine_is_deleted_once_and_all_of_it_recorded(
    story: Story, cloud: Path
) -> None:
    assert perform(story.run, ACTION).why == "" and perform(story.run, ACTION).why == ""
    assert deletions(cloud) == ["compute tpus tpu-vm delete ray-2 --zone us-east5-a --quiet"]
    (event,) = story.events("Done")
    assert event.key == "node/tiny-1" and event.lines["Before"] == "ray-2"
    assert mentions(event.lines["After"], "time", "address")
    assert event.lines["Command"] == f"gcloud {deletions(cloud)[0]}"
    (intent_event,) = story.events("Intended")
    assert "10.0.0.7" in intent_event.what and "us-east5-a" in intent_event.what


@pytest.mark.thorough
def test_a_machine_that_is_gone_is_not_deleted_again(story: Story, cloud: Path) -> None:
    perform(story.run, ACTION)
    again = DeleteNode("node/tiny-2", "tiny-2", "the same again", "10.0.0.7", "us-east5-a")
    assert perform(story.run, again).why == ""
    assert len(deletions(cloud)) == 1
    lines = story.events("Done")[-1].lines
    assert lines["Command"] == "none" and mentions(lines["Before"], "no machine", "address")
    assert mentions(lines["Status"], "worker", "10.0.0.7")


@pytest.mark.thorough
def test_what_fails_is_reported_and_left_undone(story: Story, cloud: Path) -> None:
    machines = cloud / "machines.json"
    machines.write_text(machines.read_text().replace("p/nodes", "broken/nodes"))
    assert "no permission" in perform(story.run, ACTION).why
    assert story.events("Done") == [] and len(story.events("Failed")) == 1


@pytest.mark.thorough
def test_an_interrupted_one_is_decided_on_again(
    story: Story, cloud: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from herorun.operations.babysit import replace_node

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(replace_node, "_call", interrupt)
        with pytest.raises(KeyboardInterrupt):
            perform(story.run, ACTION)
    assert settle(story.run) == []
    assert story.run.record.memory().failed["node/tiny-1"].interrupted
    assert perform(story.run, ACTION).why == "" and len(deletions(cloud)) == 1


def test_the_action_is_named_in_plain_words() -> None:
    (action,) = actions_of([ActionResult(ACTION, "")], {})
    assert (action.action, action.title) == ("delete node", "10.0.0.7 of tiny-1")
