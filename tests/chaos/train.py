"""The job of a chaos week: it trains nothing, logs rows, saves Levanter-shaped checkpoints,
notes each start of itself, and does what its file of orders says.

`train.py --config FILE`, standard library and herorun alone. It notes which other starts of the run
still live.
"""

import contextlib
import json
import math
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


def fields_of_stat(pid: object) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def lives(row: dict) -> bool:
    try:
        start_mark = fields_of_stat(row["pid"])
    except OSError:
        return False
    return start_mark[19] == row["start_time"] and start_mark[0] not in "ZX"


def complete() -> list[tuple[int, float]]:
    """Steps, and when each was saved."""
    markers = root.glob("step-*/metadata.json")
    return sorted((int(path.parent.name[5:]), path.stat().st_mtime) for path in markers)


def save(step: int) -> None:
    folder = root / f"step-{step}"
    folder.mkdir(exist_ok=True)
    (folder / "weights").write_bytes(b"w" * 2048)
    metadata = {
        "step": step,
        "timestamp": time.strftime("%Y-%m-%dT%H:%M:%S"),
        "is_temporary": False,
    }
    (folder / ".metadata").write_text(json.dumps(metadata))
    (folder / ".metadata").rename(folder / "metadata.json")


step = int(start.rpartition("step-")[2]) if start else 0
before = [json.loads(line) for line in starts.read_text().splitlines()] if starts.exists() else []
with starts.open("a") as file:
    row = {
        "at": time.time(),
        "pid": os.getpid(),
        "start_time": fields_of_stat("self")[19],
        "instance": os.environ["HERORUN_INSTANCE"],
        "from": step,
        "complete": complete(),
        "beside": [each["instance"] for each in before if lives(each)],
    }
    file.write(json.dumps(row) + "\n")
herorun.check_in(config=config, output_root=config["output"], loaded=start, tracker_id=config["id"])
root.mkdir(parents=True, exist_ok=True)
path, orders = root / "metrics.jsonl", Path(config["orders"])
newest = None  # the newest order that this job knows
rows_left = {"nan": 0, "spike": 0, "slow": 0}  # rows


def newest_order() -> dict | None:
    try:
        return json.loads(orders.read_text())
    except (OSError, ValueError):
        return None


def obey() -> None:
    """What the newest order says, once."""
    global newest
    order = newest_order()
    if order is None or order == newest:
        return
    newest = order
    if order["what"] in rows_left:
        rows_left[order["what"]] = order["rows"]
    elif order["what"] == "flood":
        print(("x" * 99 + "\n") * 120_000, end="", flush=True)
    elif order["what"] == "exit 78":
        os._exit(78)
    elif order["what"] == "bug":
        {"a": 1}["a missing column"]


def row_of(step: int) -> dict:
    """The step's time is what was meant: how busy the machine is does not matter."""
    loss = 2.0 + 4.0 * math.exp(-step / 300) + random.Random(step).gauss(0, 0.02)
    loss = math.nan if rows_left["nan"] else loss * (2.5 if rows_left["spike"] else 1)
    took = (
        config["step_time"] * (3 if rows_left["slow"] else 1) * random.Random(-step).gauss(1, 0.01)
    )
    return {"step": step, "train/loss": loss, "step_time_s": took, "timestamp": time.time()}


newest = newest_order()  # it was another instance's
while step < config["steps"]:
    time.sleep(config["step_time"] * (3 if rows_left["slow"] else 1))
    row = row_of(step)
    rows_left = {name: max(0, rows - 1) for name, rows in rows_left.items()}
    with contextlib.suppress(OSError), path.open("a") as rows:  # the disk is full
        rows.write(json.dumps(row) + "\n")
    step += 1
    obey()
    if step % config["every"] == 0:
        with contextlib.suppress(OSError):
            save(step)
