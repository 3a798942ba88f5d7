"""What `herorun init` writes into a new contract: the script and config that are really there."""

import os
import tomllib
from pathlib import Path
from typing import Any

import pytest

from commands.answers import ask
from herorun.operations.record.contract_template import with_command
from herorun.operations.record.script_search import CommandDraft
from herorun.system.templates import template
from stories import Story
from wording import mentions

CAPTURE = pytest.CaptureFixture[str]


def new_contract(story: Story, capsys: CAPTURE) -> tuple[dict[str, Any], str]:
    answer = ask(story, capsys, "init", "new")
    assert answer.code == 0
    text = Path(story.work / "runs" / "new.toml").read_text()
    return tomllib.loads(text), answer.out


def test_init_takes_the_script_and_the_config_that_are_there(story: Story, capsys: CAPTURE) -> None:
    (story.work / "train.sh").unlink()
    (story.work / "lib").mkdir()
    (story.work / "lib" / "train_moe.py").write_text("")
    (story.work / "pretrain.py").write_text('parser.add_argument("--config")\n')
    contract, out = new_contract(story, capsys)
    assert contract["command"] == {"argv": ["python", "pretrain.py", "--config", "config.toml"]}
    assert contract["config"] == {"files": ["config.toml"]}
    assert mentions(out, "chose", "pretrain.py", "[command]")
    assert "also there: lib/train_moe.py" in out


@pytest.mark.parametrize(
    ("names", "best"),
    [
        (("configs/new.yaml", "config/base.yaml"), "configs/new.yaml"),
        (("config.yaml", "results/new.json"), "config.yaml"),
        (("conf/model/moe.yaml", "conf/base.yaml"), "conf/base.yaml"),
    ],
)
def test_a_file_of_the_runs_name_or_in_a_folder_of_configs_is_one(
    story: Story, capsys: CAPTURE, names: tuple[str, ...], best: str
) -> None:
    (story.work / "config.toml").unlink()
    for name in names:
        (story.work / name).parent.mkdir(parents=True, exist_ok=True)
        (story.work / name).write_text("")
    contract, _ = new_contract(story, capsys)
    assert contract["config"] == {"files": [best]}


def test_init_says_what_it_could_not_find(story: Story, capsys: CAPTURE) -> None:
    (story.work / "train.sh").unlink()
    (story.work / "config.toml").unlink()
    contract, out = new_contract(story, capsys)
    assert mentions(out, "script", "[command]", "example")
    assert mentions(out, "config", "[config]", "example")
    assert mentions((story.work / "runs" / "new.toml").read_text(), "example", "script")
    assert story.herorun("init", "new") == 2  # it is still as it was written
    assert mentions(capsys.readouterr().err, "herorun init")
    assert contract["slug"] == "new"


def test_a_name_with_quotes_stays_one_word() -> None:
    draft = CommandDraft(scripts=('a"b\\train.sh',), configs=("ü.toml",))
    text = with_command(template("run.toml"), draft)
    contract = tomllib.loads(text)
    assert contract["command"]["argv"] == ["bash", 'a"b\\train.sh']
    assert contract["config"]["files"] == ["ü.toml"]
    resume = tomllib.loads(text.replace("# resume_argv", "resume_argv"))["command"]["resume_argv"]
    assert resume == [*contract["command"]["argv"], "--resume", "{start}"]


BATCH = """#!/bin/bash
#SBATCH --job-name=moe
#SBATCH -p big -N 16 --gres=gpu:8 # all of it
#SBATCH --time=2-00:00:00
#SBATCH --exclusive
#SBATCH --requeue
srun python train.py
#SBATCH --qos=late
"""


def test_init_takes_a_batch_script_with_what_it_requests(story: Story, capsys: CAPTURE) -> None:
    (story.work / "jobs").mkdir()
    (story.work / "jobs" / "train-moe.sbatch").write_text(BATCH)
    contract, out = new_contract(story, capsys)
    assert contract["command"]["argv"][:2] == ["bash", "jobs/train-moe.sbatch"]
    assert contract["scheduler"] == {
        "kind": "slurm",
        "partition": "big",
        "nodes": 16,
        "gres": "gpu:8",
        "time_limit": "2d",
        "arguments": ["--exclusive"],
    }
    assert mentions(out, "[scheduler]", "partition", "time_limit", "jobs/train-moe.sbatch")


@pytest.mark.parametrize(("kind", "count"), [("slurm", 6), ("ray", 1)])
def test_the_projects_own_scheduler_counts_and_a_script_only_completes_it(
    story: Story, capsys: CAPTURE, kind: str, count: int
) -> None:
    (story.work / "pyproject.toml").write_text(f'[tool.herorun.init]\nscheduler = "{kind}"\n')
    (story.work / "train.sbatch").write_text(BATCH)
    contract, _ = new_contract(story, capsys)
    assert contract["scheduler"]["kind"] == kind
    assert len(contract["scheduler"]) == count


def test_a_script_without_a_request_names_no_scheduler(story: Story, capsys: CAPTURE) -> None:
    (story.work / "train.sbatch").write_text("#!/bin/sh\ntrue\n")
    contract, _ = new_contract(story, capsys)
    assert contract["scheduler"] == {"kind": "local"}


@pytest.mark.parametrize(
    ("lines", "keys"),
    [
        ("#SBATCH -J x --array=0-3 --nodes=2-4 --time=UNLIMITED", {}),
        ("#SBATCH --time=99999999999999 -p big", {"partition": "big"}),
        ("#SBATCH gpu -N 2", {"nodes": 2}),
        ("#SBATCH -N1 -p cpu\n#SBATCH hetjob\n#SBATCH -N64 -p gpu --exclusive", {}),
        ("#SBATCH --reservation=a\x7fb", {"arguments": ["--reservation=a\x7fb"]}),
    ],
)
def test_what_no_key_can_say_leaves_the_scheduler_its_kind(
    story: Story, capsys: CAPTURE, lines: str, keys: dict[str, object]
) -> None:
    (story.work / "train.sbatch").write_text(f"#!/bin/sh\n{lines}\ntrue\n")
    contract, _ = new_contract(story, capsys)
    assert contract["scheduler"] == {"kind": "slurm", **keys}


def test_a_script_whose_name_no_contract_can_hold_is_left_out(
    story: Story, capsys: CAPTURE
) -> None:
    (story.work / os.fsdecode(b"train\xff.sbatch")).write_text("#!/bin/sh\n#SBATCH -N 2\n")
    contract, _ = new_contract(story, capsys)
    assert contract["command"]["argv"] == ["bash", "train.sh"]
