"""A whole seal with every tracker that lies in files, written by its own client where that is
installed.

The trainer ends well and its client does not: the rows of the end are missing, and W&B's log says
that it failed.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from operations.seal.sealed_story import World, has_ended, is_sealed_after_its_end
from services.fixtures import skip_or_fail
from services.servers import PYTHON
from stories import Story, contract_of

pytestmark = pytest.mark.thorough

CAPTURE = pytest.CaptureFixture[str]
TESTS = Path(__file__).parents[2]
SHORT = frozenset({"missing-final-metrics"})


@dataclass(frozen=True)
class Kind:
    """The `[tracker]` of a contract, the Python that its client is installed in, and what a missing
    end is found by.
    """

    tracker: Mapping[str, str]
    python: str = sys.executable
    env: Mapping[str, str] = field(default_factory=dict)
    blocks: frozenset[str] = SHORT


QUIET = {"WANDB_SILENT": "true", "WANDB_ERROR_REPORTING": "false"}
KINDS = {
    "trackio": Kind(
        {"path": "trackio", "project": "proj", "name": "tiny"}, str(PYTHON), {"HF_HUB_OFFLINE": "1"}
    ),
    "tensorboard": Kind({"path": "tensorboard"}, env={"PYTHONPATH": str(TESTS)}),
    "wandb_offline": Kind(
        {"path": "wandb", "id": "tiny"}, env=QUIET, blocks=SHORT | {"unfinished-tracker-run"}
    ),
    "levanter_log": Kind({"path": "train.log"}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_sealed_before_the_tracker_has_the_last_row(
    kind: str, story: Story, capsys: CAPTURE
) -> None:
    tracker = KINDS[kind]
    if kind == "trackio" and not list(PYTHON.parents[1].glob("lib/python*/site-packages/trackio")):
        skip_or_fail(f"trackio is not in {PYTHON.parents[1]}: `make services` installs it")
    shutil.copy(Path(__file__).parents[1] / "on_trackers.py", story.work / "train.py")
    env = {**tracker.env, "TRACKIO_DIR": str(story.root / "trackio")}
    contract: dict[str, Any] = {
        **contract_of(story.data),
        "command": {"argv": [tracker.python, "train.py", kind, str(story.root)], "env": env},
        "tracker": {"kind": kind, **tracker.tracker},
    }
    (story.work / "runs" / "tiny.toml").write_text(tomli_w.dumps(contract))
    story.publish()

    def send_the_rest() -> None:
        argv = [tracker.python, "train.py", kind, str(story.root), "late"]
        subprocess.run(
            argv, cwd=story.work, env={**os.environ, **env}, check=True, capture_output=True
        )

    world = World(story, send_the_rest, tracker.blocks, lambda: has_ended(story), str(story.root))
    facts = is_sealed_after_its_end(world, capsys)
    assert facts["tracker"]["kind"] == kind
