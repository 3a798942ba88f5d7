"""herorun in PyTorch Lightning: check in before the first step, and one row of metrics a step.

    trainer = L.Trainer(callbacks=[HerorunCallback(config=config, output_root=output_root)])

The contract: `[tracker] kind = "jsonl"` and `[checkpoints] layout = "lightning"`. Where another
logger reports for you, pass `log=False` and keep the check-in.
"""

from typing import Any

from lightning.pytorch import LightningModule, Trainer
from lightning.pytorch.callbacks import Callback

import herorun


class HerorunCallback(Callback):
    """`config`: what the script trains by. `output_root`: where it writes, as the contract has
    it.
    """

    def __init__(self, config: Any, output_root: str, log: bool = True) -> None:
        self._config, self._root, self._log = config, output_root, log
        self._step = -1

    def on_fit_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """On every rank. Raises `herorun.Refused`, which ends the job with exit code 78, where this
        is not what was admitted.
        """
        checkpoint = str(trainer.ckpt_path) if trainer.ckpt_path else None
        herorun.check_in(config=self._config, output_root=self._root, loaded=checkpoint)

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """`global_step` counts completed updates; batches that only accumulate gradients are no
        step of their own.
        """
        step = trainer.global_step - 1  # as `[tracker] first_step = 0` counts
        if self._log and step > self._step:
            self._step = step
            herorun.log(trainer.callback_metrics, step=step)
