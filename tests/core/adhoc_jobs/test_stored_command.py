"""Resubmit commands as they are stored and executed."""

import pytest

from herorun.core.adhoc_jobs.stored_command import (
    argv_of,
    is_shell,
    missing_secrets,
    must_have_secrets,
    without_secrets,
)
from herorun.core.errors import Blocked, WrongUse
from herorun.core.redaction.scrub import MASK

KEY = "0a1b2c3d4e5f6a7b8c9d0e1f"


@pytest.mark.parametrize(
    ("command", "shell"),
    [
        ("sbatch --wrap 'a && b' job.sh", False),
        ("python train.py sizes=[1,2] model={a:1} --x '$HOME'", False),
        ("cd /w && sbatch job.sh", True),
        ("sbatch job.sh > log", True),
        ("KEY=1 sbatch job.sh", True),
        ('run "$HOME"', True),
        ("run *.py", True),
        ("run ~/job.sh", True),
    ],
)
def test_a_shell_reads_only_what_was_written_for_one(command: str, shell: bool) -> None:
    assert is_shell(command) is shell
    assert (argv_of(command, (), {})[0] == "sh") is shell


@pytest.mark.parametrize(
    ("command", "stored_text", "name"),
    [
        (f"run -e WANDB_API_KEY {KEY}", "run -e WANDB_API_KEY ${WANDB_API_KEY}", "WANDB_API_KEY"),
        (f"run --wandb-token={KEY} go", "run --wandb-token=${OF_MINE} go", "OF_MINE"),
        (f"A_TOKEN={KEY} run", "A_TOKEN=${OF_MINE} run", "OF_MINE"),
    ],
)
def test_a_secret_comes_back_as_it_was(command: str, stored_text: str, name: str) -> None:
    env = {} if name == "WANDB_API_KEY" else {"OF_MINE": KEY}
    assert without_secrets(command, env) == (stored_text, {name: KEY})
    argv = argv_of(stored_text, (name,), {name: KEY})
    assert " ".join(argv[2:] if argv[0] == "sh" else argv) == command


def test_a_value_that_a_shell_would_change_stays_a_reference_for_it() -> None:
    assert argv_of("a && b ${K}", ("K",), {"K": "x; rm y"}) == ["sh", "-c", "a && b ${K}"]
    assert argv_of("b ${K}", ("K",), {"K": "x; rm y"}) == ["b", "x; rm y"]


def test_what_is_missing_is_named_and_a_plain_variable_is_none() -> None:
    command = 'for i in 1 2; do echo $i; done; run "$WANDB_API_KEY"'
    assert missing_secrets(command, ("HF_TOKEN",), {}) == ["HF_TOKEN", "WANDB_API_KEY"]
    assert missing_secrets(command, (), {"WANDB_API_KEY": "x"}) == []


def test_a_secret_without_a_name_is_refused() -> None:
    with pytest.raises(WrongUse, match="export it"):
        without_secrets("run ghp_aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789", {})


@pytest.mark.parametrize("command", ["run ${HF_TOKEN}", f"run --token {MASK}"])
def test_a_command_that_lacks_a_secret_is_not_run(command: str) -> None:
    with pytest.raises(Blocked):
        must_have_secrets(command, ("HF_TOKEN",), {})


def test_a_command_whose_secrets_are_here_is_run() -> None:
    must_have_secrets("run ${HF_TOKEN}", ("HF_TOKEN",), {"HF_TOKEN": KEY})
