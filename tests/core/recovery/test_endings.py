"""What the record keeps of how instances ended, and of how many checkpoints there were."""

from datetime import timedelta

import pytest

from builders import (
    MINUTE,
    NOON,
    TEMPORARY,
    a_checkpoint,
    a_crashed_job,
    a_history,
    a_job,
    some_metrics,
)
from core.story import first_memory, launch_events
from herorun.core.event import Decided
from herorun.core.evidence import (
    Checkpoints,
    End,
    Job,
    JobState,
    Metrics,
    Nothing,
    Triage,
    Unavailable,
)
from herorun.core.evidence.jobs import REFUSED_EXIT_CODE
from herorun.core.journal import fold, read_line, write_line
from herorun.core.recovery.endings import (
    end_to_record,
    is_failure,
    saved_to_record,
    temporary_to_record,
)

SAVED_CHECKPOINTS = Checkpoints((a_checkpoint(100),))


def evidence_of(job, *others):
    evidence = {Job: job, Metrics: some_metrics(150), Checkpoints: SAVED_CHECKPOINTS}
    for change in others:
        evidence |= change if isinstance(change, dict) else {type(change): change}
    return evidence


def end_event(evidence, history=None):
    return end_to_record(evidence, history or a_history(), NOON)


def test_a_live_job_has_no_end():
    assert end_event(evidence_of(a_job())) is None
    assert end_event({Job: Unavailable("squeue: time-out")}) is None


def test_the_end_and_what_is_known_of_it():
    job = a_crashed_job(exit_code=137, failed_on=("n7",))

    assert end_event(evidence_of(job)) == End(
        instance="tiny-1",
        state=JobState.FAILED,
        at=NOON,
        exit_code=137,
        signal="SIGKILL",
        step=150,
        checkpoint=100,
        fingerprint="",
        failed_on=("n7",),
        ended=NOON,
    )


def test_what_was_not_there_is_distinguished_from_what_nobody_saw():
    def end(metrics, saved_step):
        record = end_event(
            evidence_of(a_crashed_job(), {Metrics: metrics, Checkpoints: saved_step})
        )
        return record.step, record.checkpoint

    assert end(Nothing("no rows yet"), Checkpoints()) == (None, 0)
    assert end(Unavailable("503"), Unavailable("403")) == (None, None)
    older = some_metrics(150, advanced_at=NOON - timedelta(days=1))
    assert end(older, SAVED_CHECKPOINTS) == (None, 100)  # an earlier instance's row


def test_it_is_recorded_once_and_again_when_more_is_known():
    blind = end_event(evidence_of(a_crashed_job(), {Metrics: Unavailable("503")}))
    history = a_history(ends=(blind,))

    assert end_event(evidence_of(a_crashed_job(), {Metrics: Unavailable("503")}), history) is None
    better = end_event(evidence_of(a_crashed_job()), history)
    assert better.step == 150
    assert end_event(evidence_of(a_crashed_job()), a_history(ends=(better,))) is None
    triage = Triage(failure_class="code-bug-small", fingerprint="f1")
    assert (
        end_event(evidence_of(a_crashed_job(), triage), a_history(ends=(better,))).fingerprint
        == "f1"
    )


def test_the_most_checkpoints_that_there_were():
    three = {Checkpoints: Checkpoints(tuple(a_checkpoint(n) for n in (1, 2, 3)))}

    assert saved_to_record(three, a_history(most_saved=2)) == 3
    assert saved_to_record(three, a_history(most_saved=3)) is None
    assert saved_to_record({Checkpoints: Unavailable("403")}, a_history()) is None


def test_the_newest_step_in_the_temporary_root_is_recorded_and_forgotten_at_the_next_launch():
    there = {
        Checkpoints: Checkpoints((a_checkpoint(100), a_checkpoint(150, TEMPORARY, temporary=True)))
    }

    assert temporary_to_record(there, a_history()) == 150
    assert temporary_to_record(there, a_history(temporary_saved=150)) is None
    assert (
        temporary_to_record({Checkpoints: Checkpoints((a_checkpoint(100),))}, a_history()) is None
    )
    assert temporary_to_record({Checkpoints: Unavailable("403")}, a_history()) is None
    events = (
        Decided(at=NOON, run="healthy", monitor="fresh", progress="~150/200", temporary=150),
        Decided(at=NOON, run="healthy", monitor="fresh", progress=""),
    )
    lines = [read_line(write_line(event, "").text, "here").event for event in events]
    assert fold(lines, first_memory()).history.temporary_saved == 150
    assert fold([*lines, *launch_events(2, NOON)], first_memory()).history.temporary_saved is None


def test_the_journal_remembers_both():
    end = End(
        instance="tiny-1",
        state=JobState.FAILED,
        at=NOON,
        exit_code=1,
        signal=None,
        step=150,
        checkpoint=100,
        fingerprint="f1",
        failed_on=("n7",),
    )
    ending = Decided(at=NOON, run="down", monitor="fresh", progress="~150/200", ended=end, saved=7)
    quiet = Decided(at=NOON + MINUTE, run="down", monitor="fresh", progress="~150/200")
    lines = [read_line(write_line(event, "").text, "here").event for event in (ending, quiet)]
    history = fold(lines, first_memory()).history

    assert history.ends == (end,)
    assert history.most_saved == 7
    assert history.last_tick == NOON + MINUTE


@pytest.mark.parametrize(
    ("state", "exit_code", "counts"),
    [
        (JobState.FAILED, 1, True),
        (JobState.NODE_FAILED, None, True),
        (JobState.FAILED, REFUSED_EXIT_CODE, False),
        (JobState.PREEMPTED, None, False),
        (JobState.SUCCEEDED, 0, False),
        (JobState.RUNNING, None, False),
    ],
)
def test_only_a_failure_of_the_run_counts_towards_a_repeated_one(state, exit_code, counts):
    assert is_failure(End(instance="tiny-1", state=state, at=NOON, exit_code=exit_code)) is counts
