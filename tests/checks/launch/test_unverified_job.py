"""unverified-job."""

from builders import a_job, answer, answers
from herorun.checks.launch.unverified_job import unverified_job
from herorun.core.check import Response
from herorun.core.evidence import Adoptee
from wording import mentions


def open_ones(adoptee: Adoptee) -> dict[str, str]:
    return {v.subject: v.message for v in answers(unverified_job, adoptee) if v.outcome == "fail"}


def test_nothing_is_reported_where_nothing_is_adopted() -> None:
    assert answer(unverified_job).outcome == "n/a"


def test_of_a_job_that_tells_all_code_start_output_and_check_in_stay_unproved() -> None:
    ones = open_ones(Adoptee(a_job(id="7"), "local", "ada", ("python", "train.py")))
    assert set(ones) == {"check-in", "commit", "start", "output root"}
    assert mentions(ones["check-in"], "not launched", "no receipt")


def test_a_command_and_an_owner_that_are_not_told_are_named() -> None:
    ones = open_ones(Adoptee(a_job(id="7"), "slurm", details="/home/ada/job.sh"))
    assert mentions(ones["command"], "7 cannot", "compared", "/home/ada/job.sh")
    assert mentions(ones["owner"], "slurm", "owner", "7")


def test_it_only_warns() -> None:
    assert unverified_job.response is Response.WARN
