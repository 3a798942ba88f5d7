"""Which variables of a shell reach the training."""

from pathlib import Path

import pytest

from herorun.core.environment import (
    MACHINE,
    NEVER,
    TRAINERS,
    admissible,
    from_shell,
    is_machines,
    is_set_elsewhere,
    of_plan,
)
from wording import mentions

TOKEN = "0123456789abcdef0123456789abcdef01234567"
SHELL = {
    "XLA_FLAGS": "--a",
    "HF_HOME": "/data/hf",
    "WANDB_API_KEY": TOKEN,
    "PACK": "8",
    "PATH": "/usr/bin",
    "JAX_PROCESS_ID": "3",
    "CUDA_VISIBLE_DEVICES": "0,1",
    "SLURM_JOB_ID": "7",
    "LD_PRELOAD": "/evil.so",
}


def test_of_a_shell_only_what_trainers_read_goes_into_the_plan():
    values, withheld_names = from_shell(SHELL, (), (), is_local=True)

    assert values == {"XLA_FLAGS": "--a", "HF_HOME": "/data/hf", "CUDA_VISIBLE_DEVICES": "0,1"}
    assert [*withheld_names] == ["WANDB_API_KEY"]
    assert mentions(withheld_names["WANDB_API_KEY"], "secret", "[command] secrets")


def test_a_path_of_this_machine_means_nothing_on_another():
    values, withheld_names = from_shell(
        SHELL, ("WANDB_API_KEY",), ("*_VISIBLE_DEVICES",), is_local=False
    )

    assert values == {"XLA_FLAGS": "--a"}
    assert list(withheld_names) == ["HF_HOME"]


@pytest.mark.parametrize("value", ["two\nlines", "odd \udcff bytes", "a\0b"])
def test_what_no_record_could_hold_is_withheld(value):
    values, withheld_names = from_shell({"XLA_FLAGS": value}, (), (), is_local=True)

    assert (values, list(withheld_names)) == ({}, ["XLA_FLAGS"])


def test_a_record_gives_no_variable_that_a_shell_could_not():
    recorded_values = {
        "XLA_FLAGS": "--a",
        "LD_PRELOAD": "/evil.so",
        "PYTHONSTARTUP": "/evil.py",
        "PATH": "/evil",
    }

    assert of_plan(recorded_values) == {"XLA_FLAGS": "--a"}
    assert of_plan(None) == {}


@pytest.mark.parametrize("name", ["PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH"])
def test_what_a_program_needs_at_all_is_the_machines(name):
    assert is_machines(name) and is_set_elsewhere(name) and not admissible(name)


@pytest.mark.parametrize(
    "name", ["HERORUN_START", "SLURM_JOB_ID", "RAY_ADDRESS", "RANK", "GIT_DIR", "PACK"]
)
def test_nothing_else_is_passed_on(name):
    assert not is_machines(name) and not admissible(name)


def test_what_the_scheduler_sets_by_itself_is_not_planned():
    assert admissible("CUDA_VISIBLE_DEVICES")
    assert not admissible("CUDA_VISIBLE_DEVICES", ("*_VISIBLE_DEVICES",))


def test_the_lists_are_documented():
    page = (Path(__file__).parents[2] / "docs" / "contract.md").read_text()

    assert [glob for glob in (*TRAINERS, *MACHINE, *NEVER) if f"`{glob}`" not in page] == []
