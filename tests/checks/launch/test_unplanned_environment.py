"""A flag of the code that is set here and is not in the plan."""

from builders import a_contract, a_plan, answers
from herorun.checks.launch.unplanned_environment import unplanned_environment
from herorun.core.check import AtRelaunch
from herorun.core.evidence import CodeFlags, Environment, Flag
from herorun.core.finding import Outcome
from wording import mentions

PACK = Flag("PACK", "train.py", 3)
SET = CodeFlags((PACK, Flag("UNSET", "train.py", 9)), {"PACK": "8"}, ("train.py:12",))


def test_a_flag_that_only_the_shell_knows_blocks_and_is_named():
    failure, rest = answers(unplanned_environment, SET)

    assert (failure.outcome, failure.subject) == (Outcome.FAIL, "PACK")
    assert mentions(failure.message, "PACK", "train.py:3", "8", "shell")
    assert "[command] env" in failure.message
    assert rest.outcome is Outcome.PASS
    unset, computed_line = rest.details
    assert mentions(unset, "not set", "UNSET (train.py:9)")
    assert mentions(computed_line, "computed", "train.py:12")


def test_a_flag_of_the_contract_passes_and_another_value_here_is_reported():
    contract = a_contract(command={"env": {"PACK": "4"}})

    (verdict,) = answers(unplanned_environment, SET, contract, a_plan(contract))

    assert verdict.outcome is Outcome.PASS
    assert mentions(verdict.details[0], "PACK=4", "shell", "8")


def test_a_secret_goes_by_name():
    flags = CodeFlags((Flag("WANDB_API_KEY", "train.py", 3),), {"WANDB_API_KEY": "[scrubbed]"})
    withheld_environment = Environment(
        withheld={"WANDB_API_KEY": "it looks like a secret: name it in [command] secrets"}
    )
    contract = a_contract(command={"secrets": ["WANDB_API_KEY"]})

    failure, _ = answers(unplanned_environment, flags, withheld_environment)
    changed_environment = Environment(changed_secrets=("WANDB_API_KEY",))
    (finding,) = answers(
        unplanned_environment, flags, changed_environment, contract, a_plan(contract)
    )

    assert failure.outcome is Outcome.FAIL and "[command] secrets" in failure.message
    (detail,) = finding.details
    assert mentions(detail, "WANDB_API_KEY", "secret", "name", "another value")


def test_what_is_passed_on_and_what_is_not_is_listed():
    reason = "a path on this machine"
    shell = Environment({"XLA_FLAGS": "--a"}, {"HF_HOME": reason})

    (verdict,) = answers(unplanned_environment, shell, a_plan(environment=shell))

    passed_on, withheld_line = verdict.details
    assert passed_on == "XLA_FLAGS=--a" and mentions(withheld_line, "HF_HOME", "not", reason)


def test_the_shell_of_a_relaunch_is_not_asked():
    assert unplanned_environment.at_relaunch is AtRelaunch.SKIP
