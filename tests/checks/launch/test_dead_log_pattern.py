from builders import answer, answers
from herorun.checks.launch.dead_log_pattern import dead_log_pattern
from herorun.core.evidence import Nothing, PrintedPatterns
from herorun.core.finding import Outcome
from wording import mentions


def test_a_pattern_that_nothing_installed_prints_is_named():
    patterns = PrintedPatterns(
        {"hang": "jaxlib 0.10.0"}, {"stuck": "jaxlib 0.11.0 holds none of 'hang_watchdog'"}
    )
    (verdict,) = answers(dead_log_pattern, patterns)
    assert (verdict.outcome, verdict.subject) == (Outcome.FAIL, "stuck")
    assert mentions(verdict.message, "jaxlib", "0.11.0", "hang_watchdog")


def test_patterns_that_stand_there_pass():
    assert (
        answer(dead_log_pattern, PrintedPatterns({"hang": "jaxlib 0.10.0"})).outcome is Outcome.PASS
    )


def test_without_such_rows_there_is_nothing_to_ask():
    assert (
        answer(dead_log_pattern, {PrintedPatterns: Nothing("no row says so")}).outcome
        is Outcome.NOT_APPLICABLE
    )
