"""The alert clock: what starts, holds, fires and ends an alert."""

import time
from dataclasses import replace
from datetime import timedelta

import pytest

from builders import EVERY, MINUTE, NOON
from herorun.core.babysit.alert import Alert, AlertState, EngineMeasures
from herorun.core.babysit.alert_clock import advance
from herorun.core.babysit.ended_alerts import no_longer_judged, resolved_late
from herorun.core.babysit.inhibition import muted_topics
from herorun.core.check import Gate, Hold, Response, Topic, check
from herorun.core.evidence import Gaps, Job, JobState, Unavailable
from herorun.core.finding import Finding, Outcome, Verdict, Waiver
from wording import mentions

FAIL, PASS, UNKNOWN = Outcome.FAIL, Outcome.PASS, Outcome.UNKNOWN


def a_check(**result):
    @check(Gate.HEALTH, Response.ESCALATE, **result)
    def ill(gaps: Gaps) -> Verdict:
        raise NotImplementedError

    return ill


def story(outcomes, hold=None, every=EVERY, steps=None, gaps=None):
    """The alert's state after each tick; `-` where there is none. `gaps` widens the time before a
    tick.
    """
    rule, alerts, now, states = a_check(hold=hold), {}, NOON, []
    for index, outcome in enumerate(outcomes):
        now += (gaps or {}).get(index, every) if index else timedelta()
        moment = EngineMeasures(now, EVERY, (steps or {}).get(index, index))
        alerts = advance(
            alerts, [Finding("ill", Verdict(outcome=outcome, message="m"))], {"ill": rule}, moment
        )
        states.append(next(iter(alerts.values())).state.value if alerts else "-")
    return states


def test_without_a_hold_it_fires_at_once():
    assert story([FAIL, FAIL, PASS, PASS]) == ["firing", "firing", "resolved", "-"]


@pytest.mark.parametrize(
    ("hold", "expectation"),
    [
        (Hold(30 * MINUTE), ["pending", "pending", "firing"]),
        (Hold(31 * MINUTE), ["pending", "pending", "pending"]),
        (Hold(ticks=2), ["pending", "firing", "firing"]),
        (Hold(ticks=3), ["pending", "pending", "firing"]),
        (Hold(steps=2), ["pending", "pending", "firing"]),
        (Hold(15 * MINUTE, ticks=3), ["pending", "pending", "firing"]),
    ],
)
def test_a_hold_of_each_measure(hold, expectation):
    assert story([FAIL] * 3, hold) == expectation


def test_steps_are_counted_from_where_the_alert_began():
    assert story([FAIL] * 3, Hold(steps=10), steps={0: 500, 1: 509, 2: 510}) == [
        "pending",
        "pending",
        "firing",
    ]


@pytest.mark.parametrize("later", [None, 3])
def test_a_step_that_is_unread_or_rolled_back_does_not_stop_the_other_clocks(later):
    assert story([FAIL] * 2, Hold(ticks=2), steps={0: 500, 1: later}) == ["pending", "firing"]


def test_a_pending_one_that_passes_ends_without_a_word():
    assert story([FAIL, PASS, FAIL, FAIL, FAIL], Hold(30 * MINUTE))[:2] == ["pending", "-"]


def test_a_blip_begins_again():
    assert story([FAIL, PASS, FAIL, FAIL], Hold(ticks=3)) == ["pending", "-", "pending", "pending"]


def test_unknown_neither_adds_nor_resets():
    history = story([FAIL, UNKNOWN, FAIL, UNKNOWN, FAIL], Hold(ticks=3))

    assert history == ["pending", "pending", "pending", "pending", "firing"]
    assert story([UNKNOWN, UNKNOWN], Hold(ticks=1)) == ["-", "-"]
    assert story([FAIL, UNKNOWN, UNKNOWN]) == ["firing", "firing", "firing"]


def test_a_gap_adds_two_cadences_at_most():
    late = {1: 3 * EVERY}

    assert story([FAIL, FAIL], Hold(2 * EVERY), gaps=late) == ["pending", "firing"]
    assert story([FAIL, FAIL], Hold(2 * EVERY + MINUTE), gaps=late) == ["pending", "pending"]


def test_a_gap_over_three_cadences_begins_the_clock_again_and_not_the_looks():
    """What happened meanwhile nobody knows; what two looks found, two looks found."""
    assert story([FAIL, FAIL, FAIL], Hold(ticks=2), gaps={1: 3 * EVERY}) == [
        "pending",
        "firing",
        "firing",
    ]
    late = {1: 3 * EVERY + MINUTE, 2: 3 * EVERY + MINUTE}
    assert story([FAIL] * 3, Hold(ticks=3), gaps=late) == ["pending", "pending", "firing"]
    assert story([FAIL] * 3, Hold(2 * EVERY), gaps=late) == ["pending"] * 3


def test_a_firing_one_survives_a_long_gap():
    assert story([FAIL] * 3, Hold(ticks=2), gaps={2: 100 * EVERY}) == [
        "pending",
        "firing",
        "firing",
    ]


def one(outcome, subject="", waiver=None):
    return Finding("ill", Verdict(outcome=outcome, message=f"m {subject}", subject=subject), waiver)


def carry(alerts, findings, now=NOON, muted_topics_again=frozenset(), **result):
    return advance(
        alerts, findings, {"ill": a_check(**result)}, EngineMeasures(now, EVERY), muted_topics_again
    )


@pytest.mark.parametrize(
    ("answers", "evidence"),
    [
        ([one(PASS, "a"), one(PASS, "")], "m a"),
        ([one(PASS, "b"), one(PASS, "")], "m "),
        ([one(FAIL, "b")], "its check"),
    ],
)
def test_a_resolved_one_has_what_its_check_says_now(answers, evidence):
    first = [Finding("ill", Verdict(FAIL, "loss is 9, still in progress", "a"))]
    after = carry(carry({}, first), answers, NOON + EVERY)
    alert = after["ill", "a"]
    assert alert.state is AlertState.RESOLVED
    assert mentions(alert.message, "was: loss is 9; now: ", evidence)


def test_each_subject_has_its_own_clock():
    first = carry({}, [one(FAIL, "a")])
    second = carry(first, [one(FAIL, "a"), one(FAIL, "b")], NOON + EVERY)

    assert [(a.subject, a.since) for a in second.values()] == [("a", NOON), ("b", NOON + EVERY)]


def test_a_subject_that_is_no_longer_named_is_over():
    after = carry(carry({}, [one(FAIL, "a")]), [one(PASS)], NOON + EVERY)

    assert [a.state for a in after.values()] == [AlertState.RESOLVED]


NOT_ASKED = one(Outcome.NOT_APPLICABLE)


@pytest.mark.parametrize("answers", [[], [NOT_ASKED], [one(PASS, "b")]])
def test_what_its_check_does_not_judge_fires_on_and_says_since_when(answers):
    fires = carry({}, [one(FAIL, "a")])
    once = carry(fires, answers, NOON + EVERY)
    (alert,) = carry(once, answers, NOON + 2 * EVERY).values()

    assert (alert.state, alert.seen) == (AlertState.FIRING, NOON)
    assert alert.not_judged and alert.message.count("not judged") == 1
    (again,) = carry({alert.id: alert}, [one(FAIL, "a")], NOON + 3 * EVERY).values()
    assert (again.message, again.not_judged) == ("m a", "")
    (over,) = carry({alert.id: alert}, [one(PASS, "a")], NOON + 3 * EVERY).values()
    assert over.state is AlertState.RESOLVED


def test_a_check_that_fails_others_alone_lists_every_failure():
    after = carry(carry({}, [one(FAIL, "a")]), [one(FAIL, "b")], NOON + EVERY)
    states = {alert.subject: alert.state for alert in after.values()}
    assert states == {"a": AlertState.RESOLVED, "b": AlertState.FIRING}


def test_a_living_job_answers_how_its_predecessor_ended():
    checks_by_name = {"crashed": replace(a_check(), name="crashed")}
    finding = Finding("crashed", Verdict(outcome=FAIL, message="m"))
    fires = advance({}, [finding], checks_by_name, EngineMeasures(NOON, EVERY, instance="run-1"))
    for live, state in ((True, AlertState.RESOLVED), (False, AlertState.FIRING)):
        moment = EngineMeasures(NOON + EVERY, EVERY, instance="run-2", live=live)
        (alert,) = advance(fires, [], checks_by_name, moment).values()
        assert (alert.state is state, "run-2" in alert.message) == (True, live)


@pytest.mark.parametrize(
    ("name", "instance"),
    [("pending-too-long", "run-1"), ("unfinished-action", "run-2"), ("crashed", "run-1")],
)
def test_what_no_launch_ends_names_none(name, instance):
    one_check = {name: replace(a_check(), name=name)}
    finding = Finding(name, Verdict(outcome=FAIL, message="m"))
    fires = advance({}, [finding], one_check, EngineMeasures(NOON, EVERY, instance="run-1"))
    moment = EngineMeasures(NOON + EVERY, EVERY, instance=instance, live=True)
    (alert,) = advance(fires, [], one_check, moment).values()
    assert alert.state is AlertState.RESOLVED
    assert "run-2" not in alert.message and ("is live" in alert.message) == (name == "crashed")


def test_after_three_cadences_without_a_judgement_it_ends_unresolved():
    alerts = carry(carry({}, [one(FAIL, "a")]), [], NOON + EVERY)
    for cadences, count in ((2, 1), (3, 0)):
        still, ended_alerts = no_longer_judged(
            alerts, [], EngineMeasures(NOON + cadences * EVERY, EVERY)
        )
        assert (len(still), len(ended_alerts)) == (count, 1 - count)
    assert [alert.state for alert in ended_alerts] == [AlertState.ENDED]


def test_what_could_not_be_seen_never_runs_out_of_patience():
    fires, late = carry({}, [one(FAIL, "a")]), EngineMeasures(NOON + 100 * EVERY, EVERY)
    for before in (fires, carry(fires, [NOT_ASKED], NOON + EVERY)):
        blind = carry(before, [one(UNKNOWN)], late.now)
        assert no_longer_judged(blind, [one(UNKNOWN)], late) == (blind, ())


@pytest.fixture
def far_from_utc(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Pacific/Auckland")
        time.tzset()
        yield
    time.tzset()


def test_a_waived_finding_ends_its_alert(far_from_utc):
    waiver = Waiver("ill", "declared", "@dri", NOON + timedelta(days=1))
    after = carry(carry({}, [one(FAIL)]), [one(FAIL, waiver=waiver)], NOON + EVERY)

    assert [a.state for a in after.values()] == [AlertState.RESOLVED]
    assert [a.message for a in after.values()] == [
        "waived by @dri until 2026-01-02 12:00 UTC: declared"
    ]


def test_a_waiver_silences_for_its_time_whatever_else_cannot_be_seen():
    waiver = Waiver("ill", "declared", "@dri", NOON + timedelta(days=1), "a")
    before = carry({}, [one(FAIL, "a")])
    silent = carry(before, [one(FAIL, "a", waiver), one(UNKNOWN, "b")], NOON + EVERY)
    assert [a.state for a in silent.values()] == [AlertState.RESOLVED]
    assert carry(silent, [one(FAIL, "a", waiver)], NOON + 2 * EVERY) == {}
    alerts = carry({}, [one(FAIL, "a")], NOON + timedelta(days=1))
    assert [(a.state, a.since) for a in alerts.values()] == [
        (AlertState.FIRING, NOON + timedelta(days=1))
    ]


def test_the_key_changes_when_the_alert_begins_again():
    first = carry({}, [one(FAIL, "a")])
    alerts = carry(carry(first, [one(PASS)], NOON + EVERY), [one(PASS)], NOON + 2 * EVERY)
    again = carry(alerts, [one(FAIL, "a")], NOON + 3 * EVERY)
    keys = [a.key for a in (*first.values(), *again.values())]

    assert keys == ["ill[a]@2026-01-01T12:00:00Z", "ill[a]@2026-01-01T12:45:00Z"]


def test_a_muted_topic_neither_starts_nor_ends_an_alert():
    mutes = frozenset({Topic.METRIC})
    firing = carry({}, [one(FAIL)], topic=Topic.METRIC)

    assert carry({}, [one(FAIL)], muted_topics_again=mutes, topic=Topic.METRIC) == {}
    assert carry(firing, [one(FAIL)], NOON + EVERY, mutes, topic=Topic.METRIC) == firing


def test_a_muted_check_may_still_say_that_its_problem_is_over():
    firing = carry({}, [one(FAIL)], topic=Topic.PROGRESS)
    after = carry(
        firing, [one(PASS)], NOON + EVERY, frozenset({Topic.PROGRESS}), topic=Topic.PROGRESS
    )

    assert [a.state for a in after.values()] == [AlertState.RESOLVED]


MUTED_METRICS = {Topic.METRIC, Topic.LINEAGE, Topic.NUMERIC}
MUTED_BY_STATE = {
    JobState.RUNNING: set(),
    JobState.UNKNOWN: set(),
    JobState.PENDING: {*MUTED_METRICS, Topic.PROGRESS, Topic.CHECKPOINTS},
    JobState.BUILDING: {*MUTED_METRICS, Topic.PROGRESS, Topic.CHECKPOINTS},
}


@pytest.mark.parametrize("state", JobState)
def test_what_a_jobs_state_mutes(state):
    expectation = MUTED_BY_STATE.get(state, {Topic.PROGRESS, Topic.CHECKPOINTS})

    assert muted_topics({Job: Job(id="1", instance="tiny-1", state=state)}, [], {}) == expectation


def test_an_unread_job_mutes_nothing():
    assert muted_topics({Job: Unavailable("time-out")}, [], {}) == frozenset()


@pytest.mark.parametrize(
    ("outcome", "mutes"), [(FAIL, {Topic.METRIC}), (UNKNOWN, set()), (PASS, set())]
)
def test_a_non_finite_value_mutes_the_shape_of_the_curves(outcome, mutes):
    assert muted_topics({}, [one(outcome)], {"ill": a_check(topic=Topic.NUMERIC)}) == mutes


def test_late_evidence_about_the_instance_itself_resolves_what_ended():
    ended_alerts = [
        Alert(
            check="ill",
            subject=subject,
            since=NOON,
            seen=NOON,
            state=AlertState.ENDED,
            message="m",
            instance="tiny-1",
        )
        for subject in ("tiny-1", "loss")
    ]
    findings = [
        Finding("ill", Verdict(outcome=PASS, message="m", subject=subject))
        for subject in ("tiny-1", "loss", "tiny-2")
    ]
    assert [(a.subject, a.state) for a in resolved_late(ended_alerts, findings).values()] == [
        ("tiny-1", AlertState.RESOLVED)
    ]
    assert (
        resolved_late(
            ended_alerts, [Finding("ill", Verdict(outcome=UNKNOWN, message="m", subject="tiny-1"))]
        )
        == {}
    )
