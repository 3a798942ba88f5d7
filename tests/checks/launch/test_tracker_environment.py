from pathlib import Path

import pytest

from builders import a_contract, a_plan, answers
from herorun.checks.launch.tracker_environment import tracker_environment
from herorun.core.canonical_json import plain
from herorun.core.check import AtRelaunch
from herorun.core.evidence import Environment, Nothing, PriorLaunch, TrackerEnvironment
from herorun.core.finding import Outcome
from herorun.sources.tracker import read_tracker_environment
from herorun.trackers import mlflow, wandb
from herorun.trackers.jsonl import JsonLines
from herorun.trackers.mlflow import Mlflow
from herorun.trackers.wandb import Wandb
from herorun.trackers.wandb_offline import WandbOffline
from wording import mentions

NO_PRIOR = Nothing("it is the first launch")
ADAPTERS = {
    "wandb": Wandb(wandb.Options(entity="ent", project="proj", id="tiny", name="Tiny")),
    "wandb_offline": WandbOffline(Path("/nowhere")),
    "mlflow": Mlflow(
        mlflow.Options(project="hero", id="0" * 32, name="Tiny", uri="https://mlflow.example.org")
    ),
    "jsonl": JsonLines(Path("/nowhere"), "rows"),
}
TRACKER = {
    "kind": "wandb",
    "path": None,
    "entity": "ent",
    "project": "proj",
    "name": "Tiny",
    "base_url": "https://wandb.example.org/",
}


def ask_all(variables, prior=NO_PRIOR, **tracker):
    """With what the source reads for the adapter of the kind."""
    contract = a_contract(tracker={**TRACKER, **tracker})
    plan = a_plan(contract, environment=Environment(variables))
    adapter = ADAPTERS[contract.tracker.kind]
    environment = read_tracker_environment(adapter, contract, plan, prior)
    return answers(tracker_environment, {TrackerEnvironment: environment})


def ask(name, value, prior=NO_PRIOR, **tracker):
    (verdict,) = ask_all({name: value}, prior, **tracker)
    return verdict


def test_an_environment_that_says_nothing_passes():
    assert [verdict.outcome for verdict in ask_all({})] == [Outcome.PASS]


def test_another_tracker_takes_nothing_from_it():
    verdict = ask("WANDB_RUN_ID", "other", kind="jsonl")

    assert verdict.outcome is Outcome.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("WANDB_RUN_ID", "tiny"),
        ("WANDB_RUN_ID", " "),
        ("WANDB_PROJECT", "proj"),
        ("WANDB_ENTITY", "ent"),
        ("WANDB_NAME", "Tiny"),
        ("WANDB_RESUME", "allow"),
        ("WANDB_MODE", "online"),
        ("WANDB_DISABLED", "false"),
        ("WANDB_BASE_URL", "https://wandb.example.org"),
        ("WANDB_RUN_GROUP", "of nobody's concern"),
    ],
)
def test_what_agrees_passes(name, value):
    assert ask(name, value).outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("WANDB_RUN_ID", "other", "id = 'tiny'"),
        ("WANDB_PROJECT", "other", "project = 'proj'"),
        ("WANDB_ENTITY", "other", "entity = 'ent'"),
        ("WANDB_NAME", "other", "name = 'Tiny'"),
        ("WANDB_RESUME", "never", "resume = 'allow'"),
        ("WANDB_RESUME", "true", "resume = 'allow'"),
        ("WANDB_MODE", "offline", "wandb_offline"),
        ("WANDB_MODE", "disabled", "nothing"),
        ("WANDB_DISABLED", "true", "nothing"),
        ("WANDB_BASE_URL", "https://api.example.org", "base_url"),
        ("WANDB_FORK_FROM", "other?_step=9", "states no fork_from"),
        ("WANDB_RESUME_FROM", "tiny?_step=9", "rewind"),
    ],
)
def test_what_differs_fails_by_its_name(name, value, words):
    verdict = ask(name, value)

    assert (verdict.outcome, verdict.subject) == (Outcome.FAIL, name)
    assert words in verdict.message
    assert value in verdict.message


def test_a_group_counts_where_the_contract_states_one():
    assert ask("WANDB_RUN_GROUP", "other", group="ours").outcome is Outcome.FAIL


def test_a_server_that_only_the_environment_knows_must_be_stated():
    verdict = ask("WANDB_BASE_URL", "https://me:word@wandb.example.org", base_url=None)

    assert verdict.outcome is Outcome.FAIL
    assert mentions(verdict.message, "state")
    assert "word" not in verdict.message


@pytest.mark.parametrize(("mode", "outcome"), [("offline", Outcome.PASS), ("online", Outcome.FAIL)])
def test_the_offline_kind_wants_the_offline_mode(mode, outcome):
    assert ask("WANDB_MODE", mode, kind="wandb_offline").outcome is outcome


def test_a_fork_and_a_resume_at_once_are_refused_for_the_first_launch_only():
    fork_environment = {"fork_from": "parent?_step=9"}
    plan = a_plan(a_contract(tracker={**TRACKER, **fork_environment}))
    prior = PriorLaunch("tiny-1", {"tracker": plain(plan.tracker.value)})

    assert ask("WANDB_RESUME", "allow", **fork_environment).outcome is Outcome.FAIL
    assert ask("WANDB_RESUME", "allow", prior, **fork_environment).outcome is Outcome.PASS


def test_each_variable_is_judged_apart():
    verdicts = ask_all({"WANDB_ENTITY": "other", "WANDB_PROJECT": "proj"})

    assert [verdict.outcome for verdict in verdicts] == [Outcome.FAIL, Outcome.PASS]


def test_a_relaunch_is_stopped_by_a_failure_and_not_by_silence():
    assert tracker_environment.at_relaunch is AtRelaunch.WARN


@pytest.mark.parametrize(
    ("name", "value", "outcome"),
    [
        ("MLFLOW_TRACKING_URI", "https://mlflow.example.org/", Outcome.PASS),
        ("MLFLOW_TRACKING_URI", "http://elsewhere", Outcome.FAIL),
        ("MLFLOW_EXPERIMENT_NAME", "hero", Outcome.PASS),
        ("MLFLOW_EXPERIMENT_NAME", "toy", Outcome.FAIL),
        ("MLFLOW_RUN_ID", "0" * 32, Outcome.PASS),
        ("MLFLOW_RUN_ID", "1" * 32, Outcome.FAIL),
    ],
)
def test_mlflows_variables_are_compared_with_its_own_keys(name, value, outcome):
    assert ask(name, value, kind="mlflow", project="hero").outcome is outcome
