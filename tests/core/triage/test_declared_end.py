"""A log whose file is old, and that ends with the last of the steps that it counts."""

import pytest

from core.triage.judged import scan_text
from herorun.core.triage.state import AttemptLog, see
from herorun.core.triage.verdict import LONG_SILENCE, judge_log, no_end
from herorun.signatures import load_signature_set


def judged_old(log: str) -> str:
    state, matches = scan_text(log, load_signature_set())
    attempt = see(AttemptLog(), matches)
    verdict = judge_log(load_signature_set(), attempt, state.last_line)
    return no_end(verdict, attempt, LONG_SILENCE).failure


@pytest.mark.parametrize(
    "log",
    [
        "step 499/500 | loss 3.2\nstep 500/500 | loss 3.1\nval loss 3.2\n",
        "Epoch [19/20], Step [500/500], loss: 0.3\nEpoch [20/20], Step [500/500], loss: 0.2\n",
        "Epoch 20/20 - train_loss: 0.4 - val_loss: 0.5\n",
        "iteration 9 of 10 loss 0.5\niteration 10 of 10 loss 0.4\nsaved model.pt\n",
        "Epoch 2/2: 100%|##| 50/50 [00:09<00:00, loss=0.31]\n",
        "[rank0]: step 5/5 loss: 2.1\n[rank1]: step 5/5 loss: 2.1\n",
    ],
)
def test_the_last_of_its_steps_shows_that_it_ended(log: str) -> None:
    assert judged_old(log) == "benign"


@pytest.mark.parametrize(
    "log",
    [
        "step 499/500 | loss 3.2\n",
        "Epoch 3 step 500/500 loss: 0.3\n",
        "epoch 3\nstep 499/500 loss: 0.3\nstep 500/500 loss: 0.3\n",
        "Epoch [3/20], Step [500/500], loss: 0.3\n",
        "Epoch 20/20\n",
        "Epoch 20/20: 10%|#| 5/50 [00:09<00:40, loss=0.31]\n",
        "step 500/500 loss: 0.3\nstep 1/500 loss: 0.2\n",
        "step 500/500 loss: 0.3\nstep 2/500 loss: 0.2\nstep 500/500 loss: 0.1\n",
        "step 500/500 loss: 0.3\nSaving the final checkpoint\n",
        "step 1/1 loss: 0.3\n",
        "step 500/500 loss: 0.3\nStarting stage 2\n",
        "step 500/500 loss: 0.3\nCompiling the model for its evaluation\n",
        "Validation: step 50/50 loss: 0.5\n",
        "[rank0] warm-up step 100/100 loss: 0.5\n",
    ],
)
def test_a_step_that_others_may_follow_does_not(log: str) -> None:
    assert judged_old(f"step 400/500 loss: 0.4\n{log}") == "unknown"


def test_a_failure_after_the_last_step_is_one() -> None:
    log = "step 500/500 loss: 0.3\nOSError: [Errno 28] No space left on device\n"
    assert judged_old(log) == "disk-full"
    assert judged_old("step 500/500 loss: 0.3\nERROR the export stopped: x\n") == "unknown"
