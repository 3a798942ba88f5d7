"""The contract that stands for a job without one, and what its scheduler tells of it."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from herorun.core.adhoc_jobs.spec import JobSpec
from herorun.core.contract import Recovery
from herorun.core.evidence import Job, JobState
from herorun.operations.jobs.job_contract import contract_for
from herorun.operations.jobs.poll import diagnosis


@pytest.mark.parametrize(
    ("facts", "recovery", "bad_node", "zone"),
    [
        ({}, Recovery.OBSERVE, "print", None),
        ({"resubmit": "sbatch job.sh"}, Recovery.RELAUNCH, "print", None),
        ({"bad_node_zone": "us-east1-d"}, Recovery.OBSERVE, "delete", "us-east1-d"),
    ],
)
def test_only_what_was_given_lets_it_act(
    facts: dict[str, Any], recovery: Recovery, bad_node: str, zone: str | None
) -> None:
    contract = contract_for(JobSpec(job="7", kind="slurm", **facts), Path("/jobs/slurm-7"))
    babysit = contract.babysit
    assert (babysit.recovery, babysit.tpu_bad_node, babysit.tpu_zone) == (recovery, bad_node, zone)


def test_a_failure_without_a_place_in_the_code_is_told_too() -> None:
    jobs: Any = SimpleNamespace(
        tail=lambda job, lines: "OSError: [Errno 28] No space left on device\n"
    )
    assert "disk-full" in diagnosis(jobs, Job(id="7", instance="tiny-1", state=JobState.FAILED))
