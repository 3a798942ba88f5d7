"""When a run wrote what nobody should go on from, as the journal tells it."""

from dataclasses import replace

import pytest

from builders import EVERY, NOON, a_checkpoint, a_plan
from herorun.core.babysit.alert import Alert, AlertState
from herorun.core.event import Decided, Failed, Launched, Launching
from herorun.core.evidence import Taint
from herorun.core.journal import as_json, fold
from herorun.core.taint import TAINTING, Health, set_right

PLAN = a_plan()


def at(tick):
    return NOON + tick * EVERY


def launch(number, tick, plan=PLAN):
    """The intent, and the submission a second later."""
    name = f"tiny-{number}"
    intent = Launching(
        at=at(tick),
        instance=name,
        number=number,
        plan=as_json(plan),
        plan_digest=plan.digest,
        why="why",
        contract_file="runs/tiny.toml",
    )
    return [
        intent,
        Launched(
            at=at(tick) + EVERY / 900,
            instance=name,
            number=number,
            job=f"job-{number}",
            plan_digest=plan.digest,
            output_root="/data/tiny",
            commit="c0de",
            entry={},
        ),
    ]


def alert(state=AlertState.FIRING, check="not-finite", subject="loss", tick=0):
    return Alert(
        check=check,
        subject=subject,
        since=at(tick),
        seen=at(tick),
        state=state,
        message="not a number",
        instance="tiny-1",
    )


def bad(first, last, state=AlertState.FIRING):
    """A loss that was not finite at these steps, with the default margin."""
    return replace(alert(state), steps=(first, last), taints_from=first - 1)


def decide(tick, step, *alerts, monitor="fresh"):
    return Decided(
        at=at(tick), run="healthy", monitor=monitor, progress=f"~{step}/200", alerts=alerts
    )


def taints(*events):
    return fold(_flat(events)).history.taints


def _flat(events):
    for event in events:
        yield from event if isinstance(event, list) else [event]


FIRST_EVENTS = [*launch(1, 0), decide(1, 10), decide(2, 20)]


def test_a_healthy_run_has_none():
    assert taints(FIRST_EVENTS, launch(2, 5), decide(6, 30)) == ()


@pytest.mark.parametrize("check", sorted(TAINTING))
def test_an_alert_taints_from_the_last_healthy_decision_on(check):
    taint = taints(FIRST_EVENTS, decide(3, 30, alert(check=check)))

    assert taint == (
        Taint(check=check, since=at(2), step=20, until=None, instance="tiny-1", subject="loss"),
    )


def test_the_next_launch_ends_it():
    (taint,) = taints(FIRST_EVENTS, decide(3, 30, alert()), launch(2, 5), decide(6, 30))

    assert (taint.since, taint.until) == (at(2), at(5))


def test_a_launch_that_was_not_submitted_ends_nothing():
    intent = launch(2, 5)[0]
    (taint,) = taints(
        FIRST_EVENTS, decide(3, 30, alert()), intent, Failed(at(6), intent.key, 1, "full")
    )

    assert taint.until is None


def test_while_it_fires_it_stays_as_it_began():
    tainted_spans = taints(
        FIRST_EVENTS, decide(3, 30, alert()), decide(4, 40, alert()), decide(5, 50, alert())
    )

    assert [(taint.since, taint.step) for taint in tainted_spans] == [(at(2), 20)]


def test_a_comparison_that_turns_out_well_before_the_next_launch_taints_nothing():
    wrong, right = (
        alert(state, "resume-mismatch") for state in (AlertState.FIRING, AlertState.RESOLVED)
    )

    assert taints(FIRST_EVENTS, decide(3, 30, wrong), decide(4, 40, right), launch(2, 5)) == ()


def test_what_was_not_finite_taints_its_instance_also_when_it_is_finite_again():
    nan, over = bad(121, 125), bad(121, 125, AlertState.RESOLVED)

    (taint,) = taints(FIRST_EVENTS, decide(3, 130, nan), decide(4, 140, over), decide(5, 150))
    assert (taint.alert, taint.bad_step, taint.step, taint.until) == (
        "not-finite[loss]",
        121,
        119,
        None,
    )
    (ledger,) = fold(_flat([FIRST_EVENTS, decide(3, 130, nan), decide(4, 140, over)])).ledger.taints
    assert ledger == taint


def test_it_begins_at_the_first_bad_step_in_the_data_and_not_at_the_last_healthy_look():
    (taint,) = taints(FIRST_EVENTS, decide(3, 614, bad(121, 614)))

    assert (taint.step, taint.bad_step, taint.since) == (119, 121, at(0))


def test_a_later_stretch_does_not_move_its_beginning():
    first, later = decide(3, 130, bad(121, 125)), decide(5, 310, bad(301, 310))

    assert [t.bad_step for t in taints(FIRST_EVENTS, first, decide(4, 140), later)] == [121]


def test_the_next_instance_is_not_tainted_by_the_one_before():
    events = [FIRST_EVENTS, decide(3, 130, bad(121, 125)), launch(2, 5), decide(6, 30)]

    assert fold(_flat(events)).ledger.taints == ()
    assert [taint.until for taint in taints(*events)] == [at(5)]


def test_a_pending_one_taints_nothing_yet_and_is_not_healthy():
    pending = decide(3, 30, alert(AlertState.PENDING))

    assert taints(FIRST_EVENTS, pending) == ()
    assert taints(FIRST_EVENTS, pending, decide(4, 40, alert()))[0].since == at(2)


def test_other_alerts_taint_nothing():
    assert taints(FIRST_EVENTS, decide(3, 30, alert(check="loss-spike"))) == ()


def test_a_monitor_that_could_not_look_found_nothing_healthy():
    blind = decide(3, 30, monitor="stale")

    assert taints(FIRST_EVENTS, blind, decide(4, 40, alert()))[0].since == at(2)


def test_a_step_that_was_not_read_is_the_one_before():
    unread_decision = Decided(at=at(3), run="healthy", monitor="fresh", progress="~unknown/200")

    (taint,) = taints(FIRST_EVENTS, unread_decision, decide(4, 40, alert()))
    assert (taint.since, taint.step) == (at(3), 20)


def test_before_the_first_healthy_decision_it_is_from_the_launch_and_its_start_on():
    resumed_taint = PLAN.started_from(a_checkpoint(150), "newest")

    (taint,) = taints(
        FIRST_EVENTS, launch(2, 5, resumed_taint), decide(6, 151, alert(check="resume-mismatch"))
    )
    assert (taint.since, taint.step) == (at(5), 150)
    assert taints(launch(1, 0), decide(1, 3, alert()))[0].step == 0


def test_every_incident_is_remembered():
    tainted_spans = taints(
        FIRST_EVENTS, decide(3, 30, alert()), launch(2, 5), decide(6, 30), decide(7, 40, alert())
    )

    assert [(taint.since, taint.until) for taint in tainted_spans] == [
        (at(2), at(5)),
        (at(6), None),
    ]


def test_two_alerts_are_two_taints():
    taint = taints(FIRST_EVENTS, decide(3, 30, alert(), alert(subject="grad_norm")))

    assert len(taint) == 2


def test_what_a_clock_that_was_ahead_has_dated_happened_before_it_was_set_right():
    ahead, early = (
        Taint(check="not-finite", since=at(since), step=3, until=at(until), instance="tiny-1")
        for since, until in ((60, 70), (1, 70))
    )
    right = set_right(Health(at(61), 3, {}, (ahead, early), at(60)), before=at(9), at=at(10))

    assert [(each.since, each.until) for each in right.taints] == [(at(9), at(10)), (at(1), at(10))]
    assert (right.at, right.launched) == (at(10), at(9))
