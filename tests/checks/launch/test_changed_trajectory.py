import pytest

from builders import COMMIT, a_checkpoint, a_contract, answer, some_metrics
from herorun.checks.launch.changed_trajectory import changed_trajectory
from herorun.core.evidence import (
    Checkpoints,
    CodeChange,
    ImportClosure,
    LeftCheckpoints,
    Metrics,
    Nothing,
    Unavailable,
)
from herorun.core.finding import Outcome
from wording import mentions


def a_change(*files, tracker_id="tiny"):
    return CodeChange("tiny-1", "12" * 20, COMMIT, files, tracker_id)


def test_a_first_launch_has_nothing_to_compare_with():
    assert answer(changed_trajectory).outcome is Outcome.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("files", "facts"),
    [
        ((), ("no change", "tiny-1 (121212121)")),
        (("README.md",), ("no change", "tiny-1 (121212121)")),
        (("README.md", "tests/a.py"), ("operational", "tiny-1 (121212121)", "tests/a.py")),
    ],
)
def test_what_cannot_change_the_trajectory_passes(files, facts):
    verdict = answer(changed_trajectory, a_change(*files))

    assert verdict.outcome is Outcome.PASS
    assert mentions(verdict.message, *facts)


def test_a_change_of_trajectory_under_the_same_tracker_id_fails():
    verdict = answer(changed_trajectory, a_change("README.md", "model.py"))

    assert verdict.outcome is Outcome.FAIL
    assert mentions(verdict.message, "tiny-1 (121212121)", "model.py", "tiny")
    assert verdict.details == ("model.py",)
    assert verdict.subject == "tiny-1"


def test_under_a_new_tracker_id_it_passes():
    verdict = answer(changed_trajectory, a_change("model.py"), a_contract(tracker={"id": "tiny-b"}))

    assert verdict.outcome is Outcome.PASS
    assert mentions(verdict.message, "tracker", "tiny-b")


def test_without_an_id_the_slug_is_the_id():
    unnamed_contract = a_contract(tracker={"id": None})

    assert (
        answer(changed_trajectory, a_change("model.py"), unnamed_contract).outcome is Outcome.FAIL
    )


def test_an_instance_whose_tracker_id_is_not_known_counts_as_the_same():
    assert answer(changed_trajectory, a_change("model.py", tracker_id="")).outcome is Outcome.FAIL


def test_a_test_that_the_entry_point_imports_changes_the_trajectory():
    closure = ImportClosure(frozenset({"train.py", "tests/a.py"}), "train.py")

    assert answer(changed_trajectory, a_change("tests/a.py"), closure).outcome is Outcome.FAIL


def test_rules_can_say_that_a_file_is_operational():
    rules = a_contract(code={"impact": {"callbacks/": "notice"}})

    assert answer(changed_trajectory, a_change("callbacks/eval.py"), rules).outcome is Outcome.PASS


def test_a_commit_that_is_not_here_is_unknown():
    assert (
        answer(changed_trajectory, {CodeChange: Unavailable("fetch it")}).outcome is Outcome.UNKNOWN
    )


def test_the_config_files_are_left_to_config_drift():
    contract = a_contract(
        config={"files": ["config.toml", "../more.toml"]}, command={"cwd": "jobs"}
    )

    assert (
        answer(changed_trajectory, a_change("jobs/config.toml", "more.toml"), contract).outcome
        is Outcome.PASS
    )
    assert answer(changed_trajectory, a_change("config.toml"), contract).outcome is Outcome.FAIL


NO_STEP = {Metrics: Nothing("no file"), Checkpoints: Checkpoints(), LeftCheckpoints: Nothing("")}


def test_a_run_that_left_no_step_behind_has_no_trajectory_yet():
    verdict = answer(changed_trajectory, a_change("model.py"), NO_STEP)

    assert verdict.outcome is Outcome.PASS and verdict.details == ("model.py",)


@pytest.mark.parametrize(
    "trace",
    [
        {Metrics: some_metrics(3)},
        {Metrics: Unavailable("403")},
        {Checkpoints: Checkpoints((a_checkpoint(1, problem="no metadata.json"),))},
        {Checkpoints: Unavailable("403")},
        {LeftCheckpoints: LeftCheckpoints((a_checkpoint(1),))},
        {LeftCheckpoints: Unavailable("403")},
    ],
)
def test_a_trace_of_a_step_or_one_out_of_reach_blocks(trace):
    verdict = answer(changed_trajectory, a_change("model.py"), {**NO_STEP, **trace})

    assert verdict.outcome is Outcome.FAIL
