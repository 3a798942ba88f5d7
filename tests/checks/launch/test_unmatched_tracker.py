from builders import answer, answers
from herorun.checks.launch.unmatched_tracker import unmatched_tracker
from herorun.core.evidence import Nothing, TrackerMentions
from herorun.core.finding import Outcome


def test_a_key_that_the_job_contradicts_is_named() -> None:
    mentions = TrackerMentions(
        {"[patrol] progress": "the job holds 'step'", "[tracker] path": "the job holds a part"},
        {"[tracker] path": "the job has no 'a.jsonl'; it has 'b.jsonl' (train.py:3)"},
    )
    wrong, right = answers(unmatched_tracker, mentions)
    assert (wrong.outcome, wrong.subject) == (Outcome.FAIL, "[tracker] path")
    assert "'b.jsonl' (train.py:3)" in wrong.message
    assert (right.outcome, right.subject) == (Outcome.PASS, "[patrol] progress")


def test_a_job_whose_text_shows_nothing_is_not_applicable() -> None:
    nothing = answer(unmatched_tracker, {TrackerMentions: Nothing("numpy may name it")})
    assert nothing.outcome is Outcome.NOT_APPLICABLE
    assert answer(unmatched_tracker, TrackerMentions()).outcome is Outcome.NOT_APPLICABLE
