from builders import a_contract, a_history, an_instance, answer, answers, some_metrics
from herorun.checks.health.lost_rows import lost_rows
from herorun.core.check import Response
from herorun.core.evidence import Metrics, Nothing, Unavailable
from herorun.core.finding import Outcome
from wording import mentions

SCRATCH = a_history(instances=(an_instance(start=0),))


def test_rows_without_a_gap_are_whole():
    assert (
        answer(lost_rows, SCRATCH, some_metrics(first_step=1, stride=1.0)).outcome is Outcome.PASS
    )


def test_each_gap_is_reported_by_the_steps_around_it_as_they_are_logged():
    gaps = some_metrics(900, first_step=1, stride=1.0, lost=((350, 751), (800, 850)))
    verdicts = answers(lost_rows, SCRATCH, gaps)

    assert [verdict.outcome for verdict in verdicts] == [Outcome.FAIL] * 2
    assert mentions(verdicts[0].message, "349 and", "750", "lost")
    assert [verdict.subject for verdict in verdicts] == ["step 750", "step 849"]
    (one,) = answers(
        lost_rows,
        SCRATCH,
        a_contract(tracker={"first_step": 1}),
        some_metrics(first_step=1, lost=((350, 751),)),
    )
    assert mentions(one.message, "350", "751")


def test_a_file_that_was_rotated_begins_behind_the_run():
    assert (
        answer(lost_rows, SCRATCH, some_metrics(600, first_step=421, stride=1.0)).outcome
        is Outcome.FAIL
    )
    assert (
        answer(lost_rows, SCRATCH, some_metrics(600, first_step=100, stride=100.0)).outcome
        is Outcome.PASS
    )
    from_400 = a_history(instances=(an_instance(start=420),))
    assert (
        answer(lost_rows, from_400, some_metrics(600, first_step=421, stride=1.0)).outcome
        is Outcome.PASS
    )
    adopted_history = a_history(instances=(an_instance(start=None),))
    assert (
        answer(lost_rows, adopted_history, some_metrics(600, first_step=421, stride=1.0)).outcome
        is Outcome.PASS
    )
    again = some_metrics(600, first_step=421, stride=1.0, attempts=2)
    assert answer(lost_rows, SCRATCH, again).outcome is Outcome.PASS


def test_it_only_warns_and_holds_nothing_back():
    assert lost_rows.response is Response.WARN and not lost_rows.vetoes_relaunch


def test_no_rows_are_not_applicable_and_unread_ones_unknown():
    assert answer(lost_rows, a_history(0)).outcome is Outcome.NOT_APPLICABLE
    assert answer(lost_rows, {Metrics: Nothing()}).outcome is Outcome.NOT_APPLICABLE
    assert answer(lost_rows, {Metrics: Unavailable("503")}).outcome is Outcome.UNKNOWN
