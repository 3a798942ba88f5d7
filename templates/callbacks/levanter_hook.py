"""herorun in Levanter: check in before the first step, and one row of metrics a step.

    herorun.check_in(config=config, output_root=output_root, loaded=checkpoint)
    trainer.add_hook(herorun_hook, every=1)   # both before trainer.train

The contract: `[tracker] kind = "jsonl"` and `[checkpoints] layout = "levanter"`. Levanter's own
`json_logger` tracker, read by `[tracker] kind = "levanter_log"`, or W&B do as well; then the
check-in alone is needed.
"""

from typing import Any

from levanter.callbacks import StepInfo

import herorun


def herorun_hook(info: StepInfo[Any]) -> None:
    """`info.step` is the step that was just completed, counted from 0, as
    `[tracker] first_step = 0` counts.
    """
    herorun.log({"train/loss": info.loss, "step_time": info.step_duration}, step=int(info.step))
