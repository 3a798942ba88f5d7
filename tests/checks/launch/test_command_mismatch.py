"""command-mismatch."""

from builders import a_contract, a_job, a_plan, answer
from herorun.checks.launch.command_mismatch import command_mismatch
from herorun.core.evidence import Adoptee
from herorun.core.plan import Plan
from wording import mentions

WORDS = ("python", "train.py")


def plan() -> Plan:
    return a_plan(a_contract(command={"argv": WORDS}))


def adoptee(*words: str) -> Adoptee:
    return Adoptee(a_job(id="4711"), "local", "ada", words)


def test_nothing_is_asked_where_nothing_is_adopted() -> None:
    assert answer(command_mismatch).outcome == "n/a"


def test_the_contracts_own_command_passes() -> None:
    assert answer(command_mismatch, plan(), adoptee(*WORDS)).outcome == "pass"


def test_another_command_fails_and_both_are_named() -> None:
    verdict = answer(command_mismatch, plan(), adoptee("python", "serve.py"))
    assert (verdict.outcome, verdict.subject) == ("fail", "4711")
    assert mentions(verdict.message, "4711 runs", "python serve.py", "says", "python train.py")


def test_a_command_that_is_not_told_is_not_compared() -> None:
    assert answer(command_mismatch, plan(), adoptee()).outcome == "n/a"
