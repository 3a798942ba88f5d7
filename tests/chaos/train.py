"""The job of a chaos week: it trains nothing, logs rows, saves Levanter-shaped checkpoints, and
notes each start of itself.

`train.py --config FILE`, standard library and herorun alone. It notes which other starts of the run
still live.
"""

import contextlib
import json
import os
import random
import sys
import time
import tomllib
from pathlib import Path

import herorun

config = tomllib.loads(Path(sys.argv[2]).read_text())
root, starts = Path(config["root"]), Path(config["starts"])
start = os.environ.get("HERORUN_START") or None


def birth(pid: object) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def lives(row: dict) -> bool:
    try:
        told = birth(row["pid"])
    except OSError:
        return False
    return told[19] == row["birth"] and told[0] not in "ZX"


def newest() -> int | None:
    steps = [int(path.parent.name[5:]) for path in root.glob("step-*/metadata.json")]
    return max(steps, default=None)


def save(step: int) -> None:
    folder = root / f"step-{step}"
    folder.mkdir(exist_ok=True)
    (folder / "weights").write_bytes(b"w" * 2048)
    told = {"step": step, "timestamp": time.strftime("%Y-%m-%dT%H:%M:%S"), "is_temporary": False}
    (folder / ".metadata").write_text(json.dumps(told))
    (folder / ".metadata").rename(folder / "metadata.json")


step = json.loads((Path(start) / "metadata.json").read_text())["step"] if start else 0
before = [json.loads(line) for line in starts.read_text().splitlines()] if starts.exists() else []
with starts.open("a") as file:
    row = {
        "at": time.time(),
        "pid": os.getpid(),
        "birth": birth("self")[19],
        "instance": os.environ["HERORUN_INSTANCE"],
        "from": step,
        "newest": newest(),
        "beside": [each["instance"] for each in before if lives(each)],
    }
    file.write(json.dumps(row) + "\n")
herorun.check_in(config=config, output_root=str(root), loaded=start, tracker_id=config["id"])
root.mkdir(parents=True, exist_ok=True)
path = root / "metrics.jsonl"
while step < config["steps"]:
    time.sleep(config["step_time"])
    loss = 2.0 + random.Random(step).gauss(0, 0.02)
    with contextlib.suppress(OSError), path.open("a") as rows:  # the disk is full
        rows.write(json.dumps({"step": step, "train/loss": loss, "timestamp": time.time()}) + "\n")
    step += 1
    if step % config["every"] == 0:
        with contextlib.suppress(OSError):
            save(step)
