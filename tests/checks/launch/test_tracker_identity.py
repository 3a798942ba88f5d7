import pytest

from builders import (
    NOON,
    PARENT,
    a_checkpoint,
    a_contract,
    a_history,
    a_job,
    a_plan,
    answer,
    answers,
)
from herorun.checks.launch.tracker_identity import tracker_identity
from herorun.core.canonical_json import plain
from herorun.core.check import AtRelaunch
from herorun.core.evidence import (
    Job,
    JobState,
    PriorLaunch,
    StartSiblings,
    TrackerIdentity,
    TrackerState,
    Unavailable,
)
from herorun.core.finding import Outcome
from wording import mentions

TRACKER = {"kind": "wandb", "path": None, "entity": "ent", "project": "proj"}
FORK = {"id": "child", "fork_from": "parent?_step=99"}
HANDOFF = {"start": {"from": f"{PARENT}/step-100"}}


def a_tracked(tracker=None, **changes):
    return a_contract(tracker={**TRACKER, **(tracker or {})}, **changes)


def a_first(contract, *changes):
    beside = [a_checkpoint(100, root=PARENT)]
    return [contract, a_plan(contract, beside=beside), StartSiblings(tuple(beside)), *changes]


def a_relaunch(contract, *changes):
    """The second launch, from the run's own step 100; the first reported as the contract says."""
    history = a_history()
    prior = PriorLaunch("tiny-1", {"tracker": plain(a_plan(contract).tracker.value)})
    plan = a_plan(contract, own=[a_checkpoint(100)], history=history)
    return [contract, plan, history, prior, a_job(JobState.FAILED, ended=NOON), *changes]


def an_identity(state, **changes):
    return TrackerIdentity(state=TrackerState(state), **changes)


def test_a_tracker_without_identities_is_asked_nothing():
    assert answer(tracker_identity).outcome is Outcome.NOT_APPLICABLE


def test_a_first_launch_under_a_free_id_passes():
    assert (
        answer(tracker_identity, *a_first(a_tracked()), an_identity("absent")).outcome
        is Outcome.PASS
    )


def test_a_first_launch_under_a_taken_id_fails_and_names_it():
    verdict = answer(tracker_identity, *a_first(a_tracked()), an_identity("finished"))

    assert (verdict.outcome, verdict.subject) == (Outcome.FAIL, "tiny")
    assert mentions(verdict.message, "tiny", "finished")


def test_no_answer_is_unknown_with_its_reason():
    verdict = answer(
        tracker_identity, *a_first(a_tracked()), an_identity("unreachable", why="no API key")
    )

    assert verdict.outcome is Outcome.UNKNOWN
    assert mentions(verdict.message, "API")


def test_a_relaunch_continues_in_its_own_run():
    assert (
        answer(tracker_identity, *a_relaunch(a_tracked()), an_identity("crashed")).outcome
        is Outcome.PASS
    )


def test_a_relaunch_whose_run_is_gone_fails():
    verdict = answer(tracker_identity, *a_relaunch(a_tracked()), an_identity("absent"))

    assert verdict.outcome is Outcome.FAIL
    assert mentions(verdict.message, "silently", "create")


def test_a_first_instance_that_died_before_its_first_row_holds_nothing_up():
    contract = a_tracked()
    prior = PriorLaunch("tiny-1", {"tracker": plain(a_plan(contract).tracker.value)})

    verdict = answer(
        tracker_identity, *a_first(contract), prior, a_history(), an_identity("absent")
    )

    assert verdict.outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("beat", "outcome"), [("11:59:30", Outcome.PASS), ("12:05:00", Outcome.FAIL)]
)
def test_a_run_that_w_and_b_still_calls_running_is_judged_by_its_last_beat(beat, outcome):
    identity = an_identity("running", heartbeat=f"2026-01-01T{beat}Z")

    assert answer(tracker_identity, *a_relaunch(a_tracked()), identity).outcome is outcome


def test_a_job_out_of_sight_does_not_explain_a_running_run():
    identity = an_identity("running", heartbeat="2026-01-01T11:00:00Z")

    verdict = answer(
        tracker_identity, *a_relaunch(a_tracked()), identity, {Job: Unavailable("down")}
    )

    assert verdict.outcome is Outcome.FAIL


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({}, Outcome.PASS),
        ({"hardware": {"count": 8}}, Outcome.PASS),
        ({"hardware": {"count": 16}}, Outcome.FAIL),
        ({"hero": True}, Outcome.FAIL),
    ],
)
def test_auto_is_refused_for_a_hero_run_and_over_several_hosts(changes, outcome):
    contract = a_tracked({"resume": "auto"}, **changes)

    assert answer(tracker_identity, *a_first(contract), an_identity("absent")).outcome is outcome


def test_a_rewind_is_refused_in_one_sentence():
    contract = a_tracked({"resume_from": "tiny?_step=50"})

    verdict = answer(tracker_identity, *a_relaunch(contract), an_identity("crashed"))

    assert (verdict.outcome, verdict.subject) == (Outcome.FAIL, "tiny?_step=50")
    assert "is refused" in verdict.message


def test_a_fork_passes_with_its_parent_and_step():
    contract = a_tracked(FORK, **HANDOFF)
    identity = an_identity("absent", parent=TrackerState.FINISHED, parent_last_step=500)

    verdicts = answers(tracker_identity, *a_first(contract), identity)

    assert [verdict.outcome for verdict in verdicts] == [Outcome.PASS] * 3


def test_a_fork_at_the_checkpoints_own_step_fails():
    contract = a_tracked({**FORK, "fork_from": "parent?_step=100"}, **HANDOFF)
    identity = an_identity("absent", parent=TrackerState.FINISHED, parent_last_step=500)

    (verdict,) = [
        v
        for v in answers(tracker_identity, *a_first(contract), identity)
        if v.outcome is Outcome.FAIL
    ]

    assert (verdict.outcome, verdict.subject) == (Outcome.FAIL, "parent?_step=100")


def test_a_later_launch_of_a_fork_only_resumes():
    contract = a_tracked(FORK, **HANDOFF)

    (verdict,) = answers(tracker_identity, *a_relaunch(contract), an_identity("crashed"))

    assert verdict.outcome is Outcome.PASS
    assert mentions(verdict.message, "fork_from")


def test_without_the_record_nobody_knows_the_intent():
    verdict = answer(
        tracker_identity,
        *a_first(a_tracked()),
        an_identity("absent"),
        {PriorLaunch: Unavailable("git is gone")},
    )

    assert verdict.outcome is Outcome.UNKNOWN


def test_a_relaunch_is_stopped_by_a_failure_and_not_by_silence():
    assert tracker_identity.at_relaunch is AtRelaunch.WARN
