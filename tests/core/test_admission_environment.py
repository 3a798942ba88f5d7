"""The environment that a job shows, against the admitted one."""

from fnmatch import fnmatchcase
from typing import Any

import pytest

from herorun.core.admission import JobFacts, compare, digest_secret, digest_with_salt
from herorun.core.admission.environment import compare_environment, is_any, is_salted
from wording import mentions

ADMISSION: dict[str, Any] = {
    "values": {"PACK": "8", "XLA_FLAGS": "--a", "PYTHONPATH": "/code"},
    "secrets": {"HF_TOKEN": digest_with_salt("secret", "5a")},
    "flags": ["PACK", "MODE"],
    "watched": ["XLA_*", "JAX_*", "NCCL_*", "PYTHON*"],
    "ignored": ["PYTHONUNBUFFERED"],
    "classes": [["NCCL_*", False]],
    "whole": True,
}
JOB_ENVIRONMENT = {
    "PACK": "8",
    "XLA_FLAGS": "--a",
    "PYTHONPATH": "/code",
    "HF_TOKEN": "secret",
    "HOME": "/root",
}


def outcome(
    *changes: tuple[str, str | None], direct: bool = True, **admission: Any
) -> tuple[str, str]:
    variables = {
        name: value
        for name, value in {**JOB_ENVIRONMENT, **dict(changes)}.items()
        if value is not None
    }
    item = compare_environment({**ADMISSION, **admission}, variables, direct)
    assert item.item == "environment"
    return item.outcome, item.message


@pytest.mark.parametrize(
    ("main", "argv", "expectation"),
    [
        (True, ["python", "train.py"], "fail"),  # nothing stands between it and the scheduler
        (False, ["python", "train.py"], "unknown"),  # a worker: its launcher may set more
        (True, None, "unknown"),  # whether a launcher started it cannot be seen
    ],
)
def test_a_variable_more_refuses_where_nothing_can_have_set_it_on_the_way(main, argv, expectation):
    admission = {"argv": ["python", "train.py"], "environment": ADMISSION}
    variables = {**JOB_ENVIRONMENT, "MODE": "1"}
    (item,) = [
        each
        for each in compare(admission, JobFacts(argv=argv, main=main, environment=variables))
        if each.item == "environment"
    ]
    assert item.outcome == expectation and item.message.startswith("MODE ")


def test_a_secret_that_was_admitted_is_no_variable_more():
    secret_admission = {"secrets": {"XLA_KEY": digest_with_salt("s", "5a")}}
    assert outcome(("XLA_KEY", "s"), **secret_admission)[0] == "pass"


def test_what_was_admitted_passes():
    answer, message = outcome()
    assert answer == "pass" and mentions(message, "3 variables")
    assert outcome(("PYTHONUNBUFFERED", "1"), ("ORDINARY", "1"))[0] == "pass"


@pytest.mark.parametrize("direct", [True, False])
def test_another_value_and_a_missing_one_refuse_behind_a_launcher_too(direct):
    assert outcome(("PACK", "1"), direct=direct) == ("fail", "PACK is '1', but '8' was admitted")
    answer, message = outcome(("XLA_FLAGS", None), direct=direct)
    assert answer == "fail" and mentions(message, "XLA_FLAGS", "not set", "'--a'")


def test_a_folder_more_to_import_from_is_a_launchers_own():
    assert outcome(("PYTHONPATH", "/package:/code"))[0] == "pass"
    assert outcome(("PYTHONPATH", "/elsewhere"))[0] == "fail"


def test_a_flag_of_the_code_that_nobody_admitted_refuses_everywhere():
    answer, message = outcome(("MODE", "x"), whole=False)
    assert answer == "fail" and mentions(message, "MODE", "set", "plan")
    assert outcome(("MODE", "x"), direct=False)[0] == "unknown"


@pytest.mark.parametrize(
    ("name", "whole", "expectation"),
    [
        ("JAX_ENABLE_X64", True, "fail"),
        ("JAX_ENABLE_X64", False, "unknown"),
        ("NCCL_DEBUG", True, "unknown"),
    ],
)
def test_another_variable_that_trainers_read(name, whole, expectation):
    assert outcome((name, "1"), whole=whole)[0] == expectation


def test_a_secret_must_be_there_and_another_value_is_reported():
    answer, message = outcome(("HF_TOKEN", None))
    assert answer == "fail" and mentions(message, "HF_TOKEN", "secret", "not set")
    matches, message = outcome(("HF_TOKEN", "rotated"))
    assert matches == "unknown" and "another value" in message and "rotated" not in message
    # the cluster has it: its value was never seen
    assert outcome(secrets={"HF_TOKEN": ""})[0] == "pass"


def test_a_value_that_looks_like_a_secret_is_compared_by_its_digest():
    values = {**ADMISSION["values"], "KEY": digest_secret("s3cret")}
    answer, message = outcome(("KEY", "other"), values=values)

    assert answer == "fail" and "other" not in message.replace("another", "")
    assert outcome(("KEY", "s3cret"), values=values)[0] == "pass"


def test_one_that_could_not_be_read_is_unknown():
    assert compare_environment(ADMISSION, None, True).outcome == "unknown"


def test_a_salted_digest_tells_no_value():
    assert digest_with_salt("a", "1") != digest_with_salt("a", "2") and is_salted(
        "a", digest_with_salt("a", "1")
    )
    assert not is_salted("b", digest_with_salt("a", "1"))


@pytest.mark.parametrize("glob", ["NCCL_*", "NCCL", "*", "", "N*_*", "NCC?", "[NX]CCL*", "NCCL*]"])
def test_a_glob_matches_as_fnmatch_says(glob: str) -> None:
    for name in ("NCCL_", "NCCL", "NCCL_ALGO", "nccl_a", "XCCL", "", "NCCL*]", "A\nNCCL_"):
        assert is_any(name, [glob]) == fnmatchcase(name, glob), name
