import pytest

from builders import a_contract
from herorun.core.errors import WrongUse


@pytest.mark.parametrize(
    "changes",
    [
        {"command": {"argv": ["sh", "a\0b"]}},
        {"command": {"argv": ["sh"], "env": {"A=B": "1"}}},
        {"command": {"argv": ["sh"], "env": {"": "1"}}},
        {"command": {"argv": ["sh"], "env": {"A": "\0"}}},
        {"babysit": {"cadence": "999999999999999999d"}},
        {"output": {"root": "//"}},
    ],
    ids=["nul", "equals", "nameless", "nul-value", "endless", "root"],
)
def test_what_no_job_could_be_started_with_is_no_contract(changes: dict[str, object]) -> None:
    with pytest.raises(WrongUse):
        a_contract(**changes)
