"""What is known of a job, and what a person says of it now."""

from dataclasses import replace
from pathlib import Path

import pytest

from herorun.core.adhoc_jobs.spec import JobSpec
from herorun.operations.jobs.takeover import merge_specs


@pytest.fixture
def base(tmp_path: Path) -> JobSpec:
    (tmp_path / "before").mkdir()
    return JobSpec(
        job="1",
        kind="slurm",
        host="login",
        user="ada",
        resubmit="sbatch a.sh",
        secrets=("TOKEN",),
        values={"A": "b"},
        cwd=str(tmp_path / "before"),
    )


def test_what_nobody_says_stays_as_it_is_known(base: JobSpec, tmp_path: Path) -> None:
    assert merge_specs(base, JobSpec(job="2", kind=""), {"job": "2"}, tmp_path) == base


def test_what_is_said_now_counts(base: JobSpec, tmp_path: Path) -> None:
    spec = JobSpec(job="2", kind="slurm", host="other", user="eve")
    answer = merge_specs(base, spec, {"job": "2", "host": "other"}, tmp_path)
    assert answer == replace(base, host="other")


def test_another_command_takes_over_no_secret_value_or_folder(
    base: JobSpec, tmp_path: Path
) -> None:
    spec = JobSpec(job="1", kind="slurm", resubmit="sbatch b.sh")
    answer = merge_specs(base, spec, {"resubmit": "sbatch b.sh"}, tmp_path)
    assert answer == replace(
        base, resubmit="sbatch b.sh", secrets=(), values={}, cwd=str(tmp_path.resolve())
    )


def test_a_folder_of_another_machine_is_replaced_by_this_one(base: JobSpec, tmp_path: Path) -> None:
    entry = replace(base, cwd=str(tmp_path / "gone"))
    assert merge_specs(entry, entry, {}, tmp_path) == replace(base, cwd=str(tmp_path.resolve()))
