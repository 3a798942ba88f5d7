"""The `#SBATCH` lines of a script that the command runs, and which of them the request states."""

import pytest

from herorun.schedulers._slurm.directives import unstated_directives
from herorun.schedulers._slurm.options import Options

BASH = ("bash", "train.sh")


def texts(script: str, argv: tuple[str, ...] = BASH, **options: object) -> list[tuple[int, str]]:
    lines = unstated_directives(argv, script, Options(**options))
    assert lines is not None
    return [(each.line, each.text) for each in lines]


def test_the_lines_above_the_first_command_count() -> None:
    script = (
        "#!/bin/bash\n#SBATCH --nodes=64\n\n  # a comment\n##SBATCH --mem=1\n #SBATCH --mem=2\n"
        "#sbatch --mem=3\n#SBATCH --gpus-per-node=8\nset -e\n#SBATCH --mem=4\n"
    )
    assert texts(script) == [(2, "--nodes=64"), (8, "--gpus-per-node=8")]


def test_a_line_is_split_as_slurm_splits_it() -> None:
    script = (
        "#SBATCH -N 64 -c16 --constraint='a b' --exclusive # --mem=1\r\n"
        "#SBATCH --nice -5 -H\n#SBATCH hetjob\n#SBATCH --signal='B\n#SBATCH\n#SBATCH # none\n"
    )
    assert texts(script) == [
        (1, "-N 64"),
        (1, "-c16"),
        (1, "--constraint=a b"),
        (1, "--exclusive"),
        (2, "--nice -5"),
        (2, "-H"),
        (3, "hetjob"),
        (4, "--signal='B"),
    ]


def test_what_the_request_states_is_not_left_out() -> None:
    script = (
        "#SBATCH -p big -A lab -q high\n#SBATCH -N64 -G 8 --gres=gpu:8\n#SBATCH -t 1:00:00\n"
        "#SBATCH --mem=0\n#SBATCH -c 16\n#SBATCH --ntasks-per-node 8\n"
    )
    assert len(texts(script)) == 10
    keys = {"partition": "big", "account": "lab", "qos": "high", "nodes": 2, "gpus": "1"}
    rest = [(2, "--gres=gpu:8"), (4, "--mem=0"), (5, "-c 16"), (6, "--ntasks-per-node 8")]
    assert texts(script, **keys, time_limit="1h") == rest
    further = ("--mem=1G", "--cpus-per-task=8", "--ntasks=8")
    assert texts(script, **keys, time_limit="1h", gres="gpu:8", arguments=further) == rest[3:]


def test_what_herorun_sets_in_every_request_is_not_left_out() -> None:
    script = "".join(
        f"#SBATCH {each}\n"
        for each in (
            *("-J train", "--job-name=train", "-o out", "-e err", "--comment=x", "-D /x", "-W"),
            *("--export=ALL", "--open-mode=truncate", "--requeue", "--no-requeue", "--parsable"),
        )
    )
    assert texts(script) == []
    assert texts(script, restarts="backend") == []


@pytest.mark.parametrize(
    "argv",
    [
        ("/usr/bin/sbatch", "train.sh"),
        ("env", "A=1", "sbatch", "train.sh"),
        ("sh", "-c", "sbatch -W train.sh"),
        ("bash", "-lc", "cd jobs&&exec sbatch train.sh"),
        ("bash", "-c", "true | B= /opt/slurm/bin/sbatch"),
        ("bash", "-c", "id=$(sbatch --parsable train.sh)"),
        ("bash", "-c", 'id="$(sbatch --parsable train.sh)"; id=`sbatch train.sh`'),
        ("bash", "-c", "bash train.sh; test $# = 0 && sbatch train.sh"),
        ("bash", "-c", "echo 'a\nb'; sbatch train.sh"),
    ],
)
def test_what_slurm_does_with_a_script_of_a_command_that_submits_is_open(
    argv: tuple[str, ...],
) -> None:
    assert unstated_directives(argv, "#SBATCH -N 64\n", Options()) is None


@pytest.mark.parametrize(
    "argv",
    [
        ("srun", "train.sh"),
        ("bash", "train.sh", "--tag", "sbatch"),
        ("bash", "train.sh", "sbatch; sbatch"),
        ("bash", "-c", "cd /shared/sbatch && bash train.sh"),
        ("bash", "-c", "bash train.sh sbatch"),
        ("bash", "-c", "echo 'submitted; sbatch is not needed'; bash train.sh"),
        ("bash", "-c", "echo 'see\nsbatch'; bash train.sh"),
        ("sbatch.sh", "train.sh"),
    ],
)
def test_the_word_elsewhere_submits_nothing(argv: tuple[str, ...]) -> None:
    assert texts("#SBATCH -N 64\n", argv) == [(1, "-N 64")]
