"""Train the character model: `python train.py --config config.toml [--resume PATH]`.

This is also the example of a script that herorun can govern. It owes herorun four things, marked
[1] to [4]: it starts where the environment says, it checks in before it trains, it logs every step,
and its checkpoints say when they are complete.
"""

import os

# One thread: the same sums in the same order every time, so that a resumed run equals an unbroken
# one bit by bit.
os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import argparse
import json
import math
import signal
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
from checkpoints import Checkpoints, load
from model import Adam, Batches, Model, read_text

import herorun

EXIT_STOPPED = 143  # 128 + SIGTERM


class Training:
    """Everything that a step changes, and the step itself."""

    def __init__(self, config: dict[str, Any]) -> None:
        trainer, model, optimizer = config["trainer"], config["model"], config["optimizer"]
        seed, context = trainer["seed"], model["context"]
        self.step = 0  # completed updates
        self.final_step: int = trainer["num_train_steps"]
        self.tokens: int = trainer["batch_size"] * trainer["seq_len"]
        self._min_seconds: float = trainer.get("min_step_seconds", 0)
        self._bad_shard: list[int] = config["data"].get("bad_shard", [0, -1])
        self._peak: float = optimizer["learning_rate"]
        self._floor: float = optimizer["min_lr_ratio"]
        self._warmup: int = optimizer["warmup"]
        text = read_text(config["data"]["source"])
        self._batches = Batches(text, context, trainer["seq_len"], trainer["batch_size"], seed)
        self._model = Model(
            self._batches.vocabulary, context, model["embed"], model["hidden"], seed
        )
        parameters = self._model.parameters
        self._adam = Adam(
            parameters, optimizer["beta1"], optimizer["beta2"], optimizer["max_grad_norm"]
        )

    def advance(self) -> dict[str, float]:
        """One update. Returns what is logged about it."""
        begin = time.perf_counter()
        batch = self._batches.take()
        if self._bad_shard[0] <= self.step <= self._bad_shard[1]:
            batch = self._batches.corrupt(self.step)
        loss, gradients = self._model.loss_and_gradients(batch)
        rate = self.learning_rate()
        norm = self._adam.update(gradients, self.step, rate)
        time.sleep(max(0.0, begin + self._min_seconds - time.perf_counter()))
        seconds = time.perf_counter() - begin
        self.step += 1
        return {
            "train/loss": loss,
            "throughput/tokens_per_second": self.tokens / seconds,
            "throughput/duration": seconds,
            "grad/norm/total": norm,
            "optim/learning_rate": rate,
        }

    def learning_rate(self) -> float:
        """Linear warm-up, then a cosine down to `min_lr_ratio` of the peak."""
        warm = min(1.0, (self.step + 1) / self._warmup) if self._warmup else 1.0
        cosine = 0.5 * (1 + math.cos(math.pi * self.step / self.final_step))
        return self._peak * min(warm, self._floor + (1 - self._floor) * cosine)

    def state(self) -> dict[str, np.ndarray]:
        """All that the next step depends on."""
        progress = {"step": self.step, "batches": self._batches.state()}
        return {
            "progress": np.array(json.dumps(progress)),
            **{
                f"{kind}/{name}": value
                for kind, group in self._groups()
                for name, value in group.items()
            },
        }

    def restore(self, state: dict[str, np.ndarray]) -> None:
        progress = json.loads(str(state["progress"]))
        self._batches.restore(progress["batches"])
        for kind, group in self._groups():
            for name, value in group.items():
                array = state.get(f"{kind}/{name}")
                if array is None or array.shape != value.shape:
                    raise SystemExit(
                        f"the checkpoint is of another model: {kind}/{name} differs in shape"
                    )
                value[...] = array
        self.step = progress["step"]
        if self.step > self.final_step:
            raise SystemExit(
                f"the checkpoint is at step {self.step}, beyond num_train_steps = {self.final_step}"
            )

    def _groups(self) -> tuple[tuple[str, dict[str, np.ndarray]], ...]:
        return (
            ("parameters", self._model.parameters),
            ("adam.mean", self._adam.mean),
            ("adam.square", self._adam.square),
        )


class MetricsLog:
    """[3] One line of JSON per step, in the shape of Levanter's json_logger, written out at
    once.
    """

    def __init__(self, path: Path, every: int, final_step: int) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("a+b")
        self._every, self._final_step = every, final_step
        self._said_at = -math.inf
        self._end_cut_line()

    def _end_cut_line(self) -> None:
        """A killed process may leave half a line; nothing is ever glued to it, or taken away."""
        if self._file.seek(0, os.SEEK_END):
            self._file.seek(-1, os.SEEK_END)
            if self._file.read(1) != b"\n":
                self._file.write(b"\n")

    def log(self, step: int, metrics: dict[str, float]) -> None:
        """`step` counts from 0: the first update is step 0."""
        if step % self._every == 0 or step + 1 == self._final_step:
            metrics = {**metrics, "global_step": step, "_timestamp": time.time()}
            values = {name: _in_json(value) for name, value in metrics.items()}
            line = {"tracker": "json_logger", "event": "log", "step": step, "metrics": values}
            self._file.write(json.dumps(line, allow_nan=False).encode() + b"\n")
            self._file.flush()
        if time.monotonic() - self._said_at >= 1:
            self._said_at = time.monotonic()
            loss, rate = metrics["train/loss"], metrics["optim/learning_rate"]
            print(
                f"step={step}/{self._final_step} loss={loss:.4f} learning_rate={rate:.2e}",
                flush=True,
            )


def _in_json(value: float) -> float | str:
    """JSON has no NaN and no infinity: they go as strings, never as null."""
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def train(training: Training, log: MetricsLog, checkpoints: Checkpoints) -> int:
    """Train to the end, or until SIGTERM. Returns the exit code."""
    asked_to_stop: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, frame: asked_to_stop.append(number))
    while training.step < training.final_step:
        step = training.step
        log.log(step, training.advance())
        stopping = bool(asked_to_stop)  # once, so that nothing stops without its checkpoint
        checkpoints.save_if_due(training.step, training.state, stopping)  # [4]
        if stopping and training.step < training.final_step:
            print(f"stopped by SIGTERM after {training.step} updates", flush=True)
            return EXIT_STOPPED
    print(f"finished after {training.step} updates", flush=True)
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--config", type=Path, required=True)
    parser.add_argument("--resume", metavar="PATH", help="the checkpoint to start from")
    arguments = parser.parse_args()
    config = tomllib.loads(arguments.config.read_text(encoding="utf-8"))
    root, temporary_root = Path(config["output"]["root"]), Path(config["output"]["temporary_root"])
    training = Training(config)

    # [1] The start is given, never searched for: which checkpoint is right is a decision, and it is
    # on record.
    start = arguments.resume or os.environ.get("HERORUN_START") or None
    if start:
        training.restore(load(Path(start)))

    # [2] Before the first update and before anything is written: is this what was admitted?
    herorun.check_in(
        config=config, output_root=root, tracker_id=config["tracker"]["id"], loaded=start
    )
    print(f"starts after {training.step} updates, from {start or 'scratch'}", flush=True)

    log = MetricsLog(
        root / "metrics.jsonl", config["trainer"].get("log_every", 1), training.final_step
    )
    checkpoints = Checkpoints(root, temporary_root, config["checkpoints"], training.final_step)
    # what is not finite is logged, and herorun's to judge
    with np.errstate(over="ignore", invalid="ignore"):
        return train(training, log, checkpoints)


if __name__ == "__main__":
    sys.exit(main())
