"""What must be said of a job without a contract, and the forms of ids."""

import json

import pytest

from herorun.core.adhoc_jobs.spec import JobSpec
from herorun.core.adhoc_jobs.state_file import facts_in
from herorun.core.errors import WrongUse
from herorun.job_kinds import (
    missing_options,
    must_be_complete,
    must_be_id,
    with_kind,
    with_kind_of_fields,
)
from wording import mentions


@pytest.mark.parametrize(
    ("facts", "lacking"),
    [
        (JobSpec(job="", kind=""), ("--job", "--scheduler")),
        (JobSpec(job="/ada/x", kind="iris"), ("--config",)),
        (JobSpec(job="ray-run-1", kind="ray"), ("--cluster", "--experiment")),
        (JobSpec(job="4711", kind="slurm"), ()),
    ],
)
def test_what_the_seed_requires_and_nobody_gave_is_named(
    facts: JobSpec, lacking: tuple[str, ...]
) -> None:
    assert missing_options(facts) == lacking


def test_all_that_is_missing_stands_in_one_sentence() -> None:
    with pytest.raises(WrongUse) as error:
        must_be_complete(JobSpec(job="x", kind="ray"))
    assert mentions(str(error.value), "without", "--cluster", "--experiment")


@pytest.mark.parametrize(
    ("kind", "job"),
    [
        ("iris", "my-job"),
        ("iris", "/dlwh"),
        ("iris", "/dlwh/a b"),
        ("slurm", "tiny-1"),
        ("slurm", "-1"),
        ("slurm", "4711; rm"),
        ("nel", "XYZ123"),
        ("local", "0"),
        ("local", "9" * 5_000),
        ("slurm", "9" * 5_000),
        ("ray", "--help"),
    ],
)
def test_an_id_of_the_wrong_form_is_refused_with_the_right_one(kind: str, job: str) -> None:
    with pytest.raises(WrongUse, match="must"):
        must_be_id(kind, job)


@pytest.mark.parametrize(
    ("kind", "job"),
    [
        ("iris", "/dlwh/iris-run-train_tiny_model_tpu-20260302-185630"),
        ("iris", "/dlwh/parent/child"),
        ("slurm", "4711_3"),
        ("nel", "15be12f8.0"),
        ("ray", "ray-run-held-isoflop_sweep-20260131-051716"),
        ("local", "/state/jobs/tiny-1"),
    ],
)
def test_the_seeds_ids_have_the_right_form(kind: str, job: str) -> None:
    must_be_id(kind, job)


def test_a_scheduler_whose_jobs_have_no_ids_of_their_own_is_refused_by_name() -> None:
    with pytest.raises(WrongUse, match="'cron'"):
        must_be_id("cron", "x")


@pytest.mark.parametrize(
    ("job", "kind", "host", "meaning"),
    [
        ("4711", "", "box", "ssh"),
        ("4711", "slurm", "box", "slurm"),
        ("4711", "", "", ""),
        ("/ada/x", "", "box", ""),
    ],
)
def test_a_number_with_a_host_alone_is_a_process_there(
    job: str, kind: str, host: str, meaning: str
) -> None:
    assert with_kind(JobSpec(job=job, kind=kind, host=host)).kind == meaning


@pytest.mark.parametrize(
    ("document", "kind"),
    [
        ({"job_id": "/a/b", "config": "c.yaml", "cluster": "", "restart_count": 0}, "iris"),
        ({"job_id": "/a/b", "config": "c.yaml", "cluster": "mine"}, "iris"),
        ({"job_id": "x", "cluster": "us-east5-a", "experiment": "e.py", "restart_count": 2}, "ray"),
        ({"job_id": "4711", "cluster": "one", "scheduler": "slurm"}, "slurm"),
        ({"job_id": "4711"}, ""),
    ],
)
def test_a_state_file_of_the_seeds_own_loop_is_understood(
    document: dict[str, object], kind: str
) -> None:
    assert with_kind_of_fields(facts_in(json.dumps(document).encode())[0]).kind == kind
