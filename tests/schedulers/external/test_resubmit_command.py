"""What is wrong with a resubmit command, said before it is used."""

import pytest

from herorun.core.errors import WrongUse
from herorun.job_kinds import job_kind
from screens.notices import Notice

GOOD = (
    "uv run iris --config c.yaml job run --no-wait --extra marin:tpu --tpu v5litepod-16 -- python "
    "train.py"
)


def test_the_seeds_own_command_has_no_fault() -> None:
    job_kind("iris").must_return(GOOD)
    assert job_kind("iris").notices(GOOD) == []


@pytest.mark.parametrize(
    ("kind", "command"),
    [
        ("iris", GOOD.replace(" --no-wait", "")),
        ("iris", GOOD.replace(" --no-wait", "") + " --no-wait"),
        ("ray", "uv run ray_run.py --cluster us-east5-a -- python x.py"),
        ("slurm", "sbatch --wait job.sh"),
        ("slurm", "srun python train.py"),
    ],
)
def test_a_command_that_waits_for_the_jobs_end_is_refused(kind: str, command: str) -> None:
    with pytest.raises(WrongUse, match="wait"):
        job_kind(kind).must_return(command)


def test_rays_spelling_with_an_underscore_does_not_wait() -> None:
    job_kind("ray").must_return("uv run ray_run.py --no_wait --cluster us-east5-a -- python x.py")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("marin:tpu", "marin:cpu"),
        ("--tpu v5litepod-16", "--reserve v5litepod-16"),
        ("--tpu v5litepod-16", ""),
        ("--no-wait", "--no-wait --job-name tiny"),
    ],
)
def test_what_is_mostly_a_mistake_is_pointed_out(before: str, after: str, notice: Notice) -> None:
    notices = job_kind("iris").notices(GOOD.replace(before, after))
    assert "\n".join(notices) == notice


@pytest.mark.parametrize("kind", ["iris", "slurm", "local"])
@pytest.mark.parametrize("command", ["", "sh -c 'x"])
def test_what_no_shell_could_run_is_refused(command: str, kind: str) -> None:
    with pytest.raises(WrongUse, match="--resubmit"):
        job_kind(kind).must_return(command)
