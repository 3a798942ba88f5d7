from builders import a_history, answer
from herorun.checks.launch.missing_issue import missing_issue
from herorun.core.evidence import History, IssuePage
from herorun.core.finding import Outcome
from wording import mentions


def test_a_record_with_an_issue_passes():
    assert mentions(answer(missing_issue).message, "issue.md")


def test_a_record_without_one_fails():
    verdict = answer(missing_issue, a_history(0), IssuePage(""))

    assert (verdict.outcome, verdict.subject) == (Outcome.FAIL, "[issue]")


def test_before_the_record_begins_there_is_nothing_to_ask():
    assert answer(missing_issue, History(), IssuePage("")).outcome is Outcome.NOT_APPLICABLE
