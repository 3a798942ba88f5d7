"""Where the wall time went: by literals one by one, and as a property of any story."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings, strategies as st

from builders import NOON, ROOT
from herorun.core.babysit.alert import Alert, AlertState
from herorun.core.event import CheckedIn, Decided, Done, Launched, Launching, Ordered, Word
from herorun.core.evidence import End, JobState
from herorun.core.goodput.instances import micros
from herorun.core.goodput.states import SECOND, Timeline, WallTimeState
from herorun.core.goodput.timeline import Beat
from herorun.core.goodput.totals import goodput
from herorun.core.recovery.classify import Cause, Ending

START = micros(NOON)


def at(seconds):
    return NOON + timedelta(seconds=seconds)


def a_beat(seconds, step, **fields):
    return Beat(START + round(seconds * SECOND), step, **fields)


def steps(since, first, count, every=1.0):
    """Rows of `count` steps, one each `every` seconds, the first one at `since`."""
    return [a_beat(since + n * every, first + n) for n in range(count)]


def launch(number, seconds, start=None, of="", count=8):
    name = f"tiny-{number}"
    point = (
        {"path": f"{ROOT}/step-{start}", "step": start, "kind": "full-state"}
        if start is not None
        else None
    )
    plan = {"start": {"value": point}, "hardware": {"value": {"count": count} if count else {}}}
    return [
        Launching(
            at=at(seconds),
            instance=name,
            number=number,
            plan=plan,
            plan_digest="sha256:p1a4",
            why="why",
            contract_file="runs/tiny.toml",
            relaunch_of=of,
        ),
        Launched(
            at=at(seconds + 1),
            instance=name,
            number=number,
            job="job",
            plan_digest="sha256:p1a4",
            output_root=ROOT,
            commit="c0ffee",
            entry={},
            relaunch_of=of,
        ),
    ]


def decision_at(seconds, *alerts, **fields):
    return Decided(
        at=at(seconds), run="healthy", monitor="fresh", progress="~1/2", alerts=alerts, **fields
    )


def checked_in(number, seconds):
    name = f"tiny-{number}"
    return CheckedIn(
        at=at(seconds + 100), instance=name, attempt=1, outcome="pass", written=at(seconds)
    )


def crash(number, seconds, observed_at, cause=Cause.INFRA):
    name = f"tiny-{number}"
    return decision_at(
        observed_at,
        ended=End(instance=name, state=JobState.FAILED, at=at(observed_at), ended=at(seconds)),
        failure=Ending(
            instance=name, cause=cause, fingerprint="same", why="why", ended=at(seconds)
        ),
    )


def success(number, seconds):
    return decision_at(
        seconds + 5,
        ended=End(
            instance=f"tiny-{number}",
            state=JobState.SUCCEEDED,
            at=at(seconds + 5),
            ended=at(seconds),
        ),
    )


def spent_seconds_by_state(events, beats):
    """Seconds by state, those that are not empty."""
    return {state.value: items for state, items in goodput(events, beats).states.items() if items}


HEALTHY = [
    *launch(1, 0),
    decision_at(12, job_started=at(10)),
    checked_in(1, 20),
    success(1, 130),
]


def test_a_healthy_run_from_scratch_state_by_state():
    seconds_by_state = spent_seconds_by_state(HEALTHY, steps(31, 1, 99))

    # The first row ends a step of one second; what follows the last row is told by nobody.
    assert seconds_by_state == {"queued": 10, "init": 20, "productive": 99, "unknown": 1}


def test_without_what_the_scheduler_said_the_beginning_is_unknown():
    seconds_by_state = spent_seconds_by_state(
        [*launch(1, 0), decision_at(12), success(1, 130)], steps(31, 1, 99)
    )

    assert seconds_by_state == {"unknown": 31, "productive": 99}


CRASH_EVENTS = [
    *launch(1, 0),
    decision_at(2, job_started=at(0)),
    crash(1, 51, observed_at=60),
    *launch(2, 70, start=20, of="tiny-1"),
    decision_at(90, job_started=at(80)),
    checked_in(2, 85),
    success(2, 190),
]
ROWS = steps(11, 1, 40) + steps(91, 21, 99)


def test_after_a_crash_restoring_and_doing_steps_again_are_no_progress():
    seconds_by_state = spent_seconds_by_state(CRASH_EVENTS, ROWS)

    assert seconds_by_state["restore"] == 5
    assert seconds_by_state["catch-up"] == 20  # steps 21 to 40
    assert seconds_by_state["productive"] == 40 + 79
    assert seconds_by_state["down"] == 70 - 51
    assert seconds_by_state["queued"] == 10


def test_what_a_crash_cost():
    breakdown = goodput(CRASH_EVENTS, ROWS, rate=2.0)

    assert (breakdown.lost_steps, breakdown.max_step, breakdown.unknown_losses) == (20, 119, 0)
    assert breakdown.interruptions == {Cause.INFRA: 1}
    assert (
        breakdown.mtbf
        == breakdown.wall_seconds
        - breakdown.states[WallTimeState.QUEUED]
        - breakdown.states[WallTimeState.DOWN]
    )
    known_seconds = (
        breakdown.wall_seconds
        - breakdown.states[WallTimeState.QUEUED]
        - breakdown.states[WallTimeState.DOWN]
        - breakdown.states[WallTimeState.UNKNOWN]
    )
    assert breakdown.total_accelerator_hours.min == pytest.approx(known_seconds * 8 / 3600)
    assert breakdown.cost.min == pytest.approx(known_seconds * 8 / 3600 * 2)
    assert breakdown.cost.max == pytest.approx(breakdown.total_accelerator_hours.max * 2)


def test_the_babysitters_own_latencies():
    delays = goodput(CRASH_EVENTS, ROWS).delays

    # the second end was seen after 5 s
    assert (delays.detection.median, delays.relaunch.median) == (7.0, 11.0)
    assert delays.human.count == 0


def test_a_question_is_open_until_a_person_answers():
    question = Done(at(60), "escalate/relaunch/tiny-1/person", 1)
    answer = Ordered(at(90), "ada", Word.APPROVE, ("escalate/relaunch/tiny-1/person",))

    assert goodput([*CRASH_EVENTS, question], ROWS).delays.human.open == 1
    assert goodput([*CRASH_EVENTS, question, answer], ROWS).delays.human.median == 30.0


@pytest.mark.parametrize(("relaunch_of", "answer"), [("", 30.0), ("tiny-2", None)])
@pytest.mark.parametrize(
    "key", ["escalate/relaunch/tiny-2/person", "escalate/crashed[tiny-2]@2026-01-01T12:01:00Z"]
)
def test_the_next_launch_answers_a_question_where_a_person_made_it(key, relaunch_of, answer):
    question, following = Done(at(60), key, 1), launch(3, 89, of=relaunch_of)

    delay = goodput([*CRASH_EVENTS, question, *following], ROWS).delays.human
    assert (delay.open, delay.median) == (0, answer)


ALERT = "stopped-by-hand[tiny-1]@2026-01-01T12:01:00Z"


@pytest.mark.parametrize(
    ("word", "about", "still_open"),
    [
        (Word.ACK, ALERT, 0),
        (Word.RELAUNCH, "tiny-1", 0),
        (Word.ACK, "crashed[tiny-1]@2026-01-01T12:01:00Z", 1),
        (Word.RELAUNCH, "tiny-2", 1),
    ],
)
def test_a_question_about_an_alert_is_answered_by_its_name_or_its_instance(word, about, still_open):
    question, order = Done(at(60), f"escalate/{ALERT}", 1), Ordered(at(90), "ada", word, (about,))

    assert goodput([*CRASH_EVENTS, question, order], ROWS).delays.human.open == still_open


@pytest.mark.parametrize(("event", "still_open"), [("resolved", 0), ("ended", 1), ("again", 1)])
def test_a_question_about_a_resolved_alert_is_no_longer_open(event, still_open):
    alert = "dead-link[/a/b]@2026-01-01T12:01:00Z"
    question, end = Done(at(60), f"escalate/{alert}", 1), Done(at(90), f"tell/{alert}/{event}", 1)

    delay = goodput([*CRASH_EVENTS, question, end], ROWS).delays.human
    assert (delay.open, delay.count) == (still_open, 0)


def test_an_end_that_the_scheduler_did_not_date_has_no_detection_time():
    snapshot = decision_at(
        60,
        ended=End(instance="tiny-1", state=JobState.FAILED, at=at(60)),
        failure=Ending(instance="tiny-1", cause=Cause.INFRA, fingerprint="", why="", ended=at(60)),
    )
    detection = goodput([*launch(1, 0), snapshot], steps(11, 1, 40)).delays.detection

    assert (detection.count, detection.unknown) == (0, 1)


def test_an_eval_that_the_row_dates_is_no_training():
    rows = [*steps(11, 1, 20), a_beat(91, 21, eval_seconds=60.0), *steps(92, 22, 9)]

    assert spent_seconds_by_state([*launch(1, 0), success(1, 100)], rows)["eval"] == 60


def test_a_long_gap_before_a_row_of_an_eval_is_taken_for_it_and_said():
    rows = [*steps(11, 1, 20), a_beat(91, 21, evaluated=True), *steps(92, 22, 9)]
    breakdown = goodput([*launch(1, 0), success(1, 100)], rows)

    assert breakdown.states[WallTimeState.EVAL] == 60
    assert any("inferred" in note for note in breakdown.notes)


def test_a_save_that_the_row_dates_is_no_training():
    rows = [*steps(11, 1, 20), a_beat(41, 21, save_seconds=10.0), *steps(42, 22, 9)]

    assert spent_seconds_by_state([*launch(1, 0), success(1, 50)], rows)["checkpoint"] == 10


GAP = [*steps(11, 1, 20), *steps(91, 21, 9)]
STALL = Alert(
    check="stalled-steps",
    subject="tiny-1",
    since=at(60),
    seen=at(80),
    state=AlertState.FIRING,
    message="no step",
)


def test_a_gap_that_nothing_explains_is_unknown():
    assert spent_seconds_by_state([*launch(1, 0), success(1, 99)], GAP)["unknown"] == 10 + 60


def test_a_gap_in_which_the_alert_fired_was_a_stall():
    seconds_by_state = spent_seconds_by_state(
        [*launch(1, 0), decision_at(80, STALL), success(1, 99)], GAP
    )

    assert seconds_by_state["stalled"] == 60
    assert "down" not in seconds_by_state


def test_slow_steps_are_steps():
    rows = [*steps(11, 1, 20), a_beat(33, 21), *steps(34, 22, 9)]

    assert spent_seconds_by_state([*launch(1, 0), success(1, 42)], rows)["productive"] == 32


def test_an_end_that_nobody_saw_is_no_time_down():
    seconds_by_state = spent_seconds_by_state(
        [*launch(1, 0), *launch(2, 100, start=20, of="tiny-1"), success(2, 160)], steps(11, 1, 40)
    )

    assert "down" not in seconds_by_state


def test_before_the_first_step_a_run_from_scratch_is_not_loading():
    events = [*launch(1, 0), decision_at(12, job_started=at(10)), success(1, 130)]

    assert spent_seconds_by_state(events, steps(31, 1, 99)) == {
        "queued": 10,
        "init": 20,
        "productive": 99,
        "unknown": 1,
    }


def test_a_second_row_of_a_step_is_an_eval_only_if_it_says_so():
    for is_eval, state in ((True, "eval"), (False, "unknown")):
        again = a_beat(50, 20, evaluated=is_eval)
        rows = [*steps(11, 1, 20), again, *steps(51, 21, 9)]
        seconds_by_state = spent_seconds_by_state([*launch(1, 0), success(1, 59)], rows)
        assert seconds_by_state[state] - (10 if state == "unknown" else 0) == 20


def test_a_restart_from_a_step_that_nobody_knows_is_one_unknown_loss():
    unknown_start = {"path": ROOT, "step": None, "kind": "full-state"}
    launching, launched_event = launch(2, 70, of="tiny-1")
    again = replace(launching, plan={**launching.plan, "start": {"value": unknown_start}})
    breakdown = goodput([*launch(1, 0), again, launched_event], steps(11, 1, 40))

    assert (breakdown.lost_steps, breakdown.unknown_losses) == (0, 1)


def test_accelerator_hours_are_not_guessed():
    breakdown = goodput(
        [*launch(1, 0, count=None), decision_at(2, job_started=at(0)), success(1, 99)],
        steps(11, 1, 40),
        2.0,
    )

    assert breakdown.accelerator_hours is None and breakdown.cost.min is None
    assert any("[hardware] count" in note for note in breakdown.notes)


def test_nothing_was_launched():
    breakdown = goodput([], [])

    assert (breakdown.since, breakdown.wall_seconds, breakdown.productive_fraction.min) == (
        None,
        0,
        None,
    )


def test_a_timeline_never_goes_back():
    line = Timeline(0)
    line.upto(5, WallTimeState.INIT)
    line.upto(3, WallTimeState.DOWN)
    line.upto(7, WallTimeState.INIT)

    assert [(s.state, s.since, s.until) for s in line.stretches] == [(WallTimeState.INIT, 0, 7)]


SECONDS = st.floats(-50, 500, allow_nan=False)
MAYBE = st.none() | SECONDS


@st.composite
def stories(draw):
    """Instances with times that need not make sense, as of machines whose clocks differ."""
    events, last = [], 0.0
    for number in range(1, draw(st.integers(1, 4)) + 1):
        last += draw(st.floats(0, 200))
        events += launch(
            number,
            last,
            start=draw(st.none() | st.integers(0, 50)),
            count=draw(st.sampled_from([None, 8])),
        )
        started_at, came = draw(MAYBE), draw(MAYBE)
        if started_at is not None:
            events.append(decision_at(last + 1, job_started=at(started_at)))
        if came is not None:
            events.append(checked_in(number, came))
        if draw(st.booleans()):
            events.append(
                decision_at(
                    last + 2,
                    Alert(
                        check="stalled-by-infrastructure",
                        subject="",
                        since=at(draw(SECONDS)),
                        seen=at(0),
                        state=AlertState.FIRING,
                        message="",
                    ),
                )
            )
        if draw(st.booleans()):
            events.append(crash(number, draw(SECONDS), last + 3))
    return events


BEATS = st.lists(
    st.builds(
        a_beat,
        SECONDS,
        st.integers(0, 60),
        eval_seconds=st.floats(0, 100),
        save_seconds=st.floats(0, 100),
        evaluated=st.booleans(),
    ),
    max_size=30,
).map(sorted)


@pytest.mark.thorough
@settings(max_examples=150, deadline=None)
@given(stories(), BEATS)
def test_the_parts_are_the_whole(events, beats):
    breakdown = goodput(events, beats)
    whole = (
        round((breakdown.until - breakdown.since).total_seconds() * SECOND)
        if breakdown.since
        else 0
    )

    assert (
        sum(round(part * SECOND) for part in breakdown.states.values())
        == round(breakdown.wall_seconds * SECOND)
        == whole
    )
    assert all(part >= 0 for part in breakdown.states.values())
    if breakdown.wall_seconds:
        assert (
            0 <= breakdown.productive_fraction.min <= breakdown.productive_fraction.max <= 1 + 1e-12
        )
