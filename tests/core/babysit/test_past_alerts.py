"""What was told is not told again: after rows were cut and read again, and after a relaunch."""

from dataclasses import replace
from datetime import timedelta

from builders import NOON, ROOT, a_checkpoint, a_contract, a_crashed_job, an_excursion, some_metrics
from core.story import Story, firing, first_memory
from herorun.core.babysit.actions import Relaunch
from herorun.core.babysit.alert import Alert, AlertState
from herorun.core.babysit.past_alerts import MAX_PAST_ALERTS, remember
from herorun.core.contract import Contract
from herorun.core.event import Decided
from herorun.core.evidence import Checkpoints, Disk, Disks, Job, Metrics
from herorun.core.journal import fold

OVER = an_excursion(12, peak=3.0, first=412, is_open=False)


def rows(*spikes, step=500, **result):
    later = NOON + timedelta(days=1)
    return {Metrics: some_metrics(step, advanced_at=later, spikes=spikes, **result)}


def spike_keys(turns):
    """What each turn says of a check's own, by key."""
    return [[action.key for action in turn.actions if "loss-spike" in action.key] for turn in turns]


def test_a_spike_that_is_over_is_not_told_again_when_its_rows_are_read_again():
    first, ending, again, after = spike_keys(
        Story().ticks([rows(OVER), rows(), rows(OVER), rows()])
    )

    assert first and ending  # that it fires, and that it is over
    assert again == after == []


def test_another_spike_is_news():
    other = replace(OVER, first_step=450, last_step=461)
    *_, again = spike_keys(Story().ticks([rows(OVER), rows(), rows(OVER, other)]))

    assert [key for key in again if "step 450" in key] and not [
        key for key in again if "step 412" in key
    ]


def test_the_same_stretch_that_continues_now_is_news():
    still = replace(OVER, last_step=470, open=True)
    *_, again = spike_keys(Story().ticks([rows(OVER), rows(), rows(still)]))

    assert again


def test_a_spike_that_the_cut_goes_through_is_not_told_again():
    part = replace(OVER, last_step=420, rows=9)
    *_, again, after = spike_keys(Story().ticks([rows(OVER), rows(), rows(part), rows()]))

    assert again == after == []


def test_what_looked_like_a_second_beginning_is_not_told_again_either():
    again = replace(OVER, kind="untrained")
    first, ending, second = (
        [action.key for action in turn.actions if "weights-reset" in action.key]
        for turn in Story().ticks([rows(excursions=(again,)), rows(), rows(excursions=(again,))])
    )
    assert first and ending and not second


MISSING_EVIDENCE = {
    Contract: a_contract(checkpoints={"permanent_every": 100}),
    Checkpoints: Checkpoints((a_checkpoint(100), a_checkpoint(300))),
}


def test_a_warning_that_a_relaunch_finds_as_it_was_continues_under_its_key():
    story = Story()
    turns = list(
        story.ticks(
            [
                MISSING_EVIDENCE,
                MISSING_EVIDENCE,
                MISSING_EVIDENCE,
                MISSING_EVIDENCE | {Job: a_crashed_job()},
                MISSING_EVIDENCE,
                MISSING_EVIDENCE,
                MISSING_EVIDENCE,
            ]
        )
    )

    assert [turn for turn in turns if any(isinstance(action, Relaunch) for action in turn.actions)]
    keys = [a.key for turn in turns for a in turn.actions if "unkept-checkpoint" in a.key]
    assert len(keys) == 1, keys
    assert "unkept-checkpoint" in firing(turns[-1])


def test_a_count_in_its_words_that_moves_with_each_relaunch_makes_it_no_news():
    """`1 of 3 checkpoints`, `1 of 4`: of three instances it is one warning."""
    saved_evidence = [
        MISSING_EVIDENCE
        | {Checkpoints: Checkpoints(tuple(a_checkpoint(n) for n in (100, *range(300, last, 100))))}
        for last in (400, 500, 600)
    ]
    down = [each | {Job: a_crashed_job()} for each in saved_evidence]
    turns = list(
        Story().ticks(
            [
                saved_evidence[0],
                saved_evidence[0],
                down[0],
                saved_evidence[1],
                down[1],
                saved_evidence[2],
                saved_evidence[2],
            ]
        )
    )

    assert len([a for turn in turns for a in turn.actions if isinstance(a, Relaunch)]) == 2
    keys = [a.key for turn in turns for a in turn.actions if "unkept-checkpoint" in a.key]
    assert len(keys) == 1, keys


def test_what_changed_since_is_reported():
    more = MISSING_EVIDENCE | {Checkpoints: Checkpoints((a_checkpoint(100), a_checkpoint(400)))}
    story = Story()
    turns = list(
        story.ticks(
            [
                MISSING_EVIDENCE,
                MISSING_EVIDENCE,
                MISSING_EVIDENCE | {Job: a_crashed_job()},
                more,
                more,
                more,
            ]
        )
    )

    assert len({a.key for turn in turns for a in turn.actions if "unkept-checkpoint" in a.key}) == 2


def test_a_checkpoint_that_was_missing_before_the_relaunch_is_no_news_when_more_are_due():
    later = MISSING_EVIDENCE | {
        Checkpoints: Checkpoints((a_checkpoint(100), a_checkpoint(300), a_checkpoint(400)))
    }
    turns = list(
        Story().ticks(
            [
                MISSING_EVIDENCE,
                MISSING_EVIDENCE,
                MISSING_EVIDENCE | {Job: a_crashed_job()},
                later,
                later,
                later,
            ]
        )
    )

    assert len({a.key for turn in turns for a in turn.actions if "unkept-checkpoint" in a.key}) == 1
    assert "unkept-checkpoint" in firing(turns[-1])


def test_a_disk_that_stays_full_over_a_relaunch_is_reported_once_and_its_end_too():
    full, room = ({Disks: Disks({ROOT: Disk(free, 100 << 40)})} for free in (1 << 20, 50 << 40))
    turns = list(Story().ticks([full, full, full | {Job: a_crashed_job()}, full, full, room, full]))

    assert [turn for turn in turns if any(isinstance(action, Relaunch) for action in turn.actions)]
    keys = [[a.key for a in turn.actions if "full-disk" in a.key] for turn in turns]
    assert keys[0] and keys[5] and keys[6] and not any(keys[1:5]), keys
    assert not set(keys[0]) & set(keys[6])


def an_alert(number=0, **changes):
    alert = Alert(
        check="loss-spike",
        subject=f"loss from step {number}",
        since=NOON,
        seen=NOON,
        state=AlertState.RESOLVED,
        message="over",
    )
    return replace(alert, **changes)


def test_the_newest_are_kept_and_what_only_waited_is_not():
    past = remember((), [an_alert(n) for n in range(MAX_PAST_ALERTS + 9)])
    assert (
        len(past) == MAX_PAST_ALERTS and past[-1].subject == f"loss from step {MAX_PAST_ALERTS + 8}"
    )
    assert remember((), [an_alert(state=AlertState.PENDING)]) == ()
    assert remember((an_alert(),), [an_alert(message="later")]) == (an_alert(message="later"),)


def test_the_journal_remembers_them():
    memory = fold(
        [Decided(at=NOON, run="healthy", monitor="fresh", progress="~1/2", alerts=(an_alert(),))],
        first_memory(),
    )
    assert memory.ledger.past == (an_alert(),)
