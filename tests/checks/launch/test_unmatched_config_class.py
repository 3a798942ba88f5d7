import pytest

from builders import a_contract, a_plan, answers
from herorun.checks.launch.unmatched_config_class import unmatched_config_class
from herorun.core.check import Response
from herorun.core.finding import Outcome
from wording import mentions

CONFIG = {"optimizer": {"lr": 1.0, "warmup": 3}, "seed": 7}
FITTING = ("optimizer", "optimizer.*", "*.lr", "seed", "argv.config", "config", "*")


def ask_check(*patterns, kind="operational"):
    contract = a_contract(config={"classes": dict.fromkeys(patterns, kind)})
    plan = a_plan(contract, config=CONFIG)
    return answers(unmatched_config_class, contract, plan)


@pytest.mark.parametrize(
    ("pattern", "suggestion"),
    [("optimzer.*", "`optimizer.*`"), ("optimizer.warmpu", "`optimizer.warmup`"), ("x.y.z", "")],
)
def test_a_pattern_that_matches_no_key_is_named(pattern, suggestion):
    (verdict,) = ask_check("seed", pattern)
    assert (verdict.outcome, verdict.subject) == (Outcome.FAIL, pattern)
    assert mentions(verdict.message, pattern, suggestion) and ("?" in verdict.message) is bool(
        suggestion
    )
    assert unmatched_config_class.response is Response.WARN


def test_patterns_that_match_a_key_of_the_config_or_the_command_pass():
    assert [verdict.outcome for verdict in ask_check(*FITTING)] == [Outcome.PASS]


@pytest.mark.parametrize(
    ("pattern", "kind"),
    [("env.NCCL_DEBUG", "operational"), ("NCCL_*", "operational"), ("run_name", "volatile")],
)
def test_a_key_that_no_plan_must_have_is_not_missed(pattern, kind):
    assert [verdict.outcome for verdict in ask_check(pattern, kind=kind)] == [Outcome.PASS]


def test_a_contract_without_patterns_is_not_asked():
    assert [verdict.outcome for verdict in ask_check()] == [Outcome.NOT_APPLICABLE]
