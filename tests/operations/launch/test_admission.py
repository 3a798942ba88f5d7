"""What is admitted: check-in compares the files that can change the training, and no others."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from herorun.core.admission.environment import is_salted
from herorun.operations.launch.admission import salted_secrets
from herorun.trackers.jsonl import JsonLines
from stories import Story

WORLD = {
    "extra.py": "from tests.data import make\n",
    "tests/data.py": "make = 1\n",
    "tests/test_extra.py": "",
    "README.md": "words\n",
    "experiments/other.py": "",
    "plot.py": "",
    "uv.lock": "",
}


def admitted_keys(story: Story, **changes: object) -> set[str]:
    for name, text in WORLD.items():
        (story.work / name).parent.mkdir(exist_ok=True)
        (story.work / name).write_text(text)
    story.sign(command={"argv": ["sh", "train.sh", str(story.data), "extra.py"]}, **changes)
    story.run_first_job()
    return set(
        json.loads((story.state / "admissions" / "tiny-1" / "admission.json").read_text())["files"]
    )


def test_files_of_block_impact_are_admitted(story: Story) -> None:
    trained_files = {"train.sh", "config.toml", "extra.py", "tests/data.py", "plot.py", "uv.lock"}
    assert admitted_keys(story) == trained_files


def test_the_contract_says_which_they_are(story: Story) -> None:
    trained_files = {"train.sh", "config.toml", "extra.py", "tests/data.py", "README.md", "uv.lock"}
    assert (
        admitted_keys(story, code={"impact": {"*.md": "block", "*.py": "ignore"}}) == trained_files
    )


def test_check_in_is_reported_where_the_trackers_client_takes_the_id_from(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(JsonLines, "id_variable", "THEIR_RUN", raising=False)
    story.run_first_job()
    admission = json.loads((story.state / "admissions" / "tiny-1" / "admission.json").read_text())
    assert admission["tracker_id_variable"] == "THEIR_RUN"


def test_the_secrets_of_a_launch_are_admitted_as_salted_digests(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("WANDB_API_KEY", "0a1b2c3d")
    monkeypatch.delenv("HF_TOKEN", raising=False)
    plan: Any = SimpleNamespace(secrets=SimpleNamespace(value=("WANDB_API_KEY", "HF_TOKEN")))
    run: Any = SimpleNamespace(scheduler=SimpleNamespace())
    secrets = salted_secrets(run, plan)
    assert set(secrets) == {"WANDB_API_KEY"} and is_salted("0a1b2c3d", secrets["WANDB_API_KEY"])
    run.scheduler.secrets_source = "the cluster"
    assert salted_secrets(run, plan) == {}
