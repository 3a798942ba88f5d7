"""The same contract on several back ends, as the page shows it: nothing but `[scheduler]` changes,
by three lines.
"""

import re
import tomllib
from pathlib import Path

import pytest

from herorun import adapters
from herorun.core.contract import parse_contract, plan_part
from herorun.core.ports import Place

PAGE = (Path(__file__).parents[1] / "docs" / "schedulers.md").read_text()
SCHEDULER_TABLES = re.findall(r"```toml\n(\[scheduler\]\n.*?)```", PAGE, re.DOTALL)
CONTRACT = """\
slug = "tiny"
goal = "show the whole path"
dri = "@dri"
stop_when = "the loss rises"
final_step = 200

[command]
argv = ["/shared/venv/bin/python", "train.py", "--config", "config.toml"]

[config]
files = ["config.toml"]

[output]
root = "gs://bucket/tiny"
temporary_root = "gs://bucket/tiny-temporary"

[checkpoints]
permanent_every = 100
temporary_every = "15m"

[tracker]
kind = "jsonl"
path = "metrics.jsonl"

[issue]
kind = "local"

"""


def test_the_page_shows_this_machine_slurm_and_ray() -> None:
    assert [tomllib.loads(text)["scheduler"]["kind"] for text in SCHEDULER_TABLES] == [
        "local",
        "slurm",
        "ray",
    ]


@pytest.mark.parametrize("text", SCHEDULER_TABLES, ids=lambda text: text.split('"')[1])
def test_the_same_contract_is_valid_on_each_and_nothing_else_of_its_plan_changes(
    text: str, tmp_path: Path
) -> None:
    here, there = (
        parse_contract(CONTRACT + table, "the page") for table in (SCHEDULER_TABLES[0], text)
    )
    place = Place("tiny", str(tmp_path), "gs://bucket/tiny", str(tmp_path))
    scheduler = there.scheduler
    adapter = adapters.connect(
        "schedulers", scheduler.kind, scheduler.options, place, {"restarts": scheduler.restarts}
    )
    assert callable(adapter.submit)
    changed_keys = {
        key for key, value in plan_part(there).items() if plan_part(here).get(key) != value
    }
    assert changed_keys <= {"scheduler"}
    lines = set(text.splitlines()) - set(SCHEDULER_TABLES[0].splitlines())
    assert len(lines) <= 3
