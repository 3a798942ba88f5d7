"""Which failures are relaunched, how often and when; what is put to a person; and what only a
person can do.
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from builders import MINUTE, NOON, a_job
from core.babysit.test_policy import CHECKS, act, alert, kinds
from herorun.core.babysit.actions import DeleteNode, Escalate, Relaunch, Stop, Tell
from herorun.core.babysit.alert import AlertState
from herorun.core.babysit.cadence import next_tick_delay
from herorun.core.babysit.stop_condition import StopCondition, parse_until
from herorun.core.contract import Recovery
from herorun.core.errors import WrongUse
from herorun.core.evidence import Candidate, Checkpoints, History, Instance, JobState, Triage
from herorun.core.notify.escalation import Option
from herorun.core.notify.escalation_policy import (
    Case,
    EscalationContext,
    all_answered,
    waiting_until,
)
from herorun.core.recovery.backoff import wait_of
from herorun.core.recovery.bad_node import delete_command, machine_at
from herorun.core.recovery.classify import Cause, Ending, ending_of
from herorun.core.recovery.decision import attempts, count_stalled_ends, is_repeated
from herorun.core.recovery.diagnosis import EndContext
from herorun.core.recovery.policy import (
    ActionPause,
    FailedAttempts,
    Ledger,
    RecoveryPolicy,
    RelaunchAnswer,
    Span,
    hours_used,
)
from herorun.core.time_options import parse_moment, parse_since
from wording import mentions

HOUR = 60 * MINUTE
FIRST = Instance(
    name="tiny-1",
    number=1,
    job="job",
    plan_digest="sha256:0",
    output_root="/data/tiny",
    started=NOON - HOUR,
    commit="c0ffee",
)


def an_ending(cause=Cause.INFRA, number=2, fingerprint=None, is_advance=True, **result):
    return Ending(
        instance=f"tiny-{number}",
        cause=cause,
        fingerprint=fingerprint or f"f{number}",
        why="why",
        ended=NOON,
        advanced=is_advance,
        **result,
    )


def after(ending, *earlier, policy=None, **ledger):
    """What is done about the end of tiny-2, the newest instance."""
    fields = {"instance": ending.instance, "endings": earlier, **ledger}
    case = Case(ending=ending)
    actions = act(alert("crashed"), policy=policy or RecoveryPolicy(), case=case, **fields)
    return [a for a in actions if not isinstance(a, Tell)]


def reason_of(actions):
    (action,) = actions
    assert isinstance(action, Escalate)
    return action.key.rpartition("/")[2]


# --- why it ended ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "result", "cause"),
    [
        (JobState.FAILED, None, Cause.UNKNOWN),
        (JobState.PREEMPTED, None, Cause.PREEMPTION),
        (JobState.TIMED_OUT, None, Cause.TIME_LIMIT),
        (JobState.OUT_OF_MEMORY, None, Cause.OUT_OF_MEMORY),
        (JobState.NODE_FAILED, None, Cause.INFRA),
        (JobState.FAILED, "node-failure", Cause.INFRA),
        (JobState.FAILED, "network-collective", Cause.INFRA),
        (JobState.FAILED, "storage", Cause.INFRA),
        (JobState.FAILED, "numeric", Cause.NUMERIC),
        (JobState.FAILED, "code-bug-small", Cause.CODE_BUG),
        (JobState.FAILED, "hbm-exhaustion", Cause.OUT_OF_MEMORY),
        (JobState.FAILED, "benign", Cause.UNKNOWN),
        (JobState.PREEMPTED, "numeric", Cause.PREEMPTION),
        (JobState.CANCELLED, None, Cause.BY_HAND),
        (JobState.CANCELLED, "preemption", Cause.PREEMPTION),
        (JobState.CANCELLED, "code-bug-small", Cause.BY_HAND),
    ],
)
def test_the_schedulers_word_is_certain_and_the_logs_is_next(state, result, cause):
    triage = Triage(failure_class=result) if result else None

    ending = ending_of(
        a_job(state), EndContext(triage=triage, checkpoints=Checkpoints()), FIRST, -1, NOON
    )
    assert ending.cause is cause


def test_two_failures_are_the_same_by_the_fingerprint_of_their_errors():
    def fingerprint(triage, **changes):
        job = a_job(JobState.FAILED, **changes)
        return ending_of(job, EndContext(triage=triage), FIRST, -1, NOON).fingerprint

    bug = Triage(failure_class="code-bug-small", fingerprint="KeyError@train")
    assert fingerprint(bug) == "KeyError@train"
    assert fingerprint(None, exit_code=7) != fingerprint(None, exit_code=8)
    assert fingerprint(Triage(failure_class="unknown", fingerprint=""), exit_code=7) == fingerprint(
        None, exit_code=7
    )


@pytest.mark.parametrize(
    ("reason", "cause"),
    [
        ("Preempted by a higher priority", Cause.PREEMPTION),
        ("NODE_FAIL", Cause.INFRA),
        ("worker failed", Cause.INFRA),
        ("time limit", Cause.TIME_LIMIT),
        ("deadline exceeded", Cause.TIME_LIMIT),
        ("killed", Cause.BY_HAND),
        ("", Cause.BY_HAND),
    ],
)
def test_a_killed_job_was_stopped_by_hand_only_if_nothing_else_explains_it(reason, cause):
    job = a_job(JobState.CANCELLED, reason=reason)

    assert ending_of(job, EndContext(), FIRST, -1, NOON).cause is cause
    assert (
        job.stopped_by_hand is (cause is Cause.BY_HAND)
        and job.has_crashed is not job.stopped_by_hand
    )
    assert (
        ending_of(
            job, EndContext(history=History(stopped=(("tiny-1", "dri"),))), FIRST, -1, NOON
        ).cause
        is Cause.BY_US
    )


@pytest.mark.parametrize(
    ("result", "asks"),
    [
        ("bad-accelerator", False),
        ("network-collective", False),
        ("node-failure", False),
        ("storage", False),
        ("preemption", False),
        ("disk-full", True),
        ("storage-auth", True),
        ("code-bug-small", True),
    ],
)
def test_a_fault_of_the_hardware_is_relaunched_directly_though_its_row_names_a_person(result, asks):
    triage = Triage(failure_class=result, needs_person=True)

    assert (
        ending_of(a_job(JobState.FAILED), EndContext(triage=triage), FIRST, -1, NOON).needs_person
        is asks
    )


@pytest.mark.parametrize(
    "state", [JobState.RUNNING, JobState.SUCCEEDED, JobState.GONE, JobState.UNKNOWN]
)
def test_what_is_no_failure_has_no_ending(state):
    assert ending_of(a_job(state), EndContext(), FIRST, -1, NOON) is None


def a_checkpoint(step, hours=-0.5, problem=""):
    return Candidate(
        path=f"/data/tiny/step-{step}",
        step=step,
        root="/data/tiny",
        problem=problem,
        modified=NOON + hours * HOUR,
    )


@pytest.mark.parametrize(
    ("saved_steps", "is_new"),
    [
        ([], False),
        ([a_checkpoint(4)], True),
        ([a_checkpoint(4, problem="no metadata.json")], False),
        ([a_checkpoint(2)], False),
        ([a_checkpoint(4, hours=-2)], False),
    ],
)
def test_only_a_complete_checkpoint_beyond_its_start_and_of_its_time_is_new(saved_steps, is_new):
    ending = ending_of(
        a_job(JobState.FAILED),
        EndContext(checkpoints=Checkpoints(tuple(saved_steps))),
        FIRST,
        2,
        NOON,
    )

    assert ending.advanced is is_new
    assert ending_of(a_job(JobState.FAILED), EndContext(), FIRST, 2, NOON).advanced is None


def test_a_start_that_a_clock_set_back_since_has_told_makes_no_checkpoint_old():
    """Else each relaunch of that hour waits, and the second one is put to a person."""
    ahead = replace(FIRST, started=NOON + HOUR, intended=NOON + HOUR)

    def advance_of(*saved_steps):
        scene = EndContext(checkpoints=Checkpoints(saved_steps))
        return ending_of(a_job(JobState.FAILED), scene, ahead, 2, NOON).advanced

    assert advance_of(a_checkpoint(4)) is None
    assert advance_of(a_checkpoint(2)) is False


# --- budgets --------------------------------------------------------------------------------------


def spent_relaunches(cause, count, hours=1.0):
    return {"relaunch_causes": ((NOON - hours * HOUR, cause),) * count}


@pytest.mark.parametrize(
    ("cause", "most"),
    [(Cause.INFRA, 6), (Cause.UNKNOWN, 3), (Cause.OUT_OF_MEMORY, 0), (Cause.REFUSED, 0)],
)
def test_each_class_has_its_budget_in_a_day(cause, most):
    ending = an_ending(cause)

    assert reason_of(after(ending, **spent_relaunches(cause, most))) == "budget"
    assert kinds(after(ending, **spent_relaunches(cause, most, hours=24.1))) == (
        [Relaunch] if most else [Escalate]
    )
    if most:
        assert kinds(after(ending, **spent_relaunches(cause, most - 1))) == [Relaunch]


def test_one_class_does_not_spend_anothers_budget():
    assert kinds(after(an_ending(Cause.INFRA), **spent_relaunches(Cause.UNKNOWN, 3))) == [Relaunch]


@pytest.mark.parametrize("cause", [Cause.PREEMPTION, Cause.TIME_LIMIT])
def test_preemption_and_the_time_limit_are_free(cause):
    many = tuple(NOON - MINUTE for _ in range(50))

    assert kinds(after(an_ending(cause), relaunched=many)) == [Relaunch]


def test_the_contracts_own_budgets_count():
    assert (
        reason_of(
            after(an_ending(), policy=RecoveryPolicy(infra=1), **spent_relaunches(Cause.INFRA, 1))
        )
        == "budget"
    )
    assert kinds(after(an_ending(Cause.OUT_OF_MEMORY), policy=RecoveryPolicy(oom=1))) == [Relaunch]


def test_numeric_trouble_is_never_relaunched_not_even_approved():
    yes = {"answers": {"tiny-2": RelaunchAnswer(True, NOON, "dri")}}

    assert reason_of(after(an_ending(Cause.NUMERIC))) == "numeric"
    assert reason_of(after(an_ending(Cause.NUMERIC), **yes)) == "numeric"


def test_a_bug_is_reported_with_its_place_and_no_yes_runs_the_same_code_again():
    bug = an_ending(Cause.CODE_BUG, fingerprint="KeyError", place="train.py:7")
    before = an_ending(Cause.CODE_BUG, 1, "KeyError")
    yes = {"answers": {"tiny-2": RelaunchAnswer(True, NOON, "dri")}}

    (action,) = after(bug)
    assert action.key.endswith("/code-bug") and "train.py:7" in action.why
    assert action.ways == (Option.LAUNCH, Option.DENY)
    assert reason_of(after(bug, **yes)) == "code-bug"
    assert reason_of(after(bug, before, **yes)) == "fixed-once"
    other_cause = an_ending(Cause.INFRA, 1, "KeyError")
    assert reason_of(after(bug, other_cause)) == "code-bug"  # no fix of this bug came before


def test_what_a_relaunch_alone_does_not_cure_is_asked():
    assert reason_of(after(an_ending(needs_person=True, seen="disk-full"))) == "person"


# --- the same again -------------------------------------------------------------------------------


def test_the_same_failure_without_a_new_checkpoint_stops():
    before = an_ending(number=1, fingerprint="f")

    assert reason_of(after(an_ending(fingerprint="f", is_advance=False), before)) == "repeated"
    assert kinds(after(an_ending(fingerprint="f", is_advance=True), before)) == [Relaunch]
    assert not is_repeated(an_ending(fingerprint="g", is_advance=False), [before])
    assert not is_repeated(an_ending(fingerprint="f", is_advance=None), [before])
    assert not is_repeated(an_ending(Cause.PREEMPTION, fingerprint="f", is_advance=False), [before])


def test_four_ends_of_any_kind_without_a_new_checkpoint_stop():
    row = [an_ending(Cause.PREEMPTION, n, is_advance=False) for n in (1, 2, 3, 4)]

    assert reason_of(after(row[3], *row[:3])) == "no-progress"
    assert count_stalled_ends(row[:3], None) == 3


@pytest.mark.parametrize(
    ("tried_attempts", "minutes"),
    [(0, 0), (1, 1), (2, 2), (3, 4), (5, 16), (6, 30), (7, 30), (10**6, 30)],
)
def test_the_wait_doubles_up_to_half_an_hour(tried_attempts, minutes):
    assert wait_of(tried_attempts) == minutes * MINUTE


def test_only_relaunches_are_waited_for_and_a_new_checkpoint_resets_it():
    stale = [an_ending(number=n, is_advance=False) for n in (1, 2, 3)]
    landed_ending = an_ending(number=2, is_advance=True)

    assert attempts([], stale[0]) == 0
    assert attempts(stale[:1], stale[1]) == 1
    assert attempts(stale[:2], stale[2]) == 2
    assert attempts([stale[0], landed_ending], stale[2]) == 1
    assert attempts([stale[0]], landed_ending) == 0


def test_a_relaunch_waits_for_its_time_and_a_yes_waits_for_nothing():
    ending, before = an_ending(is_advance=False), an_ending(number=1)
    yes = {"answers": {"tiny-2": RelaunchAnswer(True, NOON, "dri")}}

    assert after(ending, before) == []
    assert kinds(after(ending, before, **yes)) == [Relaunch]


def due_after(ending, policy=None, **ledger):
    fields = {"instance": ending.instance, "endings": (an_ending(number=1),), **ledger}
    case = Case(ending=ending)
    situation = EscalationContext(CHECKS, policy or RecoveryPolicy(), Ledger(**fields), case, NOON)
    return waiting_until([alert("crashed")], situation)


def test_a_relaunch_is_due_only_if_nothing_else_prevents_it():
    ending, no = an_ending(is_advance=False), RelaunchAnswer(False, NOON, "dri")

    assert due_after(ending) == NOON + MINUTE
    assert due_after(ending, RecoveryPolicy(recovery=Recovery.ASK)) is None
    assert due_after(ending, answers={"tiny-2": no}) is None
    assert due_after(ending, stopped=frozenset({"tiny-2"})) is None


@pytest.mark.parametrize(
    ("tries", "due"),
    [
        (FailedAttempts(1, NOON - MINUTE), 14 * MINUTE),  # of a cadence of 15 minutes
        (FailedAttempts(1, NOON - 20 * MINUTE), None),
        (FailedAttempts(1, NOON - MINUTE, interrupted=True), None),
    ],
)
def test_after_an_attempt_that_failed_a_relaunch_is_due_again_later(tries, due):
    yes = {"answers": {"tiny-2": RelaunchAnswer(True, NOON - HOUR, "dri")}}
    tried_attempts = {"failed": {"relaunch/tiny-2": tries}}

    assert due_after(an_ending(), **yes, **tried_attempts) == (due and NOON + due)


def test_the_later_of_two_waits_counts():
    tried_attempts = {
        "failed": {"relaunch/tiny-2": FailedAttempts(1, NOON - 15 * MINUTE + timedelta(seconds=1))}
    }

    assert due_after(an_ending(is_advance=False), **tried_attempts) == NOON + MINUTE


# --- people ---------------------------------------------------------------------------------------


def test_a_yes_lifts_what_was_put_to_a_person_and_no_veto():
    yes = {"answers": {"tiny-2": RelaunchAnswer(True, NOON, "dri", "go")}}
    ask = RecoveryPolicy(recovery=Recovery.ASK, infra=0)

    (action,) = after(an_ending(), policy=ask, **yes)
    assert isinstance(action, Relaunch) and mentions(action.why, "approved", "dri", "go")
    observe = RecoveryPolicy(recovery=Recovery.OBSERVE)
    assert reason_of(after(an_ending(), policy=observe, **yes)) == "recovery"
    vetoed_actions = act(alert("crashed"), alert("spike"), instance="tiny-2", **yes)
    assert not any(isinstance(action, Relaunch) for action in vetoed_actions)


def test_a_yes_before_another_failed_attempt_must_be_reported_again():
    tries = {"failed": {"relaunch/tiny-2": FailedAttempts(3, NOON - HOUR, "503")}}

    early = {"answers": {"tiny-2": RelaunchAnswer(True, NOON - 2 * HOUR, "dri")}}
    late = {"answers": {"tiny-2": RelaunchAnswer(True, NOON - MINUTE, "dri")}}
    assert reason_of(after(an_ending(), **tries, **early)) == "tries"
    assert kinds(after(an_ending(), **tries, **late)) == [Relaunch]


def test_a_no_ends_the_matter():
    no = {"answers": {"tiny-2": RelaunchAnswer(False, NOON, "dri")}}

    assert after(an_ending(Cause.UNKNOWN), **no) == []
    late = act(alert("crashed", since=NOON - 9 * HOUR), instance="tiny-2", **no)
    assert not [a for a in late if a.key.startswith("again/")]


def test_a_pause_holds_every_intervention_until_it_is_over():
    pauses = {"pause": ActionPause(NOON + MINUTE, "dri", NOON)}
    over = {"pause": ActionPause(NOON, "dri", NOON - HOUR)}
    stop = {"policy": RecoveryPolicy(stop_on=("burning",)), "case": Case(live=True)}

    assert after(an_ending(), **pauses) == []
    assert kinds(act(alert("crashed"), **pauses)) == [Tell]
    assert Stop not in kinds(act(alert("burning"), **stop, **pauses))
    assert kinds(after(an_ending(), **over)) == [Relaunch]


def test_what_herorun_stopped_is_left_alone():
    assert after(an_ending(), stopped={"tiny-2": "dri"}) == []


def test_a_running_job_is_stopped_only_under_the_contracts_line_and_never_relaunched():
    live = Case(live=True)

    assert kinds(act(alert("burning"), case=live)) == [Tell, Escalate]
    assert Stop in kinds(act(alert("spike"), policy=RecoveryPolicy(stop_on=("spike",)), case=live))
    assert Stop not in kinds(act(alert("spike"), policy=RecoveryPolicy(stop_on=("spike",))))
    assert Relaunch not in kinds(act(alert("crashed"), case=live))


@pytest.mark.parametrize(
    ("name", "hours", "times", "kind"),
    [
        ("crashed", 3.9, 0, None),
        ("crashed", 4, 1, Escalate),
        ("crashed", 8.1, 2, Escalate),
        ("slow", 23, 0, None),
        ("slow", 24, 1, Tell),
    ],
)
def test_what_nobody_recovers_from_is_reported_again(name, hours, times, kind):
    since = NOON - hours * HOUR
    text = [a for a in act(alert(name, since=since)) if a.key.startswith("again/")]

    assert [(type(a), a.key.rpartition("/")[2]) for a in text] == (
        [(kind, str(times))] if times else []
    )
    acked_keys = frozenset({alert(name, since=since).key})
    assert not [
        a for a in act(alert(name, since=since), acked=acked_keys) if a.key.startswith("again/")
    ]


def test_a_watch_may_end_only_when_every_critical_was_answered():
    crash, slow = alert("crashed"), alert("slow")
    no = Ledger(instance="tiny-1", answers={"tiny-1": RelaunchAnswer(False, NOON, "dri")})

    assert not all_answered([crash], CHECKS, Ledger())
    assert all_answered([crash, slow], CHECKS, Ledger(acked=frozenset({crash.key})))
    assert all_answered([crash, alert("spike", AlertState.RESOLVED)], CHECKS, no)


# --- accelerator-hours ----------------------------------------------------------------------------


def test_beyond_its_hours_a_relaunch_is_a_question():
    spans = (Span("tiny-1", NOON - 5 * HOUR, NOON - 3 * HOUR), Span("tiny-2", NOON - HOUR))

    assert hours_used(spans, 8, NOON) == 24
    assert (
        reason_of(
            after(
                an_ending(),
                policy=RecoveryPolicy(accelerator_hours=24, accelerators=8),
                spans=spans,
            )
        )
        == "hours"
    )
    more = RecoveryPolicy(accelerator_hours=24.1, accelerators=8)
    assert kinds(after(an_ending(), policy=more, spans=spans)) == [Relaunch]
    assert reason_of(after(an_ending(), policy=RecoveryPolicy(accelerator_hours=24))) == "hours"


# --- a bad node -----------------------------------------------------------------------------------

NODE_LIST = """[
  {"name": "projects/p/locations/z/nodes/ray-1", "createTime": "2025-12-31T12:00:00.123456789Z",
   "networkEndpoints": [{"ipAddress": "10.0.0.71"}]},
  {"name": "ray-2", "createTime": "2025-12-31T12:00:00.123456789Z",
   "networkEndpoints": [{"ipAddress": "10.0.0.7", "accessConfig": {"externalIp": "34.1.2.3"}}]}
]"""
BAD = an_ending(worker="10.0.0.7", seen="bad-accelerator")


def test_an_address_leads_to_its_machine_and_to_no_other():
    assert (
        machine_at(NODE_LIST, "10.0.0.7", NOON)
        == machine_at(NODE_LIST, "34.1.2.3", NOON)
        == "ray-2"
    )
    assert machine_at(NODE_LIST, "10.0.0.71", NOON) == "ray-1"
    assert machine_at(NODE_LIST, "10.0.0.8", NOON) is None
    for bad in (
        "",
        "{}",
        '[{"networkEndpoints": [{"ipAddress": "10.0.0.7"}]}]',
        NODE_LIST.replace("71", "7"),
    ):
        with pytest.raises((ValueError, TypeError)):
            machine_at(bad, "10.0.0.7", NOON)


def test_a_machine_that_got_the_address_after_the_end_is_another_one():
    """The cluster has replaced the bad one already: a second deletion would take the new one's
    life.
    """
    made_at = datetime(2025, 12, 31, 12, tzinfo=UTC)
    assert machine_at(NODE_LIST, "10.0.0.7", made_at) is None
    assert machine_at(NODE_LIST, "10.0.0.7", made_at + timedelta(seconds=1)) == "ray-2"
    with pytest.raises(ValueError, match="createTime"):
        machine_at(NODE_LIST.replace("createTime", "time"), "10.0.0.7", NOON)


def test_the_address_is_read_from_the_line_that_blames_the_node():
    job = a_job(JobState.FAILED)
    line = "(worker ip=10.0.0.7) RuntimeError: No accelerator found"

    def worker(excerpt, result="bad-accelerator"):
        return ending_of(
            job, EndContext(triage=Triage(failure_class=result, excerpt=excerpt)), FIRST, 0, NOON
        ).worker

    assert worker(line) == "10.0.0.7"
    assert worker(f"{line} 10.0.0.8") == worker("no address") == worker(line, "node-failure") == ""


def test_a_bad_node_is_printed_and_the_run_relaunched():
    actions = act(alert("crashed"), case=Case(ending=BAD), instance="tiny-2")
    item = next(a for a in actions if a.key == "tell/tiny-2/bad-node")

    assert " ".join(delete_command("NAME", "ZONE")) in item.why and "10.0.0.7" in item.why
    assert DeleteNode not in kinds(actions) and Relaunch in kinds(actions)


def test_under_the_contracts_line_it_is_deleted_before_the_relaunch():
    delete = RecoveryPolicy(delete_bad_node=True, zone="z")

    (action,) = after(BAD, policy=delete)
    assert action == DeleteNode("node/tiny-2", "tiny-2", "why", "10.0.0.7", "z")
    assert kinds(after(BAD, policy=delete, done=frozenset({"node/tiny-2"}))) == [Relaunch]
    assert after(BAD, policy=delete, pause=ActionPause(NOON + HOUR, "dri", NOON)) == []
    budget = {"relaunch_causes": ((NOON, Cause.INFRA),) * 6}
    assert reason_of(after(BAD, policy=delete, **budget)) == "budget"
    gave_up = {"failed": {"node/tiny-2": FailedAttempts(3, NOON - HOUR, "gcloud was not found")}}
    assert kinds(after(BAD, policy=delete, **gave_up)) == [Relaunch]


# --- when to look ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("result", "seconds"),
    [
        ({}, 900),
        ({"age": timedelta(0)}, 120),
        ({"age": timedelta(seconds=90)}, 30),
        ({"age": timedelta(seconds=121)}, 900),
        ({"has_relaunched": True, "age": timedelta(minutes=59)}, 570),
        ({"has_relaunched": True, "age": timedelta(minutes=60)}, 900),
        ({"firing": True}, 570),
        ({"pending": True, "firing": True}, 120),
        ({"wait": timedelta(seconds=45)}, 45),
        ({"wait": timedelta(seconds=0)}, 1),
        ({"cadence": timedelta(seconds=60), "pending": True}, 60),
    ],
)
def test_it_looks_sooner_when_it_matters_and_never_later_than_the_contract_says(result, seconds):
    evidence = {
        "cadence": 15 * MINUTE,
        "age": 5 * HOUR,
        "has_relaunched": False,
        "pending": False,
        "firing": False,
    }

    assert next_tick_delay(**{**evidence, **result}) == timedelta(seconds=seconds)


def test_until_is_a_step_or_a_time():
    assert parse_until("step=5000", NOON) == StopCondition(step=5000)
    assert parse_until("time=2h", NOON) == StopCondition(time=NOON + 2 * HOUR)
    assert StopCondition(step=5).is_reached(5, NOON) and not StopCondition(step=5).is_reached(
        None, NOON
    )
    assert StopCondition(time=NOON).is_reached(None, NOON) and not StopCondition().is_reached(
        10**9, NOON
    )
    for bad in ("", "step", "step=", "step=-1", "step=x", "time=", "time=x", "5000"):
        with pytest.raises(WrongUse):
            parse_until(bad, NOON)


def test_a_moment_has_a_zone_and_lies_ahead():
    assert parse_moment("2026-01-01T13:00:00+01:00", NOON - HOUR) == NOON
    for bad in ("2026-01-01T12:00:00Z", "2027-01-01T12:00:00", "noon", "-1h"):
        with pytest.raises(WrongUse):
            parse_moment(bad, NOON)


@pytest.mark.parametrize("parse", [parse_moment, parse_since])
@pytest.mark.parametrize(
    "time", ["9999-12-31T23:59:59Z", "9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00"]
)
def test_a_time_that_no_record_holds_is_refused(parse: Any, time: str) -> None:
    with pytest.raises(WrongUse):
        parse(time, NOON)


def test_a_duration_that_no_record_holds_is_refused() -> None:
    with pytest.raises(WrongUse):
        parse_moment("2600000d", NOON)
