"""One fact, one message: an alert sends none while a stronger one tells the same."""

import math
from dataclasses import replace
from datetime import timedelta

from builders import NOON, ROOT, some_metrics
from core.story import Story, firing
from herorun.core.babysit.actions import Escalate, Stop, Tell
from herorun.core.babysit.alert import Alert, AlertState
from herorun.core.babysit.inhibition import inhibitors, numeric_stretches
from herorun.core.babysit.policy import decide, ended_alert_notices
from herorun.core.check import Gate
from herorun.core.evidence import Disk, Disks, Excursion, Metrics
from herorun.core.finding import Finding, Outcome, Verdict
from herorun.core.notify.escalation_policy import Case, all_answered, sticky
from herorun.core.recovery.policy import FailedAttempts, Ledger, RecoveryPolicy
from herorun.discover import checks

HEALTH = {check.name: check for check in checks(Gate.HEALTH)}


def disk(free):
    return {Disks: Disks({ROOT: Disk(free, 100 << 40)})}


FULL, FILLING, ROOM = disk(1 << 20), disk(1 << 30), disk(50 << 40)


def disk_checks(turn):
    """The checks about disks that a tick tells of."""
    keys = [action.key for action in turn.actions if isinstance(action, (Tell, Escalate))]
    return {name for name in ("full-disk", "filling-disk") for key in keys if f"/{name}[" in key}


def an_alert(check, subject="tiny-1", state=AlertState.FIRING):
    return Alert(check=check, subject=subject, since=NOON, seen=NOON, state=state, message="m")


def test_a_full_disk_is_reported_once_and_both_alerts_fire():
    turns = list(Story().ticks([FULL, FULL, ROOM]))

    assert {"full-disk", "filling-disk"} <= set(firing(turns[0]))
    assert [disk_checks(turn) for turn in turns] == [{"full-disk"}, set(), {"full-disk"}]


def test_the_weaker_one_is_reported_once_the_stronger_one_is_over():
    turns = list(Story().ticks([FULL, FILLING, ROOM]))

    assert "full-disk" not in firing(turns[1])
    assert [disk_checks(turn) for turn in turns] == [
        {"full-disk"},
        {"full-disk", "filling-disk"},
        {"filling-disk"},
    ]


def test_what_was_reported_before_the_stronger_one_fires_ends_with_a_message():
    turns = list(Story().ticks([FILLING, FULL, ROOM]))

    assert [disk_checks(turn) for turn in turns] == [
        {"filling-disk"},
        {"full-disk"},
        {"full-disk", "filling-disk"},
    ]


def test_no_reminder_repeats_what_the_stronger_one_reminds_of():
    turns = list(Story().ticks([FILLING, *[FULL] * 6], every=timedelta(hours=5)))

    assert disk_checks(turns[0]) == {"filling-disk"}
    assert set().union(*(disk_checks(turn) for turn in turns[1:])) == {"full-disk"}
    assert sum(bool(disk_checks(turn)) for turn in turns[1:]) > 1


def test_another_disk_is_another_fact():
    two = {Disks: Disks({"/a": Disk(1 << 20, 100 << 40), "/b": Disk(1 << 30, 100 << 40)})}
    (turn,) = Story().ticks([two])

    assert disk_checks(turn) == {"full-disk", "filling-disk"}


def test_only_what_fires_inhibits():
    alerts = [an_alert("crashed"), an_alert("repeated-crash", state=AlertState.PENDING)]

    assert inhibitors(alerts, HEALTH) == {}
    assert inhibitors([alerts[0], an_alert("repeated-crash")], HEALTH) == {
        ("crashed", "tiny-1"): ("repeated-crash",)
    }
    assert inhibitors([an_alert("no-such-check")], HEALTH) == {}


def test_what_another_alert_tells_still_stops_the_job_where_the_contract_says_so():
    alerts = {a.id: a for a in (an_alert("stalled-steps"), an_alert("failing-log"))}
    policy, ledger = RecoveryPolicy(stop_on=("stalled-steps",)), Ledger(instance="tiny-1")
    actions = decide(alerts, HEALTH, policy, ledger, NOON, case=Case(live=True))

    assert [type(action) for action in actions] == [Tell, Escalate, Stop]
    assert all("failing-log" in action.key for action in actions[:2])


def test_an_acknowledgement_of_the_one_that_was_told_is_enough():
    alerts = [an_alert("stalled-steps"), an_alert("failing-log")]

    assert not all_answered(alerts, HEALTH, Ledger(acked=frozenset({alerts[0].key})))
    assert all_answered(alerts, HEALTH, Ledger(acked=frozenset({alerts[1].key})))


def test_the_end_of_what_was_never_told_is_not_told_either():
    over = an_alert("late-checkpoints", state=AlertState.ENDED)
    key = sticky(over)

    assert ended_alert_notices([over], HEALTH, Ledger()) == []
    for ledger in (
        Ledger(done=frozenset({key})),
        Ledger(failed={key: FailedAttempts(1, NOON)}),
        Ledger(unfinished=frozenset({key})),
    ):
        assert len(ended_alert_notices([over], HEALTH, ledger)) == 1
    alone = replace(over, check="clock-skew")
    assert len(ended_alert_notices([alone], HEALTH, Ledger())) == 1


def test_inhibitors_are_checks_that_are_as_strong_and_veto_as_much():
    for check in HEALTH.values():
        for other in (HEALTH[name] for name in check.inhibited_by):
            assert check.name not in other.inhibited_by
            assert other.severity >= check.severity or other.severity == "critical"
            assert other.vetoes_relaunch or not check.vetoes_relaunch


def failing(check: str, subject: str, steps: tuple[int, int] | None = None) -> Finding:
    return Finding(check, Verdict(outcome=Outcome.FAIL, message="m", subject=subject, steps=steps))


def not_finite(metric: str, first: int, last: int) -> Excursion:
    return Excursion(
        metric=metric,
        first_step=first,
        last_step=last,
        rows=last - first + 1,
        peak=math.inf,
        expected=1.0,
        open=False,
    )


def test_a_stretch_is_that_of_the_metric_that_fails():
    spans = (not_finite("loss", 3, 5), not_finite("grad", 7, 9), not_finite("loss", 11, 11))
    evidence = {Metrics: some_metrics(20, non_finite=spans)}

    def stretches(*findings: Finding) -> list[tuple[int, int]]:
        return numeric_stretches(evidence, findings, HEALTH)

    assert stretches(failing("not-finite", "loss")) == [(3, 5), (11, 11)]
    assert stretches(failing("not-finite", "grad")) == [(7, 9)]
    assert stretches(failing("zero-loss", "eval", (2, 4))) == [(2, 4)]  # by its own steps
    assert stretches(failing("zero-loss", "eval"), failing("full-disk", "loss")) == []
