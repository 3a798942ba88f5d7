import pytest

from builders import a_contract, a_job, answer
from herorun.checks.health.wrong_node_count import wrong_node_count
from herorun.core.check import Hold, Response
from herorun.core.evidence import JobState
from herorun.core.finding import Outcome
from wording import mentions

SIXTEEN = a_contract(scheduler={"kind": "slurm", "nodes": 16})


@pytest.mark.parametrize("nodes", [15, 17])
def test_another_number_of_nodes_than_was_asked_for(nodes):
    verdict = answer(wrong_node_count, SIXTEEN, a_job(tasks=nodes))

    assert verdict.outcome is Outcome.FAIL
    assert mentions(verdict.message, "tiny-1", f"{nodes}", "[scheduler] nodes = 16")


def test_the_number_that_was_asked_for():
    assert answer(wrong_node_count, SIXTEEN, a_job(tasks=16)).outcome is Outcome.PASS


def test_where_nobody_tells():
    assert answer(wrong_node_count, SIXTEEN).outcome is Outcome.NOT_APPLICABLE
    assert answer(wrong_node_count, a_job(tasks=3)).outcome is Outcome.NOT_APPLICABLE


def test_a_job_that_waits_has_no_nodes_yet():
    pending = a_job(JobState.PENDING, tasks=1)
    assert answer(wrong_node_count, SIXTEEN, pending).outcome is Outcome.NOT_APPLICABLE


def test_two_looks_in_a_row():
    assert (wrong_node_count.response, wrong_node_count.hold) == (Response.WARN, Hold(ticks=2))
