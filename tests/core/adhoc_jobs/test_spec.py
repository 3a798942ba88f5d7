"""The name of a job without a contract in our own folders."""

import pytest

from herorun.core.adhoc_jobs.spec import JobSpec
from herorun.core.contract import SLUG


@pytest.mark.parametrize("kind", ["iris", "slurm", "a-sites-own"])
def test_a_jobs_slug_is_a_slug_and_another_on_another_cluster(kind: str) -> None:
    facts = [JobSpec(job="/A.b/" + "long_" * 30, kind=kind, host=host) for host in ("one", "two")]
    assert all(SLUG.fullmatch(each.slug) for each in facts)
    assert facts[0].slug != facts[1].slug


def test_a_long_name_keeps_its_date_in_the_slug() -> None:
    job = "/dlwh/iris-run-train_a_rather_long_experiment_name-20260302-185630"
    assert "-20260302-185630-" in JobSpec(job=job, kind="iris", config="c").slug
