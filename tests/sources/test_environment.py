"""What of the launching shell reaches the training, read from a real shell and a real checkout."""

import pytest

from builders import a_contract
from herorun.core.admission import digest_with_salt
from herorun.core.evidence import ImportClosure, Nothing, PriorLaunch, WorkTree
from herorun.sources.environment import read_code_flags, read_environment
from herorun.sources.import_closure import read_import_closure
from stories import Story

NEW = Nothing("nothing was launched yet")


class Here:
    """A scheduler of this machine, as the adapters without any word about it are."""


class Cluster:
    reach = "cluster"
    sets = ("NCCL_*",)


def test_a_shell_as_schedulers_take_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"XLA_FLAGS": "--a", "NCCL_DEBUG": "INFO", "HF_HOME": "/hf"}.items():
        monkeypatch.setenv(name, value)

    here = read_environment(a_contract(), Here(), NEW).values
    there = read_environment(a_contract(), Cluster(), NEW).values

    assert {"XLA_FLAGS", "NCCL_DEBUG", "HF_HOME"} <= here.keys()
    assert there["XLA_FLAGS"] == "--a" and not {"NCCL_DEBUG", "HF_HOME"} & there.keys()


def test_a_secret_with_another_value_is_reported_by_its_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("A_TOKEN", "new")
    monkeypatch.setenv("B_TOKEN", "same")
    contract = a_contract(command={"secrets": ["A_TOKEN", "B_TOKEN"]})
    prior = PriorLaunch(
        "tiny-1",
        {},
        secrets={
            "A_TOKEN": digest_with_salt("old", "5a"),
            "B_TOKEN": digest_with_salt("same", "5b"),
        },
    )

    environment = read_environment(contract, Here(), prior)

    assert environment.changed_secrets == ("A_TOKEN",)


def test_the_flags_of_the_whole_closure(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    (story.work / "train.py").write_text(
        'import os, model\nos.environ["HOME"], os.environ["RANK"]\n'
    )
    (story.work / "model.py").write_text(
        'from os import getenv\nPACK = getenv("PACK")\nKEY = getenv("MY_TOKEN")\n'
    )
    (story.work / "other.py").write_text('import os\nos.environ["NOT_OURS"]\n')
    story.sign(command={"argv": ["python", "train.py"]})
    monkeypatch.setenv("PACK", "8")
    monkeypatch.setenv("MY_TOKEN", "correct-horse-battery")
    run = story.run
    closure = read_import_closure(run.repository, run.contract, WorkTree(commit="HEAD"))

    code_flags = read_code_flags(run.repository, closure, run.scheduler)

    assert [str(flag) for flag in code_flags.flags] == [
        "MY_TOKEN (model.py:3)",
        "PACK (model.py:2)",
    ]
    assert code_flags.here == {"PACK": "8", "MY_TOKEN": "[scrubbed]"}


def test_a_file_that_is_gone_reads_nothing(story: Story) -> None:
    run = story.run

    assert (
        read_code_flags(run.repository, ImportClosure(frozenset({"gone.py"})), run.scheduler).flags
        == ()
    )
