import pytest

from builders import PARENT, a_checkpoint, a_contract, a_history, a_plan, answer, answers
from herorun.checks.launch.config_drift import MAX_VERDICTS, config_drift
from herorun.core.check import AtRelaunch
from herorun.core.evidence import Checkpoints, LeftCheckpoints, Metrics, Nothing, PriorLaunch
from herorun.core.finding import Outcome
from herorun.core.redaction.scrub import scrub_tree
from wording import mentions

BEFORE = {"trainer": {"seed": 7, "log_interval": 10, "model_axis_size": 8}, "q": 1, "run_id": "a"}
COMMAND_TABLE = {
    "argv": ["python", "train.py", "--lr", "3"],
    "env": {"LR": "3", "NCCL_DEBUG": "INFO"},
}


OWN = (a_checkpoint(100),)


def prior(config=None, **changes):
    """As the record gives it: scrubbed, and plain."""
    plan = a_plan(a_contract(command=COMMAND_TABLE, **changes), config=config or BEFORE)
    return PriorLaunch("tiny-1", scrub_tree(plan.values))


def ask(config=None, before=None, contract=None, own=OWN, **changes):
    """The answers about a relaunch from the run's own checkpoint."""
    now = contract or a_contract(**{"command": COMMAND_TABLE, **changes})
    plan = a_plan(now, own=own, history=a_history(), config=config or BEFORE)
    return answers(config_drift, before or prior(), plan, now)


def change_trainer(**trainer):
    return {**BEFORE, "trainer": {**BEFORE["trainer"], **trainer}}


def failures(verdicts):
    return {v.subject: v.message for v in verdicts if v.outcome is Outcome.FAIL}


def test_a_first_launch_has_nothing_to_differ_from():
    assert answer(config_drift, {PriorLaunch: Nothing("first")}).outcome is Outcome.NOT_APPLICABLE


def test_the_same_again_passes(notice):
    (verdict,) = ask()

    assert (verdict.outcome, verdict.details) == (Outcome.PASS, ())
    assert verdict.message == notice


@pytest.mark.parametrize(
    ("config", "subject", "message"),
    [
        (change_trainer(seed=8), "trainer.seed", "trainer.seed: 7 -> 8 (trajectory)"),
        ({**BEFORE, "q": 2}, "q", "q: 1 -> 2 (unclassified)"),
        ({**BEFORE, "lr": 3}, "lr", "lr: absent -> 3 (trajectory)"),
        (
            change_trainer(model_axis_size=4),
            "trainer.model_axis_size",
            "trainer.model_axis_size: 8 -> 4 (resume-breaking)",
        ),
    ],
)
def test_what_changes_the_training_blocks_by_its_key(config, subject, message):
    assert failures(ask(config)) == {subject: message}


@pytest.mark.parametrize(
    ("command", "subject"),
    [
        ({"argv": ["python", "train.py", "--lr", "4"]}, "argv.lr"),
        ({"env": {"LR": "4", "NCCL_DEBUG": "INFO"}}, "env.LR"),
        (
            {"resume_argv": ["python", "train.py", "--lr", "4", "--from", "{start}"]},
            "resume_argv.lr",
        ),
    ],
)
def test_the_command_line_and_the_environment_are_compared_too(command, subject):
    assert list(failures(ask(command={**COMMAND_TABLE, **command}))) == [subject]


def test_another_manifest_of_the_data_is_another_trajectory():
    before = prior(data={"manifests": {"mix.json": "generation:1"}})

    assert list(failures(ask(before=before, data={"manifests": {"mix.json": "generation:2"}}))) == [
        "data.mix.json"
    ]


def test_what_does_not_change_the_training_is_reported_and_passes():
    config = {**change_trainer(log_interval=20), "run_id": "b"}
    env = {"LR": "3", "NCCL_DEBUG": "WARN"}
    (verdict,) = ask(config, command={**COMMAND_TABLE, "env": env})

    assert verdict.outcome is Outcome.PASS and "tiny-1" in verdict.message
    assert all(line in verdict.message for line in verdict.details[:3])
    assert verdict.details == (
        "run_id: 'a' -> 'b' (volatile)",
        "trainer.log_interval: 10 -> 20 (cosmetic)",
        "env.NCCL_DEBUG: 'INFO' -> 'WARN' (operational)",
    )


def test_what_passes_is_reported_next_to_what_blocks():
    *_, rest = ask(change_trainer(seed=8, log_interval=20))

    assert rest.outcome is Outcome.PASS and rest.details == (
        "trainer.log_interval: 10 -> 20 (cosmetic)",
    )


def test_under_a_new_tracker_id_it_is_another_run_and_may_train_otherwise():
    (verdict,) = ask(change_trainer(seed=8), tracker={"id": "tiny-b"})

    assert verdict.outcome is Outcome.PASS and verdict.details == (
        "trainer.seed: 7 -> 8 (trajectory)",
    )


def test_a_state_that_does_not_fit_blocks_under_any_id():
    assert list(failures(ask(change_trainer(model_axis_size=4), tracker={"id": "tiny-b"}))) == [
        "trainer.model_axis_size"
    ]


def test_weights_alone_fit_a_new_run_on_another_mesh():
    new = a_contract(
        command=COMMAND_TABLE,
        tracker={"id": "tiny-b"},
        start={"from": f"{PARENT}/step-100", "kind": "weights-only"},
    )

    assert failures(ask(change_trainer(model_axis_size=4), contract=new, own=())) == {}


def test_the_contract_may_class_a_key_otherwise():
    fields = {"classes": {"trainer.seed": "operational"}}
    contract = a_contract(command=COMMAND_TABLE, config=fields)
    assert failures(ask(change_trainer(seed=8), contract=contract)) == {}


def test_a_secret_that_the_record_masked_is_no_change():
    config = {**BEFORE, "hub_token": "abcdefgh12345678", "url": "https://me:hunter2@example.org/x"}

    assert failures(ask(config, before=prior(config))) == {}


def test_beyond_fifty_keys_one_answer_sums_up():
    config = {**BEFORE, **{f"k{n}": n for n in range(MAX_VERDICTS + 7)}}
    messages = failures(ask(config))

    assert len(messages) == MAX_VERDICTS + 1 and mentions(
        messages["further keys"], "7 other", "differ", "k54", "->", "54"
    )


def test_a_relaunch_is_asked_as_strictly():
    assert config_drift.at_relaunch is AtRelaunch.BLOCK


def test_a_mesh_that_changes_under_the_same_id_blocks_from_any_start():
    assert list(failures(ask(change_trainer(model_axis_size=4), own=()))) == [
        "trainer.model_axis_size"
    ]


def test_a_run_that_left_no_step_behind_may_change_but_not_what_it_loads():
    no_step = {
        Metrics: Nothing("no file"),
        Checkpoints: Checkpoints(),
        LeftCheckpoints: Nothing(""),
    }
    changes = {**change_trainer(seed=8, model_axis_size=4), "q": 2}
    new = a_plan(a_contract(command=COMMAND_TABLE), own=(), history=a_history(), config=changes)
    assert not failures(
        answers(config_drift, prior(), new, a_contract(command=COMMAND_TABLE), no_step)
    )

    loads = a_contract(command=COMMAND_TABLE, start={"from": PARENT, "kind": "full-state"})
    new = a_plan(loads, own=(), history=a_history(), config=changes)
    failures_found = failures(answers(config_drift, prior(), new, loads, no_step))
    assert set(failures_found) == {"trainer.model_axis_size"}
