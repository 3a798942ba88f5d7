"""A small training job that reports its loss the way its first argument says, and saves checkpoints
at steps 2 and 4.

`on_trackers.py KIND ROOT` trains, and its client holds back the rows of the end, as one does that
is cut off;
`on_trackers.py KIND ROOT late` lets it send them. It is run by the Python that the client is
installed in.
"""

import json
import os
import sys
from pathlib import Path

KIND, ROOT, LATE = sys.argv[1], Path(sys.argv[2]), sys.argv[3:] == ["late"]
ROWS = range(1, 4) if LATE else range(2)  # as after a resume: a step is logged twice
LOSS = "train/loss"


def save(step):
    folder = ROOT / f"step-{step}"
    folder.mkdir(parents=True)
    (folder / "weights").write_text("weights")
    metadata = {"step": step, "timestamp": f"2026-01-01T00:00:0{step}", "is_temporary": False}
    (folder / "metadata.json").write_text(json.dumps(metadata))


def check_in():
    """Written by hand, as the Python of a client need not have herorun."""
    instance = os.environ["HERORUN_INSTANCE"]
    receipt = {"instance": instance, "attempt": 1, "outcome": "pass", "items": []}
    folder = ROOT / "_herorun" / "receipts"
    folder.mkdir(parents=True)
    (folder / f"{instance}.1.json").write_text(json.dumps(receipt))


def trackio():
    import trackio

    trackio.init(project="proj", name="tiny", resume="allow")
    for step in ROWS:
        trackio.log({LOSS: 2.5}, step=step)
    trackio.finish()


def wandb_offline():
    """Cut off, it ends with an error; the second begins another log of the same id, and ends
    well.
    """
    import wandb

    run = wandb.init(project="proj", id="tiny", name="tiny", dir=ROOT, mode="offline")
    for step in ROWS:
        run.log({LOSS: 2.5}, step=step)
    run.finish(exit_code=0 if LATE else 1)


def tensorboard():
    from trackers.written import event, tfrecord

    (ROOT / "tensorboard").mkdir(exist_ok=True)
    with (ROOT / "tensorboard" / "events.out.tfevents.1000000001.host").open("ab") as file:
        for step in ROWS:
            file.write(tfrecord(event(step, {LOSS: 2.5})))


def levanter_log():
    with (ROOT / "train.log").open("a") as file:
        for step in ROWS:
            line = {"tracker": "json_logger", "event": "log", "step": step, "metrics": {LOSS: 2.5}}
            file.write(
                "I20261121 10:00:00 140 levanter.json_logger json_logger.py:88] "
                f"{json.dumps(line)}\n"
            )


ROOT.mkdir(parents=True, exist_ok=True)
if not LATE:
    check_in()
globals()[KIND]()
if not LATE:
    save(2)
    save(4)
