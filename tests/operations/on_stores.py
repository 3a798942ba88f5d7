"""A small training job that writes Levanter's checkpoints to object stores and reports to W&B, with
the real clients.

Its argument names a folder: where `<instance>-<step>` lies in it, the instance waits after that
step.
"""

import json
import os
import sys
import time
import tomllib
from datetime import UTC, datetime

os.environ |= {
    # it would ask by gRPC, which the server does not speak
    "GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT": "false",
    "WANDB_SILENT": "true",
    "WANDB_ERROR_REPORTING": "false",
}
import gcsfs
import s3fs
import wandb

import herorun

with open("config.toml", "rb") as file:
    CONFIG = tomllib.load(file)
TRAINER_CONFIG, START = CONFIG["trainer"], os.environ["HERORUN_START"]
herorun.check_in(
    config=CONFIG, output_root=TRAINER_CONFIG["root"], tracker_id=TRAINER_CONFIG["id"], loaded=START
)

STORES = {"gs": gcsfs.GCSFileSystem(token="anon"), "s3": s3fs.S3FileSystem()}


def save(root: str, step: int) -> None:
    store, path = STORES[root[:2]], f"{root}/step-{step}"
    marker = {
        "step": step,
        "timestamp": datetime.now(UTC).isoformat(),
        "is_temporary": root == TRAINER_CONFIG["temporary_root"],
    }
    store.pipe_file(f"{path}/weights/0", b"weights")
    store.pipe_file(f"{path}/metadata.json", json.dumps(marker).encode())


step = json.loads(STORES[START[:2]].cat_file(f"{START}/metadata.json"))["step"]
SOON = wandb.Settings(x_file_stream_transmit_interval=1)  # seconds; less counts as none
run = wandb.init(
    entity="ent",
    project="proj",
    id=TRAINER_CONFIG["id"],
    resume="allow",
    config=CONFIG,
    settings=SOON,
)
while step < TRAINER_CONFIG["steps"]:
    run.log({"train/loss": 2.5 - 0.01 * step}, step=step, commit=True)
    step += 1
    if step % 2 == 0:
        save(TRAINER_CONFIG["temporary_root"] if step % 4 else TRAINER_CONFIG["root"], step)
    while os.path.exists(f"{sys.argv[1]}/{os.environ['HERORUN_INSTANCE']}-{step}"):
        time.sleep(0.02)
run.finish()
