"""The whole story of a hero run on one machine, told with the real commands on a real small training job."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from herorun.core.errors import Blocked, CouldNotLook, WrongUse
from herorun.system.host import user
from herorun.workspace import Run, open_run, template

SLUG = "tiny-lm"
FILES = ("train.py", "model.py", "checkpoints.py", "README.md")
PARENT_STEPS = 100
BAD_SHARD = "bad_shard = [640, 655]"
KILL_AT = 330  # steps: between two checkpoints
PATIENCE = 90.0  # seconds that each wait may take


@dataclass
class Stage:
    """The scratch folder that everything happens in."""

    folder: Path
    quiet: bool
    colour: bool
    scheduler: str = "local"
    address: str = ""  # of the cluster, where the scheduler is one
    began: float = field(default_factory=time.monotonic)

    @property
    def work(self) -> Path:
        return self.folder / "work"

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def run(self) -> Run:
        return open_run(SLUG, self.work)

    def say(self, text: str, style: str = "1") -> None:
        if not self.quiet:
            print(f"\033[{style}m{text}\033[0m" if self.colour else text, flush=True)

    def tell(self, text: str) -> None:
        self.say(f"\n# {text}", "1;36")

    def do(self, *argv: str, expect: Sequence[int] = (0,), within: Path | None = None) -> None:
        """Print a command, run it, and stop the story if it ends otherwise than told."""
        self.say("$ " + " ".join(_quoted(part) for part in argv))
        real = [sys.executable, "-m", "herorun", *argv[1:]] if argv[0] == "herorun" else list(argv)
        ended = subprocess.run(
            real,
            cwd=within or self.work,
            env=_environment(),
            stdout=subprocess.DEVNULL if self.quiet else None,
            stderr=subprocess.DEVNULL if self.quiet else None,
            timeout=PATIENCE,
            check=False,
        )
        if ended.returncode not in expect:
            raise Blocked(
                f"`{' '.join(argv)}` ended with exit code {ended.returncode}; the story stops in {self.folder}."
            )
        if ended.returncode:
            self.say(f"(exit code {ended.returncode}, as it should)", "2")

    def wait(self, what: str, until: Callable[[], bool]) -> None:
        self.say(f"... waiting until {what}", "2")
        end = time.monotonic() + PATIENCE
        while not until():
            if time.monotonic() > end:
                raise CouldNotLook(
                    f"The demo waited {PATIENCE:g} s in vain until {what}; look into {self.folder}."
                )
            time.sleep(0.2)


def _environment() -> dict[str, str]:
    """`python` is the interpreter that herorun runs in; git's own variables point nowhere else."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {"PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])}


def _quoted(part: str) -> str:
    import shlex

    return shlex.quote(part) if "\n" not in part else "..."


def tell_story(
    folder: Path, quiet: bool, colour: bool, scheduler: str = "local", address: str = ""
) -> dict[str, object]:
    """Run the story in an empty folder, and say how it ended."""
    _needs_numpy()
    stage = Stage(folder, quiet, colour, scheduler, address)
    _scheduler_table(stage)  # before anything is done
    set_the_stage(stage)
    _launch_gate(stage)
    try:
        _launch_and_babysit(stage)
    finally:
        _clear_away(stage)
    _seal(stage)
    return _ending(stage)


def _scheduler_table(stage: Stage) -> str:
    """`[scheduler]` of the contract: all that differs from one back end to another, but for the interpreter's path."""
    match stage.scheduler:
        case "local":
            return 'kind = "local"'
        case "slurm":
            _needs_slurm()
            return 'kind = "slurm"\ntime_limit = "15m"\narguments = ["--mem=1G"]\nsettle = "2s"'
        case "ray" if stage.address:
            return f'kind = "ray"\naddress = {json.dumps(stage.address)}\ncode = "shared"\nsettle = "2s"'
        case "ray":
            raise WrongUse(
                "The demo needs a Ray head on this machine: `ray start --head` starts one, then add "
                "`--address http://127.0.0.1:8265`."
            )
    raise WrongUse(f"The demo cannot be told on {stage.scheduler!r}: it knows local, ray and slurm.")


def _needs_slurm() -> None:
    """Whether it would run the jobs on this machine, nobody can tell beforehand: the kill finds its process, or not."""
    from shutil import which

    if which("sbatch") is None:
        raise WrongUse(
            "The demo needs Slurm's programs on this machine, and a node that is this machine: sbatch is not on the PATH."
        )


def _needs_numpy() -> None:
    from importlib.util import find_spec

    if find_spec("numpy") is None:
        raise WrongUse('The demo trains with numpy: `pip install "herorun[demo]"`.')


def set_the_stage(stage: Stage) -> None:
    """A scratch repository with its origin, the training job in it, and a parent run's checkpoints."""
    stage.tell(f"A scratch repository with a bare origin, and a real training job, in {stage.folder}")
    stage.do("git", "init", "--quiet", "--bare", str(stage.folder / "origin.git"), within=stage.folder)
    stage.do("git", "init", "--quiet", "--initial-branch=main", str(stage.work), within=stage.folder)
    who = user() or "herorun"
    for key, value in (("user.name", who), ("user.email", f"{who}@localhost"), ("commit.gpgSign", "false")):
        subprocess.run(["git", "config", key, value], cwd=stage.work, env=_environment(), check=True)
    for name in FILES:
        (stage.work / name).write_text(template(f"demo/{name}"), encoding="utf-8")
    config = template("demo/config.toml")
    (stage.work / "parent.toml").write_text(
        _config(config, stage.data / "parent", parent=True), encoding="utf-8"
    )
    (stage.work / "config.toml").write_text(_config(config, stage.data / SLUG), encoding="utf-8")
    (stage.work / ".gitignore").write_text("__pycache__/\n", encoding="utf-8")
    stage.do("git", "remote", "add", "origin", str(stage.folder / "origin.git"))
    _commit(stage, "A character-level language model in numpy")
    stage.tell("A parent run, not governed, leaves checkpoints to start from: step-10 ... step-90, step-100")
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


def _commit(stage: Stage, message: str) -> None:
    stage.do("git", "add", "--all")
    stage.do("git", "commit", "--quiet", "--message", message)
    stage.do("git", "push", "--quiet", "--set-upstream", "origin", "main")


def block_the_gate(stage: Stage) -> None:
    """Up to the launch gate, with two faults in front of it."""
    stage.tell(
        "init writes a contract; a person fills it in, and picks the start checkpoint by looking at a listing"
    )
    stage.do("herorun", "init", SLUG)
    _sign(stage, "step-90")
    _commit(stage, "The run contract")
    stage.do("herorun", "init", SLUG)
    with (stage.work / "train.py").open("a", encoding="utf-8") as file:
        file.write("\n# a last-minute edit\n")


def _sign(stage: Stage, checkpoint: str) -> None:
    contract = stage.work / "runs" / f"{SLUG}.toml"
    start = stage.data / "parent" / checkpoint
    told = {
        "table": _scheduler_table(stage),
        "python": "python" if stage.scheduler == "local" else sys.executable,
    }
    contract.write_text(CONTRACT.format(data=stage.data, slug=SLUG, start=start, **told), encoding="utf-8")


def _launch_gate(stage: Stage) -> None:
    block_the_gate(stage)
    stage.tell(
        "The launch gate is blocked: an edit that nobody committed, and step-90 sorts after step-100 as text"
    )
    stage.do("herorun", "preflight", SLUG, expect=(1,))
    stage.do("herorun", "explain", "start-checkpoint-not-newest")
    stage.tell(
        "Mended: the edit is committed and pushed, and the contract names the newest checkpoint by number"
    )
    _sign(stage, "step-100")
    _commit(stage, "The edit, and the right start checkpoint")
    stage.do("herorun", "preflight", SLUG, "--out", str(stage.folder / "plan.json"))


def _launch_and_babysit(stage: Stage) -> None:
    stage.tell("Launch exactly the reviewed plan; the babysitter starts with it")
    stage.do("herorun", "launch", SLUG, "--plan", str(stage.folder / "plan.json"))
    run = stage.run
    stage.wait("the job trains", lambda: _step(stage) > KILL_AT - 120)
    stage.do("herorun", "status", SLUG)
    stage.wait(f"step {KILL_AT}", lambda: _step(stage) >= KILL_AT)
    stage.tell("The training process is really killed")
    pid = _trainer(run, f"{SLUG}-1")
    stage.say(f"$ kill -KILL {pid}")
    os.kill(pid, signal.SIGKILL)
    stage.wait("the babysitter has relaunched it", lambda: len(run.record.memory().instances) == 2)
    stage.do("herorun", "status", SLUG)
    stage.tell("A broken data shard comes at step 640: the loss really jumps")
    stage.wait("the spike is escalated", lambda: _done(run, "escalate/loss-spike"))
    stage.do("herorun", "note", SLUG, "--status", "loss spike at step 641", "--evidence", "data shard at steps 640-655 is noise",
             "--decision", "go on: the loss is back on its trend", "--next", "seal", "--caveat", "steps 640-655 trained on noise")  # fmt: skip
    stage.wait("the run has finished", lambda: _done(run, f"tell/{SLUG}-2/finished"))
    stage.wait("the babysitter has gone", lambda: not _babysitter_runs(run))
    stage.tell("What the babysitter saw and did")
    stage.do("cat", str(run.state / "babysit.log"))


def _trainer(run: Run, instance: str) -> int:
    """The training process of an instance on this machine: as noted at its start, or by its environment and command."""
    noted = run.state / "jobs" / instance / "started.json"
    if noted.exists():
        return int(json.loads(noted.read_text())["pid"])
    mark = f"HERORUN_INSTANCE={instance}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            environment = (folder / "environ").read_bytes().split(b"\0")
            if mark in environment and b"train.py" in (folder / "cmdline").read_bytes().split(b"\0"):
                return int(folder.name)
        except OSError:  # ended meanwhile, or somebody else's
            continue
    raise CouldNotLook(f"The training process of {instance} is not on this machine: the demo kills it here.")


def _step(stage: Stage) -> int:
    """The newest logged step, from the end of the metrics file."""
    try:
        with (stage.data / SLUG / "metrics.jsonl").open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - 4096))
            lines = file.read().split(b"\n")[:-1]
        return int(json.loads(lines[-1])["step"])
    except (OSError, ValueError, IndexError, KeyError):
        return -1


def _done(run: Run, prefix: str) -> bool:
    return any(key.startswith(prefix) for key in run.record.memory().done)


def _babysitter_runs(run: Run) -> bool:
    from herorun.system.files import is_locked

    return is_locked(run.lock("babysitter"))


def _seal(stage: Stage) -> None:
    stage.tell("Seal: asked, stated, tagged, pushed, told; and the record is verified")
    stage.do("herorun", "seal", SLUG)
    stage.do("herorun", "logbook", "verify", SLUG)
    stage.tell("The logbook, the issue and the tag")
    stage.do("herorun", "logbook", "show", SLUG)
    stage.do("cat", str(stage.run.state / "issue.md"))
    stage.do("git", "cat-file", "-p", f"herorun/{SLUG}/seal-1")
    stage.do("git", "ls-remote", "origin")
    stage.tell("The run as one page, to be opened in a browser")
    stage.do("herorun", "report", SLUG)


def _clear_away(stage: Stage) -> None:
    """Whatever still runs was started by this demo: its babysitter and its job, each by its own id."""
    run = stage.run
    if _babysitter_runs(run):
        heart = json.loads((run.state / "heartbeat.json").read_text())
        os.kill(int(heart["pid"]), signal.SIGTERM)
    for job in run.scheduler.live(SLUG):
        run.scheduler.stop(job.instance, run.launcher.owner)


def _ending(stage: Stage) -> dict[str, object]:
    memory = stage.run.record.memory()
    seconds = time.monotonic() - stage.began
    stage.say(
        f"\nThe story took {seconds:.0f} s. Everything is in {stage.folder}: look around, then delete it."
    )
    return {
        "folder": str(stage.folder),
        "slug": SLUG,
        "instances": [instance.name for instance in memory.instances],
        "tag": memory.sealed.tag if memory.sealed else None,
        "record": stage.run.record.tip,
        "issue": str(stage.run.state / "issue.md"),
        "seconds": round(seconds, 1),
    }


CONTRACT = """\
slug = "{slug}"
goal = "show a hero run from contract to seal"
stop_when = "not-finite, or a loss spike that does not come back within 100 steps"
final_step = "trainer.num_train_steps"

[command]
argv = ["{python}", "train.py", "--config", "config.toml"]
resume_argv = ["{python}", "train.py", "--config", "config.toml", "--resume", "{{start}}"]

[config]
files = ["config.toml"]

[output]
root = "{data}/{slug}"
temporary_root = "{data}/{slug}-temporary"

[checkpoints]
layout = "levanter"
permanent_every = 200
temporary_every = "1s"
keep = 3

[start]
from = "{start}"
kind = "full-state"

[tracker]
kind = "jsonl"
path = "metrics.jsonl"
id = "{slug}"

[scheduler]
{table}

[babysit]
cadence = "2s"
recovery = "relaunch"

[issue]
kind = "local"
"""
