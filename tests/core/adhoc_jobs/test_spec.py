"""The name of a job without a contract in our own folders."""

import pytest

from herorun.core.adhoc_jobs.spec import JobSpec
from herorun.core.contract import SLUG
from herorun.core.redaction.scrub import scrub


@pytest.mark.parametrize("kind", ["iris", "slurm", "a-sites-own"])
def test_a_jobs_slug_is_a_slug_and_another_on_another_cluster(kind: str) -> None:
    facts = [JobSpec(job="/A.b/" + "long_" * 30, kind=kind, host=host) for host in ("one", "two")]
    assert all(SLUG.fullmatch(each.slug) for each in facts)
    assert facts[0].slug != facts[1].slug


def test_a_long_name_keeps_its_date_in_the_slug() -> None:
    job = "/dlwh/iris-run-train_a_rather_long_experiment_name-20260302-185630"
    assert "-20260302-185630-" in JobSpec(job=job, kind="iris", config="c").slug


def test_a_slug_is_nothing_that_would_be_masked() -> None:
    """Else the journal could not tell one instance of it from another."""
    key = "sk-" + "a1" * 12
    slugs = [JobSpec(job=f"{folder}{key}", kind="slurm").slug for folder in ("/data/", "/other/")]
    assert [scrub(slug) for slug in slugs] == slugs and len({*slugs}) == 2


@pytest.mark.parametrize("field", ["kind", "cluster", "config", "host", "user"])
def test_two_jobs_are_one_unless_something_that_is_known_of_the_other_differs(field: str) -> None:
    fields = {"kind": "slurm", "cluster": "c", "config": "f", "host": "h", "user": "u"}
    one = JobSpec(job="7", **fields)
    assert one.may_be(JobSpec(job="7", **fields))
    assert one.may_be(JobSpec(job="7", **{**fields, field: ""}))  # nothing is said of it
    assert not one.may_be(JobSpec(job="7", **{**fields, field: "other"}))
    assert not JobSpec(job="7", **{**fields, field: ""}).may_be(one)
