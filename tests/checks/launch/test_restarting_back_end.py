from builders import a_contract, answer
from herorun.checks.launch.restarting_back_end import restarting_back_end
from herorun.core.finding import Outcome


def test_herorun_alone_starts_jobs():
    assert answer(restarting_back_end).outcome is Outcome.PASS


def test_a_back_end_that_restarts_by_itself():
    contract = a_contract(scheduler={"kind": "local", "restarts": "backend"})

    assert answer(restarting_back_end, contract).outcome is Outcome.FAIL
