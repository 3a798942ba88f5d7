"""Of a Ray job the cluster, the experiment and the id are enough to submit it again."""

import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from herorun.core.adhoc_jobs.spec import JobSpec
from herorun.job_kinds import job_kind, with_command
from herorun.schedulers.external.ray import SUBMITTER

CLUSTER = "http://127.0.0.1:8265"


@pytest.mark.parametrize(
    ("submitter", "command"),
    [
        (False, f"ray job submit --address {CLUSTER} --no-wait --working-dir . -- python e x.py"),
        (True, f"uv run {SUBMITTER} --no_wait --cluster {CLUSTER} -- python e x.py"),
    ],
)
def test_it_is_submitted_as_the_repository_does_it(
    tmp_path: Path, submitter: bool, command: str
) -> None:
    if submitter:
        (tmp_path / SUBMITTER).parent.mkdir(parents=True)
        (tmp_path / SUBMITTER).touch()
    spec = JobSpec(
        job="ray-run-1", kind="ray", cluster=CLUSTER, experiment="e x.py", cwd=str(tmp_path)
    )
    resubmit = with_command(spec).resubmit
    assert shlex.split(resubmit) == [*command.split()[:-2], "e x.py"]
    job_kind("ray").must_return(resubmit)
    own = replace(spec, resubmit="sh again.sh --no-wait")
    assert with_command(own).resubmit == own.resubmit
