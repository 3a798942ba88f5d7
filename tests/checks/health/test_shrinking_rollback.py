from dataclasses import replace

from builders import MINUTE, a_checkpoint, a_contract, a_history, a_job, answer
from herorun.checks.health.shrinking_rollback import shrinking_rollback
from herorun.core.check import Hold, Response, Topic
from herorun.core.evidence import Checkpoints, JobState, Unavailable
from herorun.core.finding import Outcome
from wording import mentions

FULL = a_history(most_saved=10)


def there(count, *others):
    checkpoints = [replace(a_checkpoint(n), examined=False) for n in range(1, count)]
    return Checkpoints((*checkpoints, a_checkpoint(count), *others))


def test_fewer_than_kept_after_there_were_that_many():
    verdict = answer(shrinking_rollback, FULL, there(9))

    assert verdict.outcome is Outcome.FAIL
    assert mentions(verdict.message, "9 checkpoints", "fall", "10", "10")
    assert answer(shrinking_rollback, FULL, there(10)).outcome is Outcome.PASS


def test_incomplete_and_unread_ones_are_nothing_to_fall_back_on():
    half = a_checkpoint(30, problem="no metadata.json")
    unread_checkpoint = replace(
        a_checkpoint(31), examined=False, problem="it could not be read: 403"
    )

    assert (
        answer(shrinking_rollback, FULL, there(9, half, unread_checkpoint)).outcome is Outcome.FAIL
    )


def test_a_young_run_has_not_filled_its_window_yet():
    assert (
        answer(shrinking_rollback, a_history(most_saved=9), there(2)).outcome
        is Outcome.NOT_APPLICABLE
    )
    assert (
        answer(shrinking_rollback, FULL, there(2), a_contract(checkpoints={"keep": None})).outcome
        is Outcome.NOT_APPLICABLE
    )


def test_a_finished_run_may_clean_up():
    assert (
        answer(shrinking_rollback, FULL, there(1), a_job(JobState.SUCCEEDED)).outcome
        is Outcome.NOT_APPLICABLE
    )


def test_a_root_out_of_reach_is_unknown_and_never_empty():
    assert (
        answer(shrinking_rollback, FULL, {Checkpoints: Unavailable("403")}).outcome
        is Outcome.UNKNOWN
    )


def test_it_asks_a_person_on_the_second_look():
    assert (shrinking_rollback.response, shrinking_rollback.topic) == (
        Response.ESCALATE,
        Topic.CHECKPOINTS,
    )
    assert shrinking_rollback.hold == Hold(15 * MINUTE, ticks=2)
