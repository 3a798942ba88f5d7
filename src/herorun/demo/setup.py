"""What the demo starts with: the repository, its training job, a parent run's checkpoints, and the
contract.
"""

import json
import sys
import tomllib
from pathlib import Path

from herorun import adapters
from herorun.core.errors import WrongUse
from herorun.core.extras import how_to_install
from herorun.core.ports import Place
from herorun.demo.sandbox import SLUG, Sandbox
from herorun.system.host import user
from herorun.system.templates import template, template_names

FILES = ("train.py", "model.py", "checkpoints.py", "README.md")
PARENT_STEPS = 100
BAD_SHARD = "bad_shard = [640, 655]"


def needs_numpy() -> None:
    from importlib.util import find_spec

    if find_spec("numpy") is None:
        raise WrongUse(f"The demo trains with numpy: {how_to_install('demo')}.")


def scheduler_tables(stage: Sandbox) -> str:
    """What differs in the contract from one scheduler to another: its table, and how the job's
    interpreter is named.
    """
    kinds = template_names("demo/schedulers")
    if stage.scheduler not in kinds:
        raise WrongUse(f"The demo cannot run on {stage.scheduler!r}: it takes {', '.join(kinds)}.")
    tables = template(f"demo/schedulers/{stage.scheduler}.toml")
    if "{address}" in tables and not stage.address:
        raise WrongUse(
            "The demo needs a Ray head on this machine: `ray start --head` starts one, then add "
            "`--address http://127.0.0.1:8265`."
        )
    return tables.replace('"{address}"', json.dumps(stage.address)).replace(
        '"{python}"', json.dumps(sys.executable)
    )


def reach_scheduler(stage: Sandbox) -> None:
    """List the demo's jobs, of which there are none yet: a scheduler that does not answer is
    reported before anything is written.
    """
    options = tomllib.loads(scheduler_tables(stage))["scheduler"]
    kind, folder = options.pop("kind"), str(stage.folder)
    place = Place(SLUG, folder, str(stage.data), folder)
    adapters.connect("schedulers", kind, options, place).live_jobs(SLUG)


def set_the_stage(stage: Sandbox) -> None:
    """A scratch repository with its origin, the training job in it, and a parent run's
    checkpoints.
    """
    stage.show_heading("A scratch repository with a bare origin, and a real training job")
    stage.show(f"in {stage.folder}", "2")
    stage.do(
        "git", "init", "--quiet", "--bare", str(stage.folder / "origin.git"), within=stage.folder
    )
    stage.do(
        "git", "init", "--quiet", "--initial-branch=main", str(stage.work), within=stage.folder
    )
    who = user() or "herorun"
    for key, value in (
        ("user.name", who),
        ("user.email", f"{who}@localhost"),
        ("commit.gpgSign", "false"),
    ):
        stage.configure(key, value)
    for name in FILES:
        (stage.work / name).write_text(template(f"demo/{name}"), encoding="utf-8")
    config = template("demo/config.toml")
    (stage.work / "parent.toml").write_text(
        _config(config, stage.data / "parent", parent=True), encoding="utf-8"
    )
    (stage.work / "config.toml").write_text(_config(config, stage.data / SLUG), encoding="utf-8")
    (stage.work / ".gitignore").write_text("__pycache__/\n", encoding="utf-8")
    stage.do("git", "remote", "add", "origin", str(stage.folder / "origin.git"))
    commit(stage, "A character-level language model in numpy")
    stage.show_heading(
        "A parent run, without herorun, writes the checkpoints to start from: every 10 steps, "
        "step-10 to step-100"
    )
    stage.do("python", "train.py", "--config", "parent.toml")


def _config(text: str, root: Path, parent: bool = False) -> str:
    text = text.replace("/tmp/herorun-demo/run", str(root)).replace(
        "/tmp/herorun-demo/temporary", f"{root}-temporary"
    )
    if not parent:
        return text.replace(f"# {BAD_SHARD}", BAD_SHARD)
    return (
        text.replace("num_train_steps = 900", f"num_train_steps = {PARENT_STEPS}")
        .replace("min_step_seconds = 0.025", "min_step_seconds = 0.0")
        .replace("permanent_every = 200", "permanent_every = 10")
        .replace('id = "tiny-lm"', 'id = "tiny-lm-parent"')
    )


def block_the_gate(stage: Sandbox) -> None:
    """Prepare a launch gate that two faults block."""
    stage.show_heading(
        "init writes a contract. A person fills it in with a wrong start: step-90, the last name "
        "in alphabetical order (step-100 sorts before it). The second init creates the record and "
        "the issue"
    )
    stage.do("herorun", "init", SLUG)
    sign(stage, "step-90")
    commit(stage, "The run contract")
    stage.do("herorun", "init", SLUG)
    with (stage.work / "train.py").open("a", encoding="utf-8") as file:
        file.write("\n# a last-minute edit\n")


def commit(stage: Sandbox, message: str) -> None:
    stage.do("git", "add", "--all")
    stage.do("git", "commit", "--quiet", "--message", message)
    stage.do("git", "push", "--quiet", "--set-upstream", "origin", "main")


def sign(stage: Sandbox, checkpoint: str) -> None:
    contract = stage.work / "runs" / f"{SLUG}.toml"
    start = stage.data / "parent" / checkpoint
    text = template("demo/contract.toml").replace("{scheduler}", scheduler_tables(stage).strip())
    for name, value in (("data", stage.data), ("slug", SLUG), ("checkpoint", start)):
        text = text.replace(f"{{{name}}}", str(value))
    contract.write_text(text, encoding="utf-8")
