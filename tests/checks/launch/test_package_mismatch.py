"""package-mismatch."""

from builders import a_contract, answer
from herorun.checks.launch.package_mismatch import package_mismatch
from herorun.core.evidence import Installed, Nothing, Unavailable
from wording import mentions

STATED_CONTRACT = a_contract(runtime={"packages": ["numpy==2.1.0"]})
HERE = Installed("/venv/bin/python", {"numpy": "2.1.0"})


def test_the_stated_release_passes() -> None:
    verdict = answer(package_mismatch, STATED_CONTRACT, HERE)
    assert (verdict.outcome, verdict.subject) == ("pass", "numpy==2.1.0")


def test_another_release_fails() -> None:
    verdict = answer(
        package_mismatch, STATED_CONTRACT, Installed("/venv/bin/python", {"numpy": "1.26.4"})
    )
    assert verdict.outcome == "fail"
    assert mentions(verdict.message, "numpy", "1.26.4", "==2.1.0", "/venv/bin/python")


def test_what_is_no_requirement_fails_wherever_the_job_runs() -> None:
    stated_contract = a_contract(runtime={"packages": ["numpy = 2"]})
    assert (
        answer(package_mismatch, stated_contract, {Installed: Nothing("elsewhere")}).outcome
        == "fail"
    )


def test_an_environment_that_cannot_be_read_is_unknown() -> None:
    assert (
        answer(package_mismatch, STATED_CONTRACT, {Installed: Unavailable("no answer")}).outcome
        == "unknown"
    )


def test_a_job_elsewhere_is_compared_by_check_in() -> None:
    reason = "the job runs elsewhere"
    verdict = answer(package_mismatch, STATED_CONTRACT, {Installed: Nothing(reason)})
    assert verdict.outcome == "n/a" and mentions(verdict.message, "numpy==2.1.0", reason)


def test_a_contract_that_states_none_is_not_asked() -> None:
    assert answer(package_mismatch, {Installed: Unavailable("no answer")}).outcome == "n/a"
