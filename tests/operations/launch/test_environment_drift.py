"""Drift that nobody diffed: what another shell holds does not reach a relaunch, and is named at a
launch by hand.
"""

import json
import tarfile

import pytest

from stories import CRASH, SLUG, Story, git
from wording import mentions

READS = 'echo "$HERORUN_INSTANCE PACK=${PACK-} XLA_FLAGS=${XLA_FLAGS-}" >> "$1/environments"\n'


@pytest.fixture
def reading(story: Story, monkeypatch: pytest.MonkeyPatch) -> Story:
    """A job that writes down what it reads of its environment."""
    monkeypatch.delenv("PACK", raising=False)
    monkeypatch.setenv("XLA_FLAGS", "--xla_a=1 --xla_b=2")
    script = story.work / "train.sh"
    script.write_text(READS + script.read_text())
    return story


def environments(story: Story) -> list[str]:
    return (story.data / "environments").read_text().splitlines()


def test_a_relaunch_trains_with_what_was_admitted(
    reading: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading.sign(command={"env": {"PACK": "8"}})
    reading.run_first_job(CRASH)
    monkeypatch.setenv("PACK", "1")
    monkeypatch.setenv("XLA_FLAGS", "--xla_b=9")
    for _ in range(3):
        reading.tick()
    reading.wait_for_end()

    assert environments(reading)[:2] == [
        f"{SLUG}-{number} PACK=8 XLA_FLAGS=--xla_a=1 --xla_b=2" for number in (1, 2)
    ]


def test_by_hand_each_difference_is_named_and_blocks(
    reading: Story, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PACK", "8")
    assert reading.init() == 0
    assert reading.launch() == 1
    assert mentions(capsys.readouterr().out, "PACK", "train.sh:1", "8", "shell")
    reading.sign(command={"env": {"PACK": "8"}})
    assert reading.launch() == 0
    reading.wait_for_end()

    monkeypatch.setenv("XLA_FLAGS", "--xla_b=9 --xla_a=1")
    reading.sign(command={"env": {"PACK": "1"}})
    capsys.readouterr()
    assert reading.herorun("preflight", SLUG, "--json") == 1
    findings = json.loads(capsys.readouterr().out)["findings"]
    drift = {
        f["subject"]: f["message"]
        for f in findings
        if f["check"] == "config-drift" and f["outcome"] == "fail"
    }
    assert drift == {
        "env.PACK": "env.PACK: '8' -> '1' (unclassified)",
        "env.XLA_FLAGS.xla_b": "env.XLA_FLAGS.xla_b: '2' -> '9' (trajectory)",
    }


def test_a_relaunch_from_another_bundle_asks(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle = story.data / "code.tar"
    story.sign(runtime={"bundle": str(bundle)})
    git(story.work, "archive", f"--output={bundle}", "HEAD")
    story.run_first_job(CRASH)
    with tarfile.open(bundle, "a") as tar:
        tar.add(story.work / "config.toml", "train.sh")
    for _ in range(3):
        story.tick()

    assert len(story.events("Launched")) == 1
    assert mentions(capsys.readouterr().out, "bundle-mismatch", "content", f"{bundle}", "sha256")
    assert story.launch() == 1
    assert "1 changed (train.sh)" in capsys.readouterr().out
