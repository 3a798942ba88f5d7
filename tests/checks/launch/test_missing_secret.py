import pytest

from builders import a_contract, answers
from herorun.checks.launch.missing_secret import missing_secret
from herorun.core.check import AtRelaunch
from herorun.core.evidence import Nothing, SecretNames, Unavailable
from herorun.core.finding import Outcome
from wording import mentions

NEEDS = a_contract(command={"secrets": ["WANDB_API_KEY", "HF_TOKEN", "HF_TOKEN"]})


def ask(*present, contract=NEEDS):
    answer = answers(missing_secret, contract, SecretNames(frozenset(present), "this environment"))
    return {verdict.subject: verdict for verdict in answer}


def test_each_missing_name_is_named():
    answer = ask("HF_TOKEN")

    assert {name: verdict.outcome for name, verdict in answer.items()} == {
        "WANDB_API_KEY": Outcome.FAIL,
        "HF_TOKEN": Outcome.PASS,
    }
    assert mentions(answer["WANDB_API_KEY"].message, "WANDB_API_KEY", "empty")


def test_all_that_are_set_pass():
    assert {verdict.outcome for verdict in ask("WANDB_API_KEY", "HF_TOKEN").values()} == {
        Outcome.PASS
    }


@pytest.mark.parametrize(
    "observations", [SecretNames(), {SecretNames: Nothing("the contract names no secrets")}]
)
def test_a_contract_without_secrets_is_asked_nothing(observations):
    (verdict,) = answers(missing_secret, observations)

    assert verdict.outcome is Outcome.NOT_APPLICABLE


def test_what_nobody_can_look_into_is_unknown():
    (verdict,) = answers(missing_secret, NEEDS, {SecretNames: Unavailable("on the cluster")})

    assert verdict.outcome is Outcome.UNKNOWN


def test_a_relaunch_needs_them_as_well():
    assert missing_secret.at_relaunch is AtRelaunch.BLOCK
