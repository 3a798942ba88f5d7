"""PEP 508 requirements against what is installed."""

import pytest

from herorun.core.requirements import exact_versions, problem_of, specifier_problem, unmet
from screens.notices import Notice

INSTALLED_PACKAGES = {"numpy": "2.1.0", "torch": "2.9.1+cu128", "my-package": "1.0"}


@pytest.mark.parametrize(
    "text",
    [
        "numpy",
        "numpy>=2,<3",
        "NumPy == 2.1",
        "torch==2.9.1",
        "My_Package~=1.0",
        "numpy>=3",
        "torch==2.9.1+cu126",
        "jax",
        "jax; python_version < '3'",
        "jax @ https://example.org/jax.whl",
    ],
)
def test_a_requirement_is_judged_as_pip_would(text: str, notice: Notice) -> None:
    assert unmet(text, INSTALLED_PACKAGES) == notice


def test_what_is_no_requirement_is_reported() -> None:
    assert problem_of("numpy==2.1") == ""
    assert problem_of("numpy = 2") != ""
    assert problem_of("") != ""


def test_only_exact_versions_can_be_compared_in_the_job() -> None:
    requirements = ["NumPy==2.1.0", "torch>=2", "jax==0.4.*", "a_b===1", "two==1,==1", "broken = 1"]
    assert exact_versions(requirements) == {"numpy": "2.1.0", "a-b": "1"}


@pytest.mark.parametrize("text", ["~=0.4", "==0.4.*", ">=0.4,<1", ">=0.1.dev0"])
def test_a_version_specifier_is_one_of_pep_440(text: str) -> None:
    assert specifier_problem(text) == ""


@pytest.mark.parametrize("text", ["latest", "~=1", "0.4", "=> 2"])
def test_what_is_no_version_specifier_is_reported(text: str) -> None:
    assert "nvalid specifier" in specifier_problem(text)
