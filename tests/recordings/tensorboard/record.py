"""Writes the recordings next to this file again, with the real writers.

    python -m venv scratch
    scratch/bin/pip install tensorboardX==2.6.5 tensorboard==2.21.0
    scratch/bin/python tests/recordings/tensorboard/record.py

`tensorboardx` holds floats of two processes, the second resumed at step 3, and what else
tensorboardX writes into the same folder. `tensors` holds the tensors that TensorBoard's own writer
and TensorFlow 2 write.
"""

import math
import shutil
from pathlib import Path

HERE = Path(__file__).parent


def main() -> None:
    for name in ("tensorboardx", "tensors"):
        shutil.rmtree(HERE / name, ignore_errors=True)
    floats(HERE / "tensorboardx", range(5))
    name_file(HERE / "tensorboardx", "1000000001")
    floats(HERE / "tensorboardx", range(3, 8))
    name_file(HERE / "tensorboardx", "1000000002")
    tensors(HERE / "tensors", range(5))
    name_file(HERE / "tensors", "1000000001")


def floats(folder: Path, steps: range) -> None:
    from tensorboardX import SummaryWriter

    writer = SummaryWriter(str(folder))
    writer.add_text("config", "words", 0)
    for step in steps:
        writer.add_scalar("train/loss", 4.0 / (step + 1), step)
        writer.add_scalar("grad_norm", math.nan if step == 4 else 0.5, step)
    writer.add_histogram("weights", [1.0, 2.0, 3.0], steps[-1])
    writer.add_scalar("parameters", 1e6)  # for no step
    writer.close()


def tensors(folder: Path, steps: range) -> None:
    from tensorboard.summary import Writer

    writer = Writer(str(folder))
    for step in steps:
        writer.add_scalar("train/loss", 4.0 / (step + 1), step)
    writer.close()


def name_file(folder: Path, time: str) -> None:
    """The writers name their newest file by the time and the host; here it must not change."""
    newest = max(folder.glob("events.out.tfevents.*"), key=lambda path: path.stat().st_mtime_ns)
    newest.rename(folder / f"events.out.tfevents.{time}.host")


if __name__ == "__main__":
    main()
