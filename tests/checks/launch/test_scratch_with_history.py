from builders import PARENT, ROOT, a_checkpoint, a_contract, a_history, a_plan, answer, some_metrics
from herorun.checks.launch.scratch_with_history import scratch_with_history
from herorun.core.check import AtRelaunch
from herorun.core.evidence import Checkpoints, LeftCheckpoints, Metrics, Nothing, Unavailable
from herorun.core.finding import Outcome
from wording import mentions

NO_METRICS = {Metrics: Nothing("no metrics file yet")}


def ask(*own, history=None, metrics=NO_METRICS):
    """From scratch, after one launch."""
    return answer(scratch_with_history, a_plan(), history or a_history(), Checkpoints(own), metrics)


def test_a_first_launch_may():
    assert ask(a_checkpoint(100), history=a_history(0)).outcome is Outcome.NOT_APPLICABLE


def test_a_complete_checkpoint_of_its_own_fails():
    verdict = ask(a_checkpoint(100))

    assert verdict.outcome is Outcome.FAIL
    assert (verdict.subject, verdict.details) == ("tiny-1", (f"{ROOT}/step-100 (complete)",))
    assert verdict.message.endswith(f"{ROOT}/step-100")


def test_they_are_listed_newest_first_with_their_states_and_only_a_complete_one_is_named():
    verdict = ask(a_checkpoint(40), a_checkpoint(100, problem="no metadata.json"), a_checkpoint(60))

    places = [f"{ROOT}/step-{step}" for step in (100, 60, 40)]
    states = ("incomplete", "complete", "complete")
    assert verdict.details == tuple(
        f"{place} ({state})" for place, state in zip(places, states, strict=True)
    )
    assert verdict.message.endswith(places[1])


def test_so_does_an_incomplete_one():
    assert ask(a_checkpoint(100, problem="no metadata.json")).outcome is Outcome.FAIL


def test_so_do_metrics():
    verdict = ask(metrics=some_metrics(41))

    assert verdict.outcome is Outcome.FAIL and "step 41" in verdict.message


def test_an_instance_that_left_no_step_behind_may_be_repeated():
    verdict = ask()

    assert verdict.outcome is Outcome.PASS and mentions(verdict.message, "step", "behind")


def test_a_complete_checkpoint_in_a_recorded_root_that_was_left_fails_too():
    checkpoint = a_checkpoint(100, root="/data/first")
    verdict = answer(
        scratch_with_history,
        a_plan(),
        a_history(),
        Checkpoints(),
        LeftCheckpoints((checkpoint,)),
        NO_METRICS,
    )

    assert verdict.outcome is Outcome.FAIL and verdict.details == (f"{checkpoint.path} (complete)",)


def test_a_recorded_root_out_of_reach_is_unknown():
    evidence = {LeftCheckpoints: Unavailable("403")}

    assert (
        answer(
            scratch_with_history, a_plan(), a_history(), Checkpoints(), evidence, NO_METRICS
        ).outcome
        is Outcome.UNKNOWN
    )


def test_metrics_out_of_reach_are_unknown():
    assert ask(metrics={Metrics: Unavailable("403")}).outcome is Outcome.UNKNOWN


def test_a_run_that_starts_from_a_checkpoint_is_not_asked():
    plan = a_plan(a_contract(start={"from": f"{PARENT}/step-1"}))

    assert answer(scratch_with_history, plan, a_history()).outcome is Outcome.NOT_APPLICABLE


def test_it_is_asked_at_a_relaunch_too():
    assert scratch_with_history.at_relaunch is AtRelaunch.BLOCK
