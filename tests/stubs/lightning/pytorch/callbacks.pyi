from typing import Any

from lightning.pytorch import LightningModule, Trainer

class Callback:
    def on_fit_start(self, trainer: Trainer, pl_module: LightningModule) -> None: ...
    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None: ...
