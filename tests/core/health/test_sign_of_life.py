"""What shows that a job runs though no rows come, and what cannot: evidence that is missing."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from builders import MINUTE, NOON, a_checkpoint, a_history, a_job, some_metrics
from herorun.core.evidence import Checkpoints, History, JobLog, Nothing, Unavailable
from herorun.core.health.checkpoint_lag import job_start
from herorun.core.health.liveness import sign_of_life

BEGAN = NOON - 60 * MINUTE
SAVED_CHECKPOINTS = Checkpoints((replace(a_checkpoint(150), modified=NOON),))
OLD = Checkpoints((replace(a_checkpoint(150), modified=BEGAN),))
MISSING = [Nothing("none yet"), Unavailable("no answer")]


@pytest.mark.parametrize(
    ("metrics", "checkpoints", "log", "sign"),
    [
        (some_metrics(100), SAVED_CHECKPOINTS, MISSING[0], "checkpoint 150 "),
        (Nothing("none"), SAVED_CHECKPOINTS, MISSING[1], "checkpoint 150 "),
        (some_metrics(150), SAVED_CHECKPOINTS, MISSING[0], ""),  # the rows tell of that step
        (some_metrics(100), OLD, MISSING[0], ""),
        *((some_metrics(100), missing, missing, "") for missing in MISSING),
        *((some_metrics(100), missing, JobLog(changed_at=NOON), "its log ") for missing in MISSING),
        (some_metrics(100), MISSING[0], JobLog(changed_at=BEGAN), ""),
    ],
)
def test_a_sign_of_life_is_newer_than_the_rows(
    metrics: Any, checkpoints: Any, log: Any, sign: str
) -> None:
    answer = sign_of_life(metrics, log, checkpoints, BEGAN, NOON + MINUTE)
    assert answer.startswith(sign) if sign else answer == ""


def test_a_log_that_changed_too_long_ago_is_none() -> None:
    late, missing = NOON + timedelta(hours=9), Nothing("none")
    assert sign_of_life(missing, JobLog(changed_at=NOON), missing, BEGAN, late) == ""


def test_a_job_began_as_the_scheduler_says_else_as_the_record_does() -> None:
    history = a_history()
    assert history.current is not None
    assert job_start(a_job(started=BEGAN), history) == BEGAN
    assert job_start(a_job(started=None), history) == history.current.started
    assert job_start(a_job(started=None), History()) is None
