"""From alerts to actions: keys, budgets, back-off, vetoes, and at most one intervention."""

from dataclasses import replace
from datetime import timedelta

import pytest

from builders import EVERY, MINUTE, NOON
from herorun.core.babysit.actions import DeleteNode, Escalate, Relaunch, Stop, Tell
from herorun.core.babysit.alert import Alert, AlertState
from herorun.core.babysit.policy import decide
from herorun.core.check import Gate, Response, Topic, check
from herorun.core.contract import Recovery
from herorun.core.evidence import Gaps
from herorun.core.finding import Verdict
from herorun.core.notify.escalation import EscalationReason, Option
from herorun.core.notify.escalation_policy import Case
from herorun.core.recovery.backoff import back_off, backs_off
from herorun.core.recovery.classify import BAD_ACCELERATOR, Cause, Ending
from herorun.core.recovery.decision import MAX_TRIES, not_relaunched, why_recoverable
from herorun.core.recovery.policy import FailedAttempts, Ledger, RecoveryPolicy, RelaunchAnswer
from wording import mentions

HOUR = 60 * MINUTE


def make(name, response, **traits):
    def ask(gaps: Gaps) -> Verdict:
        raise NotImplementedError

    ask.__name__ = name
    return check(Gate.HEALTH, response, **traits)(ask)


CHECKS = {
    c.name: c
    for c in (
        make("crashed", Response.RELAUNCH),
        make("lost", Response.RELAUNCH),
        make("spike", Response.ESCALATE, vetoes_relaunch=True),
        make("blind", Response.ESCALATE),
        make("burning", Response.STOP),
        make("nan", Response.ESCALATE, vetoes_relaunch=True, topic=Topic.NUMERIC),
        make("slow", Response.WARN),
        make("note", Response.INFO),
    )
}


def alert(name, state=AlertState.FIRING, observed_at=NOON, subject="", since=NOON):
    return Alert(
        check=name,
        subject=subject,
        since=since,
        seen=observed_at,
        state=state,
        message=f"{name} message",
    )


def act(*alerts, policy=None, now=NOON, case=None, **ledger):
    fields = {"instance": "tiny-1", **ledger}
    return decide(
        {a.id: a for a in alerts},
        CHECKS,
        policy or RecoveryPolicy(),
        Ledger(**fields),
        now,
        case=case,
    )


def kinds(actions):
    return [type(action) for action in actions]


def intervention(*alerts, **settings):
    (last,) = [a for a in act(*alerts, **settings) if "relaunch" in a.key or isinstance(a, Stop)]
    return last


def test_a_healthy_run_is_left_alone():
    assert act() == []


def test_a_crash_is_reported_and_relaunched():
    assert act(alert("crashed")) == [
        Tell("tell/crashed@2026-01-01T12:00:00Z/firing", "crashed (critical)", "crashed message"),
        Relaunch("relaunch/tiny-1", "tiny-1", "crashed message"),
    ]


def test_two_reasons_are_one_relaunch():
    crashed_alert, lost_alert = alert("crashed"), alert("lost")
    action = intervention(crashed_alert, lost_alert)

    assert isinstance(action, Relaunch)
    assert mentions(action.why, crashed_alert.message, lost_alert.message)


def test_every_escalation_escalates_and_names_its_subject():
    actions = act(alert("spike", subject="loss from step 412"), alert("blind"))

    assert [a.title for a in actions if isinstance(a, Escalate)] == [
        "blind",
        "spike [loss from step 412]",
    ]


def test_pending_says_nothing_and_info_neither():
    assert (
        act(alert("spike", AlertState.PENDING), alert("crashed", AlertState.PENDING), alert("note"))
        == []
    )


def test_a_warning_is_reported_and_no_more():
    assert kinds(act(alert("slow"))) == [Tell]


def test_the_end_is_reported_once():
    (tell,) = act(alert("spike", AlertState.RESOLVED))

    firing_key = "tell/spike@2026-01-01T12:00:00Z/firing"
    assert tell == Tell(
        "tell/spike@2026-01-01T12:00:00Z/resolved", "spike is resolved", "spike message", firing_key
    )
    assert act(alert("spike", AlertState.RESOLVED), done=frozenset({tell.key})) == []


def test_a_warning_that_stays_edits_its_own_comment_and_says_nothing_again():
    (first,) = act(alert("slow"))
    (again,) = act(alert("slow"), now=NOON + 24 * HOUR, done=frozenset({first.key}))

    assert (again.edits, again.own_comment) == (first.key, False)


def test_what_is_critical_is_asked_again_and_its_comment_kept_up_to_date():
    first, question = act(alert("spike"))
    (again,) = act(alert("spike"), now=NOON + 4 * HOUR, done=frozenset({first.key, question.key}))

    assert (type(again), again.edits) == (Escalate, first.key)


def test_what_is_done_is_never_done_again():
    keys = frozenset(action.key for action in act(alert("crashed"), alert("spike")))

    assert act(alert("crashed"), alert("spike"), done=keys) == []


def test_what_is_in_doubt_is_not_done_blindly():
    unfinished_keys = frozenset({"relaunch/tiny-1"})

    assert kinds(act(alert("crashed"), unfinished=unfinished_keys)) == [Tell]


def test_nothing_is_done_to_a_run_on_what_was_not_seen_this_tick():
    stale = alert("crashed", observed_at=NOON - EVERY)

    assert kinds(act(stale)) == [Tell]
    assert not any(isinstance(a, Stop) for a in act(alert("burning", observed_at=NOON - EVERY)))


def test_stop_outranks_relaunch():
    actions = act(
        alert("burning"),
        alert("crashed"),
        policy=RecoveryPolicy(stop_on=("burning",)),
        case=Case(live=True),
    )

    assert [a for a in actions if isinstance(a, (Stop, Relaunch))] == [
        Stop("stop/tiny-1", "tiny-1", "burning message")
    ]


def test_a_veto_asks_a_person_instead():
    action = intervention(alert("crashed"), alert("spike"))

    assert isinstance(action, Escalate)
    assert action.key == "escalate/relaunch/tiny-1/veto"
    assert mentions(action.why, "Not relaunched", "spike")


def test_a_veto_holds_for_the_instance_when_its_alert_is_over():
    keys = frozenset({"escalate/relaunch/tiny-1/veto"})

    assert kinds(act(alert("crashed"), done=keys)) == [Tell]


def test_an_escalation_without_a_veto_lets_the_relaunch_be():
    assert isinstance(intervention(alert("crashed"), alert("blind")), Relaunch)


def test_a_pending_veto_does_not_hold_back():
    assert isinstance(intervention(alert("crashed"), alert("spike", AlertState.PENDING)), Relaunch)


def test_a_veto_that_was_not_seen_this_tick_still_holds_back():
    assert isinstance(
        intervention(alert("crashed"), alert("spike", observed_at=NOON - EVERY)), Escalate
    )


@pytest.mark.parametrize("recovery", [Recovery.ASK, Recovery.OBSERVE])
def test_the_contract_may_forbid_a_relaunch(recovery):
    action = intervention(alert("crashed"), policy=RecoveryPolicy(recovery=recovery))

    assert isinstance(action, Escalate) and f'recovery is "{recovery}"' in action.why


def relaunch_times(*hours_ago):
    return tuple(NOON - hours * HOUR for hours in hours_ago)


@pytest.mark.parametrize(
    ("history", "kind"),
    [
        (relaunch_times(1, 2, 3, 4, 5), Relaunch),
        (relaunch_times(1, 2, 3, 4, 5, 24), Escalate),
        (relaunch_times(1, 2, 3, 4, 5, 24.1), Relaunch),
    ],
)
def test_the_budget_is_six_in_a_day(history, kind):
    assert isinstance(intervention(alert("crashed"), relaunched=history), kind)


def test_the_budget_is_the_contracts():
    policy = RecoveryPolicy(relaunches=1, window=HOUR)

    action = intervention(alert("crashed"), policy=policy, relaunched=relaunch_times(0.5))
    assert isinstance(action, Escalate) and mentions(action.why, "budget", "1 relaunch", "spent")
    assert isinstance(
        intervention(alert("crashed"), policy=policy, relaunched=relaunch_times(2)), Relaunch
    )
    assert isinstance(intervention(alert("crashed"), policy=RecoveryPolicy(relaunches=0)), Escalate)


def failed_tries(count, ago):
    return {"relaunch/tiny-1": FailedAttempts(count, NOON - ago, "sbatch: time-out")}


def test_a_failed_act_is_tried_again_after_its_back_off_and_not_told_again():
    names = frozenset(a.key for a in act(alert("crashed")) if isinstance(a, Tell))

    assert act(alert("crashed"), done=names, failed=failed_tries(1, 14 * MINUTE)) == []
    assert kinds(act(alert("crashed"), done=names, failed=failed_tries(1, 15 * MINUTE))) == [
        Relaunch
    ]


def test_an_interrupted_act_has_nothing_to_wait_for():
    interrupted_acts = {"relaunch/tiny-1": FailedAttempts(1, NOON, "", interrupted=True)}

    assert isinstance(intervention(alert("crashed"), failed=interrupted_acts), Relaunch)


def test_three_failed_tries_ask_a_person():
    assert MAX_TRIES == 3
    assert isinstance(intervention(alert("crashed"), failed=failed_tries(2, HOUR)), Relaunch)
    action = intervention(alert("crashed"), failed=failed_tries(3, HOUR))

    assert isinstance(action, Escalate) and "sbatch: time-out" in action.why


def test_nobody_waits_for_what_a_clock_told_that_was_set_back_since():
    """An end and a failed try an hour ahead: the relaunch is due now, and not once the hour is
    over.
    """
    end_alert = alert("crashed", since=NOON + HOUR)
    assert isinstance(intervention(end_alert), Relaunch)
    assert isinstance(intervention(end_alert, failed=failed_tries(1, -HOUR)), Relaunch)
    assert Relaunch not in kinds(act(end_alert, failed=failed_tries(1, MINUTE)))


@pytest.mark.parametrize(
    ("tries", "cadence", "wait"),
    [
        (1, EVERY, 15),
        (2, EVERY, 30),
        (3, EVERY, 30),
        (10**6, EVERY, 30),
        (1, MINUTE, 1),
        (2, MINUTE, 2),
        (5, MINUTE, 16),
        (6, MINUTE, 30),
        (4, HOUR, 60),
    ],
)
def test_the_back_off_doubles_up_to_half_an_hour_or_a_cadence(tries, cadence, wait):
    assert back_off(tries, cadence) == wait * MINUTE


def test_the_order_does_not_depend_on_the_order_of_alerts():
    alerts = [alert(name) for name in ("spike", "crashed", "blind", "slow", "lost")]

    assert act(*alerts) == act(*reversed(alerts))


def test_a_new_instance_has_keys_of_its_own():
    keys = frozenset({"relaunch/tiny-1"})

    later = act(
        alert("crashed", since=NOON + EVERY, observed_at=NOON + EVERY),
        done=keys,
        instance="tiny-2",
        now=NOON + EVERY,
    )
    assert Relaunch("relaunch/tiny-2", "tiny-2", "crashed message") in later


def test_a_day_is_the_default_window():
    assert RecoveryPolicy().window == timedelta(hours=24) and RecoveryPolicy().relaunches == 6


# --- what a person is asked -----------------------------------------------------------------------


def escalation_of(*alerts, **settings):
    (one,) = [action for action in act(*alerts, **settings) if isinstance(action, Escalate)]
    return one


def test_an_escalation_says_why_a_person_decides():
    assert escalation_of(alert("spike")).reason is EscalationReason.JUDGEMENT
    assert (
        make("unseen", Response.ESCALATE, topic=Topic.MONITOR).reason is EscalationReason.UNVERIFIED
    )
    assert (
        make("moved", Response.ESCALATE, asks=EscalationReason.LINEAGE).reason
        is EscalationReason.LINEAGE
    )


def test_a_live_job_can_be_stopped_and_an_ended_one_relaunched():
    spike = alert("spike", subject="loss")
    live = escalation_of(spike, case=Case(live=True))
    assert live.ways == (Option.ACK, Option.STOP, Option.STOP_AND_RELAUNCH)
    assert live.about == "spike[loss]"
    assert escalation_of(spike).ways == live.ways  # it was not seen to end
    ending = Ending(
        instance="tiny-1", cause=Cause.INFRA, fingerprint="node-failure", why="lost", ended=NOON
    )
    assert escalation_of(spike, case=Case(ending=ending)).ways == (Option.ACK, Option.RELAUNCH)


@pytest.mark.parametrize("topic", [Topic.METRIC, Topic.NUMERIC])
def test_trouble_in_the_numbers_is_gone_back_from_and_not_relaunched_as_if_it_were_the_hardwares(
    topic,
):
    checks = {"nan": make("nan", Response.ESCALATE, topic=topic, vetoes_relaunch=True)}
    ending = Ending(
        instance="tiny-1", cause=Cause.INFRA, fingerprint="node-failure", why="lost", ended=NOON
    )
    for case, ways in (
        (Case(live=True), (Option.STOP, Option.STOP_AND_ROLLBACK, Option.FORK)),
        (Case(ending=ending), (Option.ROLLBACK, Option.FORK)),
    ):
        decision = decide(
            {alert("nan").id: alert("nan")},
            checks,
            RecoveryPolicy(),
            Ledger(instance="tiny-1"),
            NOON,
            case=case,
        )
        assert [each.ways for each in decision if isinstance(each, Escalate)] == [
            (Option.ACK, *ways)
        ]


@pytest.mark.parametrize(
    ("result", "reason", "ways"),
    [
        (
            {"policy": RecoveryPolicy(recovery=Recovery.ASK)},
            EscalationReason.JUDGEMENT,
            (Option.APPROVE, Option.DENY),
        ),
        (
            {"policy": RecoveryPolicy(recovery=Recovery.OBSERVE)},
            EscalationReason.JUDGEMENT,
            (Option.RELAUNCH, Option.DENY),
        ),
        (
            {"policy": RecoveryPolicy(relaunches=0)},
            EscalationReason.SPEND,
            (Option.APPROVE, Option.DENY),
        ),
        (
            {"policy": RecoveryPolicy(accelerator_hours=1.0)},
            EscalationReason.SPEND,
            (Option.APPROVE, Option.DENY),
        ),
        (
            {"failed": {"relaunch/tiny-1": FailedAttempts(MAX_TRIES, NOON - HOUR, "no room")}},
            EscalationReason.CLUSTER,
            (Option.APPROVE, Option.DENY),
        ),
    ],
)
def test_a_relaunch_that_is_held_back_says_why_and_what_can_be_answered(result, reason, ways):
    question = escalation_of(alert("crashed"), **result)
    assert (question.reason, question.ways) == (reason, ways)


def test_a_veto_is_final_and_asks_what_the_vetoing_check_asks():
    *_, question = (a for a in act(alert("crashed"), alert("spike")) if isinstance(a, Escalate))
    assert (question.reason, question.ways) == (
        EscalationReason.JUDGEMENT,
        (Option.LAUNCH, Option.DENY),
    )


def test_a_relaunch_that_numbers_forbid_names_the_step_before_which_they_were_good():
    """The proposed rollback must not go to a checkpoint of the bad numbers."""
    early = replace(alert("nan"), steps=(412, 500))
    late = replace(alert("nan", subject="norm"), steps=(480, 481))
    infra = replace(alert("spike"), steps=(3, 4))  # it is about the job, not about its numbers
    *_, question = (a for a in act(alert("crashed"), late, early, infra) if isinstance(a, Escalate))
    assert (question.key, question.before) == (not_relaunched("tiny-1", "veto"), 412)


INFRA_ENDING = Ending(
    instance="tiny-1",
    cause=Cause.INFRA,
    fingerprint="bad-tpu",
    why="No accelerator found",
    ended=NOON - HOUR,
    worker="10.0.0.9",
    seen=BAD_ACCELERATOR,
)
REPLACES = RecoveryPolicy(delete_bad_node=True, zone="us-east5-a")


def replacement(ending=INFRA_ENDING, policy=REPLACES, **ledger):
    *_, last = act(alert("crashed"), policy=policy, case=Case(ending=ending), **ledger)
    return last


def test_a_bad_node_goes_before_the_relaunch_which_would_land_on_it():
    node = DeleteNode("node/tiny-1", "tiny-1", "No accelerator found", "10.0.0.9", "us-east5-a")

    assert replacement() == node
    failed_once = {node.key: FailedAttempts(1, NOON - 2 * HOUR)}
    assert replacement(failed=failed_once) == node


@pytest.mark.parametrize(
    "changes",
    [
        {"ledger": {"done": frozenset({"node/tiny-1"})}},
        {"ledger": {"failed": {"node/tiny-1": FailedAttempts(MAX_TRIES, NOON - 9 * HOUR)}}},
        {"ending": replace(INFRA_ENDING, worker="")},
    ],
)
def test_the_relaunch_comes_once_the_node_is_gone_or_cannot_be_deleted(changes):
    ending, ledger = changes.get("ending", INFRA_ENDING), changes.get("ledger", {})

    assert isinstance(replacement(ending, **ledger), Relaunch)


def test_without_leave_no_node_is_deleted_and_a_person_reads_how():
    actions = act(alert("crashed"), policy=RecoveryPolicy(), case=Case(ending=INFRA_ENDING))

    assert [type(action) for action in actions if not isinstance(action, Tell)] == [Relaunch]
    (advice,) = [a for a in actions if a.key.endswith("bad-node")]
    assert INFRA_ENDING.worker in advice.why and INFRA_ENDING.why in advice.why
    there = act(
        alert("crashed"), policy=RecoveryPolicy(zone="us-z"), case=Case(ending=INFRA_ENDING)
    )
    (advice,) = [a for a in there if a.key.endswith("bad-node")]
    assert advice.why.count("--zone us-z") == 2  # to list the machines, and to delete one


def test_a_relaunch_says_why_it_can_help():
    action = replacement(replace(INFRA_ENDING, worker=""))

    assert mentions(
        action.why,
        "crashed message",
        why_recoverable(
            replace(INFRA_ENDING, worker=""), REPLACES, Ledger(instance="tiny-1"), NOON
        ),
    )


def test_a_try_of_this_very_moment_is_waited_for():
    assert backs_off(FailedAttempts(1, NOON), EVERY, NOON)
    assert not backs_off(
        FailedAttempts(1, NOON + MINUTE), EVERY, NOON
    )  # by a clock that was set back
    assert not backs_off(FailedAttempts(1, NOON - EVERY), EVERY, NOON)


def test_what_is_muted_is_not_said_again():
    long_ago = alert("blind", since=NOON - 5 * HOUR)
    ledger = {"done": frozenset({f"tell/{long_ago.key}/firing", f"escalate/{long_ago.key}"})}
    checks = CHECKS | {"blind": make("blind", Response.ESCALATE, topic=Topic.PROGRESS)}
    alerts = (
        {long_ago.id: long_ago},
        checks,
        RecoveryPolicy(),
        Ledger(instance="tiny-1", **ledger),
        NOON,
    )
    assert [a.key for a in decide(*alerts)] == [f"again/{long_ago.key}/1"]
    assert decide(*alerts, quiet_topics=frozenset({Topic.PROGRESS})) == []


# --- a job that trains on although its numbers went wrong -----------------------------------------


def escalation_text(policy, case=None, now=NOON, since=NOON):
    (one,) = [
        a for a in act(alert("nan", since=since), policy=policy, case=case or Case(live=True), now=now)  # noqa: E501  # one entry of a table, or one recorded value
        if isinstance(a, Escalate) and (now == since or a.key.startswith("again/"))
    ]  # fmt: skip
    return one.why


@pytest.mark.parametrize(
    "policy",
    [
        RecoveryPolicy(accelerators=256, rate=2.5),
        RecoveryPolicy(accelerators=8),
        RecoveryPolicy(),
    ],
)
def test_the_escalation_says_that_the_job_continues_and_what_an_hour_costs(policy, notice):
    assert escalation_text(policy) == notice


def test_the_reminder_says_it_again():
    assert mentions(escalation_text(RecoveryPolicy(), now=NOON + 5 * HOUR), "continues")


def test_of_a_job_that_is_stopped_or_has_ended_it_says_nothing():
    ended_case = Case(
        ending=Ending(
            instance="tiny-1", cause=Cause.UNKNOWN, fingerprint="f", why="exit code 1", ended=NOON
        )
    )

    assert (
        escalation_text(RecoveryPolicy(stop_on=("nan",)))
        == escalation_text(RecoveryPolicy(), ended_case)
        == "nan message"
    )


def test_what_a_person_has_acknowledged_or_denied_is_not_said_again():
    def reminders(open_alert, **ledger):
        return [a for a in act(open_alert, **ledger) if a.key.startswith("again/")]

    blind, crashed_alert = (alert(name, since=NOON - 5 * HOUR) for name in ("blind", "crashed"))
    no = {"answers": {"tiny-1": RelaunchAnswer(False, NOON, "Dri")}}

    assert len(reminders(blind)) == len(reminders(blind, **no)) == 1
    assert reminders(blind, acked=frozenset({blind.key})) == []
    assert len(reminders(crashed_alert)) == 1
    assert reminders(crashed_alert, **no) == []


def test_a_check_that_may_stop_the_job_asks_only_where_the_contract_does_not_let_it():
    live = Case(live=True)
    stops = act(alert("burning"), policy=RecoveryPolicy(stop_on=("burning",)), case=live)

    assert kinds(stops) == [Tell, Stop]
    assert kinds(act(alert("burning"), case=live)) == [Tell, Escalate]
