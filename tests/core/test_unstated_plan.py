import pytest

from builders import a_contract
from herorun.core.unstated_plan import describe_unstated_parts


def plan(env: object = None, start: object = None) -> dict[str, object]:
    return {"env": {"value": env or {}, "source": "x"}, "start": {"value": start, "source": "x"}}


def test_what_the_contract_states_is_not_the_records_alone():
    contract = a_contract()
    assert describe_unstated_parts(contract, plan(dict(contract.command.env))) == ""
    assert describe_unstated_parts(contract, {}) == ""


def test_variables_of_a_shell_are_named_with_their_values():
    contract = a_contract(command={"argv": ["x"], "env": {"NCCL_DEBUG": "INFO"}})
    env = {"NCCL_DEBUG": "TRACE", "PYTHONPATH": "/evil", "PYTHONSTARTUP": "/never.py"}
    assert describe_unstated_parts(contract, plan(env)) == "NCCL_DEBUG=TRACE, PYTHONPATH=/evil"


@pytest.mark.parametrize("path", ["/evil/step-1", "{root}/../evil", "{root}-evil/step-1", "{root}"])
def test_a_start_from_elsewhere_is_named(path: str):
    contract = a_contract()
    path = path.format(root=contract.output.root.rstrip("/"))
    assert (
        describe_unstated_parts(contract, plan(start={"path": path, "step": 1}))
        == f"the start {path}"
    )


def test_a_start_of_the_runs_own_or_of_its_contract_is_stated():
    contract = a_contract()
    assert (
        describe_unstated_parts(
            contract, plan(start={"path": f"{contract.output.root.rstrip('/')}/checkpoints/step-1"})
        )
        == ""
    )
    forked_contract = a_contract(start={"from": "/data/parent/step-2/"})
    assert (
        describe_unstated_parts(forked_contract, plan(start={"path": "/data/parent/step-2"})) == ""
    )
