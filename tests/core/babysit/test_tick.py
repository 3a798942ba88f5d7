"""One turn of the babysitter, told as stories with the real health checks."""

import os
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from builders import (
    MINUTE,
    NOON,
    a_contract,
    a_crashed_job,
    a_job,
    a_receipt,
    an_excursion,
    healthy,
    some_metrics,
)
from core.story import Story, actions, canonical_ticks, firing
from herorun.core.babysit.alert import Alert, AlertState
from herorun.core.babysit.tick import (
    MonitorHealth,
    Rules,
    RunHealth,
    case_of,
    monitor_health,
    overdue,
    run_health,
    tick,
)
from herorun.core.check import Gate
from herorun.core.contract import Contract, Recovery
from herorun.core.evidence import (
    Checkpoints,
    Gaps,
    Job,
    JobState,
    Metrics,
    Nothing,
    Receipt,
    Resume,
    Unavailable,
    Unfinished,
)
from herorun.core.finding import Finding, Outcome, Waiver, failed
from herorun.core.health.training_proof import AwaitedEvidence, Training, TrainingProof
from herorun.core.journal.decision import build_decision
from herorun.core.recovery.policy import Ledger, RecoveryPolicy
from herorun.discover import checks
from wording import mentions

QUIET: dict = {}
DOWN = {Job: a_crashed_job()}
DARK = {
    Job: Unavailable("squeue: time-out"),
    Metrics: Unavailable("503"),
    Gaps: Gaps(("Job: squeue: time-out", "Metrics: 503"), 9),
}
NO_RECEIPT = {Receipt: Nothing()}


def reporting(at=NOON + timedelta(days=1), **changes):
    """Rows so fresh that they are every instance's own."""
    return {Metrics: some_metrics(advanced_at=at, **changes)}


SPIKE = reporting(spikes=(an_excursion(12, first=412),))
NAN = reporting(non_finite=(an_excursion(1, metric="train/loss"),))


def test_a_healthy_run_is_left_alone():
    assert actions([QUIET] * 4) == [[], [], [], []]


def test_a_crash_is_relaunched_at_once_and_once():
    assert actions([DOWN, QUIET, QUIET]) == [["Tell", "Relaunch"], [], []]


def test_a_crash_loop_spends_the_budget_then_asks_once():
    two = RecoveryPolicy(relaunches=2)

    assert actions([DOWN] * 5, policy=two) == [
        ["Tell", "Relaunch"],
        ["Tell", "Relaunch"],
        ["Tell", "Escalate"],
        [],
        [],
    ]


def test_a_relaunch_that_failed_is_tried_again_and_not_told_again():
    assert actions([DOWN] * 3 + [QUIET], fails=[0, 1]) == [
        ["Tell", "Relaunch"],
        ["Relaunch"],
        [],
        ["Tell"],
    ]
    assert actions([DOWN] * 4, fails=[0, 1])[3] == ["Relaunch"]  # the second wait is two cadences


def test_a_relaunch_that_fails_thrice_asks_a_person():
    action_steps = actions([DOWN] * 8, fails=range(8))

    assert [step for step in action_steps if step] == [
        ["Tell", "Relaunch"],
        ["Relaunch"],
        ["Relaunch"],
        ["Escalate"],
    ]


def test_an_escalation_is_not_repeated():
    assert actions([SPIKE] * 4) == [["Tell", "Escalate"], [], [], []]


def test_a_spike_that_ended_is_reported_as_over():
    ended_spike = reporting(spikes=(an_excursion(12, first=412, is_open=False),))

    assert actions([SPIKE, ended_spike, QUIET, QUIET]) == [["Tell", "Escalate"], [], ["Tell"], []]


@pytest.mark.parametrize("trouble", [SPIKE, NAN])
def test_numeric_trouble_is_not_relaunched_as_infrastructure(trouble):
    (first,) = actions([trouble | DOWN])

    assert "Relaunch" not in first and first.count("Escalate") == 2


def test_a_job_stopped_by_hand_stays_stopped():
    stopped_evidence = {Job: a_job(JobState.CANCELLED, stopped_by="ada@here")}

    assert actions([stopped_evidence] * 3) == [["Tell", "Escalate"], [], []]


def test_a_refused_job_stays_refused():
    refused_evidence = {
        Job: a_job(JobState.FAILED, exit_code=78),
        Receipt: a_receipt(outcome="fail"),
    }

    assert actions([refused_evidence] * 2) == [["Tell", "Escalate"], []]


def test_a_contract_that_says_ask_is_asked():
    assert actions([DOWN], policy=RecoveryPolicy(recovery=Recovery.ASK)) == [["Tell", "Escalate"]]


@pytest.mark.parametrize(
    ("first", "fires"), [(400, ["loss-spike"]), (412, []), (424, ["loss-spike"])]
)
def test_not_finite_mutes_the_spike_there(first, fires):
    no_number = an_excursion(12, first=412, metric="train/loss")
    (turn,) = Story().ticks(
        [reporting(spikes=(an_excursion(12, first=first),), non_finite=(no_number,))]
    )

    assert firing(turn) == [*fires, "not-finite"]


def test_an_ended_job_does_not_also_stall():
    old = {Metrics: some_metrics(advanced_at=NOON - timedelta(minutes=50))}
    stalled_tick, down = Story().ticks([old, old | DOWN], every=MINUTE)

    assert firing(stalled_tick) == ["stalled-steps"]
    assert firing(down) == ["crashed"]


def test_blindness_neither_starts_nor_ends_an_alert():
    turns = list(Story().ticks([SPIKE, DARK, SPIKE]))

    assert [firing(turn) for turn in turns] == [["loss-spike"]] * 3
    assert actions([SPIKE, DARK, SPIKE]) == [["Tell", "Escalate"], [], []]


def test_nothing_is_done_to_a_run_that_cannot_be_seen():
    """The crash was seen and its relaunch failed; then the scheduler is silent."""
    assert actions([DOWN, DARK], fails=[0]) == [["Tell", "Relaunch"], []]


def test_half_an_hour_of_blindness_asks_a_person_once():
    assert actions([DARK] * 5, every=10 * MINUTE) == [[], [], [], ["Tell", "Escalate"], []]


def test_a_single_gap_is_no_alarm():
    assert actions([DARK, QUIET, DARK, QUIET, DARK]) == [[]] * 5


def test_a_missing_receipt_is_told_at_the_second_tick():
    assert actions([NO_RECEIPT] * 3) == [[], ["Tell"], []]


def test_an_action_in_doubt_holds_the_relaunch_back():
    doubt = {Unfinished: Unfinished(("relaunch/tiny-0: x",), NOON)}
    first, second, third = actions([doubt, doubt, doubt | DOWN])

    assert (first, second) == ([], ["Tell", "Escalate"])
    assert "Relaunch" not in third


def test_a_waiver_signs_and_expires():
    end = NOON + 20 * MINUTE
    waiver = Waiver("loss-spike", "expected at the data switch", "@dri", end)

    assert actions([SPIKE] * 3, waivers=[waiver]) == [[], [], ["Tell", "Escalate"]]


def test_a_new_instance_begins_without_alerts():
    story = Story()
    list(story.ticks([DOWN]))

    assert story.memory.alerts == {}
    assert story.memory.history.current.name == "tiny-2"


def test_a_broken_check_reads_unknown():
    (turn,) = Story().ticks([{Gaps: None}])
    (blind,) = [f for f in turn.findings if f.check == "monitor-blind"]

    assert blind.verdict.outcome is Outcome.UNKNOWN


# --- purity ---------------------------------------------------------------------------------------

REFUSED_EVIDENCE = {
    Receipt: a_receipt(outcome="fail", items=(("argv", "fail", "runs b, but a was admitted"),))
}
DOUBT = {Unfinished: Unfinished(("relaunch/tiny-0: x", "submit/tiny-9: y"), NOON)}
MIXED_EVIDENCE = [
    QUIET,
    SPIKE | NO_RECEIPT | DOUBT,
    DARK | DOUBT,
    NAN | DOWN | DOUBT | REFUSED_EVIDENCE,
    DOWN,
    QUIET,
]


def test_a_tick_is_a_function_of_its_inputs():
    assert canonical_ticks(MIXED_EVIDENCE) == canonical_ticks(MIXED_EVIDENCE)


def test_the_order_of_the_checks_does_not_matter():
    turns = []
    for order in (1, -1):
        rules = Rules(checks(Gate.HEALTH)[::order], RecoveryPolicy())
        turns.append(
            tick({}, Ledger(instance="tiny-1"), healthy(Gate.HEALTH) | SPIKE | DOWN, rules, NOON)
        )

    assert turns[0] == turns[1]


def test_two_hash_seeds_give_the_same_bytes():
    tests = Path(__file__).parents[2]
    code = (
        "from core.babysit.test_tick import MIXED_EVIDENCE; "
        "from core.story import canonical_ticks; print(canonical_ticks(MIXED_EVIDENCE))"
    )
    outputs = set()
    for seed in ("0", "1"):
        env = {
            **os.environ,
            "PYTHONHASHSEED": seed,
            "PYTHONPATH": f"{tests}:{tests.parent / 'src'}",
        }
        process = subprocess.run(
            [sys.executable, "-c", code], env=env, capture_output=True, timeout=60, check=True
        )
        outputs.add(process.stdout)

    assert len(outputs) == 1
    assert outputs.pop().count(b"\n") == len(MIXED_EVIDENCE)


# --- health ---------------------------------------------------------------------------------------

HEALTH = {
    JobState.PENDING: RunHealth.STARTING,
    JobState.BUILDING: RunHealth.STARTING,
    JobState.RUNNING: RunHealth.HEALTHY,
    JobState.SUCCEEDED: RunHealth.FINISHED,
    JobState.UNKNOWN: RunHealth.UNKNOWN,
    JobState.GONE: RunHealth.UNKNOWN,
}


@pytest.mark.parametrize("state", JobState)
def test_the_jobs_end_decides_the_runs_health(state):
    assert run_health({Job: a_job(state)}, Training(TrainingProof.COMPLETE), [], {}) is HEALTH.get(
        state, RunHealth.DOWN
    )


@pytest.mark.parametrize("job", [Unavailable("time-out"), Nothing()])
def test_a_job_that_was_not_seen_is_unknown(job):
    assert run_health({Job: job}, Training(TrainingProof.COMPLETE), [], {}) is RunHealth.UNKNOWN


def test_a_firing_alert_degrades_the_run():
    (turn,) = Story().ticks([SPIKE])

    assert (turn.run, turn.monitor) == (RunHealth.DEGRADED, MonitorHealth.FRESH)


def test_a_stale_monitor_is_not_an_ill_run():
    partial = {Gaps: Gaps(("Receipt: 403",), 9), Receipt: Unavailable("403")}
    *_, last = Story().ticks([partial] * 4)

    assert firing(last) == ["monitor-blind"]
    assert (last.run, last.monitor) == (RunHealth.UNKNOWN, MonitorHealth.PARTIAL)


@pytest.mark.parametrize(
    ("gaps", "health"),
    [
        ((), MonitorHealth.FRESH),
        (("Receipt: 403",), MonitorHealth.PARTIAL),
        (("Job: x",), MonitorHealth.PARTIAL),
        (("Job: x", "Metrics: y"), MonitorHealth.STALE),
    ],
)
def test_the_monitors_health_is_distinguished(gaps, health):
    assert monitor_health({Gaps: Gaps(gaps)}) is health


def test_an_alert_of_a_check_that_is_gone_ends_unresolved():
    """A later version has renamed or dropped the check, or its package was uninstalled."""
    old_alert = Alert(
        check="phase-of-the-moon",
        subject="",
        since=NOON,
        seen=NOON,
        state=AlertState.FIRING,
        message="full",
    )
    rules = Rules(checks(Gate.HEALTH), RecoveryPolicy())
    names = frozenset({"tell/tiny-1/first-step", "tell/tiny-1/first-checkpoint"})
    observations = tick(
        {old_alert.id: old_alert},
        Ledger(done=names, instance="tiny-1"),
        healthy(Gate.HEALTH),
        rules,
        NOON,
    )

    assert (observations.alerts, observations.run) == ({}, RunHealth.HEALTHY)
    assert [alert.state for alert in observations.ended] == [AlertState.ENDED]
    assert [action.key for action in observations.actions] == [f"tell/{old_alert.key}/ended"]


def test_the_cause_is_reported_with_the_symptom_and_never_muted_by_it():
    """NaN right behind a resume with 16 times the learning rate."""
    resume = Resume(step=121, high_water=120, rate_before=1e-4, rate_after=16e-4)
    nan = reporting(non_finite=(an_excursion(1, metric="train/loss"),), resume=resume)
    (turn,) = Story().ticks([nan])

    assert {"not-finite", "learning-rate-jump"} <= set(firing(turn))
    (symptom,) = [alert.message for alert in turn.alerts.values() if alert.check == "not-finite"]
    assert mentions(symptom, "learning-rate-jump", "0.0001", "0.0016", "resume", "121")


@pytest.mark.parametrize(("every", "entry"), [(timedelta(), True), (timedelta(hours=1), False)])
def test_each_quiet_tick_has_an_entry_or_one_an_hour_sums_them_up(every, entry):
    story = Story(RecoveryPolicy(quiet_every=every))
    (quiet,) = story.ticks([{}])
    memory = replace(story.memory, last_summary=NOON - 15 * MINUTE)

    assert quiet.actions == [] and quiet.alerts == {}
    assert bool(build_decision(quiet, healthy(Gate.HEALTH), memory, []).summary) is entry


def test_a_store_that_was_read_before_the_rows_is_looked_at_twice():
    """A job of three seconds: its rows are read when its checkpoints were not there yet."""
    behind = {
        Contract: a_contract(checkpoints={"permanent_every": 10, "temporary_every": None}),
        Checkpoints: Checkpoints(),
    }
    first, second = Story().ticks([behind, behind])
    names = ("late-checkpoints", "stalled-checkpoints")

    assert [first.alerts[name, "tiny-1"].state for name in names] == [AlertState.PENDING] * 2
    assert [second.alerts[name, "tiny-1"].state for name in names] == [AlertState.FIRING] * 2


def test_what_was_seen_of_an_end_while_the_checkpoints_could_be_read_still_holds():
    """Whether it saved anything decides whether the same crash counts as the same."""
    evidence = {**healthy(Gate.HEALTH), Job: a_crashed_job(), Checkpoints: Unavailable("503")}
    blind = case_of(evidence, Ledger(), NOON).ending
    assert blind is not None and blind.advanced is None
    others = replace(blind, instance="tiny-0", advanced=False)

    for advanced_fields in (True, False):
        ledger = Ledger(endings=(others, replace(blind, advanced=advanced_fields)))
        assert case_of(evidence, ledger, NOON).ending == replace(blind, advanced=advanced_fields)
    assert case_of(evidence, Ledger(endings=(others,)), NOON).ending == blind


def test_an_overdue_checkpoint_is_awaited_once_however_many_checks_ask_for_it():
    late = [
        Finding(name, failed(f"{name} says so", subject="tiny-1"))
        for name in ("nothing-saved", "late-checkpoints", "stalled-steps")
    ]
    evidence = healthy(Gate.HEALTH)

    assert overdue(evidence, late) == (AwaitedEvidence("checkpoint", "nothing-saved says so"),)
    assert overdue(evidence | {Job: a_crashed_job()}, late) == ()
    assert overdue(evidence, late[2:]) == ()
