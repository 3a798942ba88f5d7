"""Of a Ray job the cluster, the experiment and the id are enough to submit it again."""

import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from herorun.core.adhoc_jobs.resubmit_command import must_return
from herorun.core.adhoc_jobs.spec import JobSpec
from herorun.operations.jobs.clusters import RAY_RUN, with_experiment

CLUSTER = "http://127.0.0.1:8265"


@pytest.mark.parametrize(
    ("submitter", "command"),
    [
        (False, f"ray job submit --address {CLUSTER} --no-wait --working-dir . -- python e x.py"),
        (True, f"uv run {RAY_RUN} --no_wait --cluster {CLUSTER} -- python e x.py"),
    ],
)
def test_it_is_submitted_as_the_repository_does_it(
    tmp_path: Path, submitter: bool, command: str
) -> None:
    if submitter:
        (tmp_path / RAY_RUN).parent.mkdir(parents=True)
        (tmp_path / RAY_RUN).touch()
    spec = JobSpec(
        job="ray-run-1", kind="ray", cluster=CLUSTER, experiment="e x.py", cwd=str(tmp_path)
    )
    made = with_experiment(spec).resubmit
    assert shlex.split(made) == [*command.split()[:-2], "e x.py"]
    must_return("ray", made)
    own = replace(spec, resubmit="sh again.sh --no-wait")
    assert with_experiment(own).resubmit == own.resubmit
