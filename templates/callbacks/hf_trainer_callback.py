"""herorun in Hugging Face's Trainer: check in before the first step, and one row of metrics at each
logging step.

    trainer = Trainer(..., callbacks=[HerorunCallback(config=config, checkpoint=checkpoint)])
    trainer.train(resume_from_checkpoint=checkpoint)

The contract: `[tracker] kind = "jsonl"` and `[checkpoints] layout = "hf_trainer"`. Where another
integration reports for you, pass `log=False` and keep the check-in.
"""

from collections.abc import Mapping
from typing import Any

from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

import herorun


class HerorunCallback(TrainerCallback):
    """`config`: what the script trains by. `checkpoint`: which it resumes from; None is from
    scratch.
    """

    def __init__(self, config: Any, checkpoint: str | None, log: bool = True) -> None:
        self._config, self._checkpoint, self._log = config, checkpoint, log

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """On every rank. Raises `herorun.Refused`, which ends the job with exit code 78, where this
        is not what was admitted.
        """
        herorun.check_in(config=self._config, output_root=args.output_dir, loaded=self._checkpoint)

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        logs: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """`global_step` counts completed updates."""
        if self._log and logs and state.global_step > 0 and state.is_world_process_zero:
            herorun.log(logs, step=state.global_step - 1)  # as `[tracker] first_step = 0` counts
