"""What it shares with `failing-log` is tested there."""

from builders import NOON, a_job, answer
from herorun.checks.health.error_in_log import error_in_log
from herorun.core.evidence import Complaint, JobLog
from herorun.core.finding import Outcome
from wording import mentions


def test_it_says_the_class_the_line_and_the_excerpt():
    bug = Complaint(
        failure_class="code-bug-small",
        weight="bug",
        line=40,
        excerpt="NameError: g",
        where="train.py:7",
        advice="Look at it.",
        since=NOON,
    )
    verdict = answer(error_in_log, a_job(), JobLog(complaints=(bug,)))

    assert verdict.outcome is Outcome.FAIL
    assert mentions(
        verdict.message, "tiny-1", "code-bug-small", "line", "40 of", "train.py:7", "NameError"
    )


def test_a_faint_sign_is_not_worth_a_word():
    assert (
        answer(
            error_in_log,
            JobLog(
                complaints=(
                    Complaint(
                        failure_class="data", weight="faint", line=1, excerpt="?", since=NOON
                    ),
                )
            ),
        ).outcome
        is Outcome.PASS
    )
