import pytest

from builders import PARENT, a_checkpoint, a_contract, a_history, a_plan, answer
from herorun.checks.launch.unknown_final_step import unknown_final_step
from herorun.core.check import AtRelaunch
from herorun.core.contract import ContractFile
from herorun.core.evidence import Unavailable
from herorun.core.finding import Outcome
from herorun.core.plan import Plan
from wording import mentions

CONFIG = {"trainer": {"num_train_steps": 5155, "name": "x", "zero": 0, "flag": True}}


def ask(final_step, **changes):
    return answer(
        unknown_final_step, a_plan(a_contract(final_step=final_step), config=CONFIG, **changes)
    )


@pytest.mark.parametrize("final_step", [5155, "trainer.num_train_steps"])
def test_a_number_or_a_key_of_the_config_passes(final_step):
    assert mentions(ask(final_step).message, "ends", "5155")


@pytest.mark.parametrize(
    ("final_step", "facts"),
    [
        (
            "trainer.steps",
            ("trainer.steps", "missing", "config.toml", "`trainer.num_train_steps`"),
        ),
        ("trainer.name", ("trainer.name", "'x'", "config.toml")),
        ("trainer.flag", ("trainer.flag", "True", "config.toml")),
        (0, ("positive",)),
        (-5, ("positive",)),
        ("trainer.zero", ("positive",)),
    ],
)
def test_what_is_no_step_fails_in_the_words_of_its_source(final_step, facts):
    verdict = ask(final_step)

    assert verdict.outcome is Outcome.FAIL
    assert mentions(verdict.message, *facts)


def test_the_line_of_the_contract_is_named():
    file = ContractFile("runs/tiny.toml", 'slug = "tiny"\nfinal_step = "trainer.steps"\n')
    plan = a_plan(a_contract(final_step="trainer.steps"), config=CONFIG)

    assert "runs/tiny.toml, line 2" in answer(unknown_final_step, plan, file).message


def test_where_neither_the_contract_nor_the_config_tells_it_is_unknown():
    silent = a_plan(a_contract(final_step=None), config={"trainer": {"name": "x"}})

    assert mentions(answer(unknown_final_step, silent).message, "states", "final_step")


def test_what_the_config_tells_is_labelled_as_inferred():
    assert mentions(ask(None).message, "5155", "inferred", "trainer.num_train_steps", "config.toml")


@pytest.mark.parametrize(
    ("final", "outcome"), [(100, Outcome.FAIL), (99, Outcome.FAIL), (101, Outcome.PASS)]
)
def test_it_must_lie_beyond_the_start(final, outcome):
    assert ask(final, own=[a_checkpoint(100)], history=a_history()).outcome is outcome


def test_weights_alone_are_trained_from_step_0():
    contract = a_contract(
        final_step=50, start={"from": f"{PARENT}/step-100", "kind": "weights-only"}
    )

    assert (
        answer(unknown_final_step, a_plan(contract, (), [a_checkpoint(100, PARENT)])).outcome
        is Outcome.PASS
    )


def test_a_plan_that_could_not_be_made_is_unknown():
    assert (
        answer(unknown_final_step, {Plan: Unavailable("no config.toml")}).outcome is Outcome.UNKNOWN
    )


def test_it_is_asked_at_a_relaunch_too():
    assert unknown_final_step.at_relaunch is AtRelaunch.BLOCK
