from builders import FINAL, MINUTE, NOON, a_history, an_instance, answers, some_metrics
from herorun.checks.seal.missing_final_metrics import missing_final_metrics
from herorun.core.evidence import FinalStep, Metrics, Nothing, Presence, Unavailable
from herorun.core.finding import Outcome
from wording import mentions

LAST = {"train/loss": 2.5}


def ask(*changes):
    return {v.subject: v for v in answers(missing_final_metrics, *changes)}


def test_the_last_row_of_the_final_step_passes():
    assert mentions(ask()["rows"].message, "last", "200 and", "1 metric")


def test_rows_that_end_before_the_end_fail():
    answer = ask(some_metrics(FINAL - 1, last=LAST))
    assert mentions(answer["rows"].message, "199 of", "200", "metrics")


def test_no_row_at_all_fails():
    assert ask({Metrics: Nothing()})["rows"].outcome is Outcome.FAIL
    assert ask(some_metrics(None))["rows"].outcome is Outcome.FAIL


def test_a_last_row_without_a_number_fails_by_its_step():
    """As where the trainer writes null for each value that is not finite."""
    rows = ask(some_metrics(FINAL))["rows"]
    assert rows.outcome is Outcome.FAIL and mentions(rows.message, f"step {FINAL}", "number")


def test_a_metric_that_the_contract_names_and_nobody_reported_fails():
    never = Presence("eval/loss", 200, seen=False)
    answer = ask(some_metrics(FINAL, last=LAST, presence=(never, Presence("loss", 0))))
    assert {name: v.outcome for name, v in answer.items()} == {"eval/loss": Outcome.FAIL}


def test_an_unknown_end_fails():
    assert ask(FinalStep(None, "nobody said"))["rows"].outcome is Outcome.FAIL


def test_rows_that_cannot_be_read_are_unknown():
    assert ask({Metrics: Unavailable("503")})[""].outcome is Outcome.UNKNOWN


def test_the_last_row_of_an_earlier_instance_is_not_the_end():
    again = a_history(instances=(an_instance(1), an_instance(2, start=20, intended=NOON)))
    for writer, outcome in (("tiny-1", Outcome.FAIL), ("tiny-2", Outcome.PASS)):
        rows = some_metrics(FINAL, last=LAST, instance=writer, advanced_at=NOON - MINUTE)
        assert ask(again, rows)["rows"].outcome is outcome
