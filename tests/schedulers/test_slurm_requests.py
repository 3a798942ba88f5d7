"""What sbatch would be given, and what a contract may not ask of it."""

import subprocess
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import ValidationError

from herorun.adapter_declarations import reach
from herorun.core.errors import WrongUse
from herorun.core.evidence import Offered
from herorun.core.ports import Submission
from herorun.schedulers._slurm.limits import parse_offer, partition_argv
from herorun.schedulers._slurm.options import OURS, Options, slurm_time
from herorun.schedulers._slurm.parse import Tag
from herorun.schedulers._slurm.submit import (
    RemotePaths,
    job_id,
    job_script,
    must_be_sound,
    sbatch_argv,
    show_request,
    submit_stdin,
)
from ports.scheduler_suite import WEIRD
from wording import mentions

WHERE = RemotePaths("/code", "/admission.json", "/logs/100%j.log")
JOB = Submission("tiny-1", ("python", "train.py"), "src", {"SEED": "7"}, ("TOKEN",))
TAG = Tag("a" * 16, "b" * 12, 1)
PARTITIONS = """\
PartitionName=debug AllowGroups=ALL Default=YES DefaultTime=00:30:00 MaxTime=01:00:00 Nodes=n[1-2]
PartitionName=big AllowGroups=ALL Default=NO DefaultTime=NONE MaxTime=7-00:00:00 Nodes=n[1-99]
PartitionName=free AllowGroups=ALL Default=NO DefaultTime=NONE MaxTime=UNLIMITED Nodes=n[1-99]
"""


def words(**options: object) -> list[str]:
    return sbatch_argv(JOB, Options(**options), WHERE, TAG)


# --- options --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", OURS)
def test_an_argument_that_herorun_sets_is_refused_however_it_is_written(name: str) -> None:
    for argument in (f"--{name}", f"--{name}=x", f"--{name[:-1]}"):
        with pytest.raises(ValidationError, match=rf"--{name[:-1]}.*(herorun|key)"):
            Options(arguments=(argument,))


@pytest.mark.parametrize(
    "argument", ["-J", "-a1-3", ":", "script.sh", "--mem 1G", "--comment", "--mem=1\n2", ""]
)
def test_an_argument_in_another_form_is_refused(argument: str) -> None:
    with pytest.raises(ValidationError):
        Options(arguments=(argument,))


@pytest.mark.parametrize("argument", ["--partition=x", "--time=1", "--qos=x"])
def test_an_argument_with_a_key_of_its_own_is_told_its_key(argument: str) -> None:
    with pytest.raises(ValidationError, match=rf"{argument.partition('=')[0]}\b.* key"):
        Options(arguments=(argument,))


def test_an_unknown_option_and_one_that_is_no_word_are_refused() -> None:
    for wrong in (
        {"partitions": "x"},
        {"partition": "a b"},
        {"account": "--wrap=x"},
        {"restarts": "yes"},
    ):
        with pytest.raises(ValidationError):
            Options(**wrong)


def test_a_folder_goes_with_a_login_node() -> None:
    assert Options(folder="/shared", host="login").folder == "/shared"


def test_the_jobs_that_it_waits_for_are_known() -> None:
    options = Options(arguments=("--dependency=afterok:12:13,afterany:13,singleton",))
    assert options.dependencies == ("12", "13")


@pytest.mark.parametrize(
    ("limit", "words"),
    [({"minutes": 1}, "0-00:01:00"), ({"days": 2, "hours": 1, "seconds": 5}, "2-01:00:05")],
)
def test_a_time_limit_is_reported_as_slurm_takes_it(limit: dict[str, int], words: str) -> None:
    assert slurm_time(timedelta(**limit)) == words


# --- the request ----------------------------------------------------------------------------------


def test_the_request_whole() -> None:
    fields = {
        "partition": "big",
        "account": "lab",
        "qos": "high",
        "nodes": 2,
        "gres": "gpu:8",
        "time_limit": "1h",
    }
    assert words(**fields, arguments=("--exclusive",)) == [
        "sbatch",
        "--parsable",
        "--job-name=tiny-1",
        f"--comment=herorun {'a' * 16} {'b' * 12} 1",
        "--no-requeue",
        "--open-mode=append",
        "--output=/logs/100%%j.log",
        "--chdir=/code",
        "--export=TOKEN",
        "--partition=big",
        "--account=lab",
        "--qos=high",
        "--nodes=2",
        "--gres=gpu:8",
        "--time=0-01:00:00",
        "--exclusive",
    ]


def test_slurm_starts_it_again_only_where_the_contract_says_so() -> None:
    assert "--no-requeue" in words() and "--requeue" not in words()
    assert "--requeue" in words(restarts="backend") and "--no-requeue" not in words(
        restarts="backend"
    )


def test_what_people_are_shown_names_the_secret() -> None:
    text = show_request(words(), job_script(JOB, WHERE), JOB.secrets, "alpha")
    assert mentions(text, "alpha", "TOKEN", "--parsable")
    assert "exec python train.py\n" in text and "export SEED=7\n" in text


def test_the_script_gives_every_word_as_it_was(tmp_path: Path) -> None:
    """A real shell runs it."""
    (tmp_path / WEIRD).mkdir()
    odd = Submission("tiny-1", ("printf", "%s|", WEIRD, "-n", ""), WEIRD, {"ODD": WEIRD}, ())
    where = RemotePaths(str(tmp_path), "/admission.json", "/log")
    process = subprocess.run(
        ["sh"], input=job_script(odd, where).encode(), capture_output=True, check=True
    )
    assert process.stdout.decode() == f"{WEIRD}|-n||"


def test_a_script_in_a_folder_that_is_not_there_ends_and_says_so() -> None:
    process = subprocess.run(
        ["sh"], input=job_script(JOB, WHERE), capture_output=True, text=True, check=False
    )
    assert process.returncode == 76 and mentions(process.stderr, "/code/src", "node")


def test_an_attempt_is_counted_by_slurms_restarts() -> None:
    submission = Submission("tiny-1", ("printenv", "HERORUN_ATTEMPT"), ".", {}, ())
    for env, attempt in (({}, "1\n"), ({"SLURM_RESTART_COUNT": "2"}, "3\n")):
        script = job_script(submission, RemotePaths("/", "/a", "/l"))
        process = subprocess.run(
            ["sh"],
            input=script,
            env={"PATH": "/usr/bin:/bin", **env},
            capture_output=True,
            text=True,
        )
        assert process.stdout == attempt


def test_neither_argument_nor_file_holds_a_secret() -> None:
    text = submit_stdin(
        ["env", "sbatch"], words(), job_script(JOB, WHERE), WHERE, ".", {"TOKEN": "s3 'cret"}
    ).decode()
    script = text.split("<<")[1]
    assert "export TOKEN='s3 '\"'\"'cret'\n" in text
    assert "s3" not in script and not [word for word in words() if "s3" in word]


@pytest.mark.parametrize(
    "wrong", [{"env": {"A-B": "1"}}, {"secrets": ("A B",)}, {"argv": ("a\0b",)}, {"cwd": "a\r\nb"}]
)
def test_what_no_script_could_hold_is_refused(wrong: dict[str, object]) -> None:
    fields = {
        "instance": "tiny-1",
        "argv": ("true",),
        "cwd": ".",
        "env": {},
        "secrets": (),
        **wrong,
    }
    with pytest.raises(WrongUse):
        must_be_sound(Submission(**fields))


@pytest.mark.parametrize(
    ("answer", "number"),
    [
        ("71\n", "71"),
        ("71;alpha\n", "71"),
        ("hello from a plug-in\n71\n", "71"),
        ("Submitted batch job 71\n", None),
        ("", None),
    ],
)
def test_the_number_of_the_job_is_found(answer: str, number: str | None) -> None:
    assert job_id(answer) == number


# --- what a partition offers ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "limit"),
    [
        ({}, 1800),
        ({"time_limit": "45m"}, 2700),
        ({"time_limit": "2h"}, 3600),
        ({"partition": "big"}, 7 * 86400),
        ({"partition": "free"}, None),
        ({"partition": "free", "time_limit": "1d"}, 86400),
    ],
)
def test_the_shorter_limit_counts(options: dict[str, str], limit: int | None) -> None:
    limits = parse_offer(PARTITIONS, Options(**options))
    assert isinstance(limits, Offered) and limits.time_limit == limit and "QOS" in limits.partial


@pytest.mark.parametrize(
    ("options", "hardware"),
    [
        ({}, {}),
        ({"gpus": "8"}, {"count": 8}),
        ({"gpus": "h100:64", "nodes": 8}, {"count": 64, "accelerator": "h100"}),
        ({"gres": "gpu:8", "nodes": 4}, {"count": 32}),
        ({"gres": "gpu:a100:4"}, {"count": 4, "accelerator": "a100"}),
        ({"gres": "license:2"}, {}),
    ],
)
def test_the_hardware_is_what_is_asked_for(
    options: dict[str, object], hardware: dict[str, object]
) -> None:
    assert parse_offer(PARTITIONS, Options(**options)).hardware == hardware


def test_only_the_partition_that_is_used_is_asked_for() -> None:
    assert partition_argv(Options(partition="big"))[-1] == "big"


def test_behind_a_login_node_the_runs_paths_are_read_there() -> None:
    there = reach("slurm", {"host": "login1", "user": "ada", "partition": "train"})
    assert there and (there.login.host, there.login.user) == ("login1", "ada")
    assert reach("slurm", {"partition": "train"}) is None
