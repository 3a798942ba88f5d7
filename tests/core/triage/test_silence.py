"""What steps alone, and an exit code, do not show."""

import pytest

from core.triage.judged import judge_text, scan_text
from herorun.core.triage.state import AttemptLog, see
from herorun.core.triage.verdict import LONG_SILENCE, judge_log, no_end
from herorun.signatures import load_signature_set

ERROR = "[2026-01-02 05:07:11,062][__main__][ERROR] - the launcher gave up"


def test_exit_code_0_shows_the_error_that_it_contradicts() -> None:
    verdict = judge_text(f"step 1: loss 2.0\n{ERROR}\n", 0)
    assert (verdict.failure, verdict.line, verdict.person) == ("not-a-failure", 2, False)
    assert judge_text(f"{ERROR}\nTraining finished.\n", 0).failure == "benign"


@pytest.mark.parametrize(
    "end",
    [
        "2026-01-02 03:04:05,678 sagemaker-training-toolkit INFO     Reporting training SUCCESS",
        ':::MLLOG {"event_type": "POINT_IN_TIME", "key": "status", "value": "success"}',
        "01/02/2026 03:04:05 - INFO - submitit - Job completed successfully",
    ],
)
def test_a_message_of_an_end_outlasts_any_silence(end: str) -> None:
    steps = "".join(f"step {step}: loss 2.0\n" for step in range(1, 4))
    more = "".join(f"step {step}: loss 2.0\n" for step in range(4, 60))
    for log, failure in (
        (f"{steps}{end}\n", "benign"),
        (f"{steps}{more}{end}\n", "benign"),
        (steps, "unknown"),
        (f"{steps}{end}\n{more}", "unknown"),
    ):
        state, matches = scan_text(log, load_signature_set())
        attempt = see(AttemptLog(), matches)
        verdict = judge_log(load_signature_set(), attempt, state.last_line)
        assert verdict.failure == no_end(verdict, attempt, LONG_SILENCE - 1).failure == "benign"
        assert no_end(verdict, attempt, LONG_SILENCE).failure == failure
