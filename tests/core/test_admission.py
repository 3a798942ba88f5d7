"""What was admitted against what runs, item by item; only a difference fails."""

import argparse
import dataclasses
import enum
import math
import types
from collections import UserDict, namedtuple
from datetime import date
from pathlib import Path

import numpy as np
import pydantic
import pytest

from herorun.core.admission import (
    FAIL,
    PASS,
    UNKNOWN,
    JobFacts,
    compare,
    digest_secret,
    list_refused_items,
)
from wording import mentions

ADMISSION = {
    "schema": 1,
    "commit": "3f2a9c1d0e4b5a697887766554433221100ffeed",
    "argv": ["python", "train.py", "--seed", "7"],
    "config": {
        "trainer": {"steps": 200, "clip": "inf", "drop": "nan", "betas": [0.9, 0.95]},
        "seed": 7,
    },
    "config_digests": {"config.toml": "sha256:01"},
    "output_root": "/data/tiny",
    "tracker_id": "tiny",
    "start": None,
    "files": {"train.py": "sha256:02", "model.py": "sha256:03"},
}
HEALTHY = JobFacts(
    argv=["/usr/bin/python3", "train.py", "--seed", "7"],
    main=True,
    config_digests={"config.toml": "sha256:01"},
    config={
        "trainer": {"steps": 200, "clip": math.inf, "drop": math.nan, "betas": (0.9, 0.95)},
        "seed": 7,
    },
    output_root="/data/tiny/",
    tracker_id="tiny",
    loaded_said=True,
    files_seen=2,
    files_total=2,
    modules_seen=2,
)


def item(name, presented_facts=None, admission=None, **changes):
    facts = (presented_facts or HEALTHY)._replace(**changes)
    (admission_item,) = [
        i for i in compare({**ADMISSION, **(admission or {})}, facts) if i.item == name
    ]
    return admission_item


@pytest.mark.parametrize(
    ("installed_packages", "outcome"),
    [
        ({"torch": "2.4.0+cu121", "numpy": "2.0.0"}, PASS),
        ({"torch": "2.4.1", "numpy": "2.0"}, FAIL),
        ({"torch": None, "numpy": "2.0"}, FAIL),
        ({"torch": "2.4"}, FAIL),
        (None, UNKNOWN),
    ],
)
def test_the_packages_of_the_job_against_the_admitted_ones(installed_packages, outcome):
    admission = {"packages": {"torch": "2.4", "numpy": "2.0"}}
    answer = item("packages", admission=admission, packages=installed_packages)
    assert answer.outcome is outcome
    if outcome is FAIL:
        assert ("torch is" in answer.message) is (installed_packages["torch"] != "2.4")
        assert ("numpy is" in answer.message) is ("numpy" not in installed_packages)


def test_all_as_admitted_passes():
    items = compare(ADMISSION, HEALTHY)

    assert {i.outcome for i in items} == {PASS}
    assert list_refused_items(items) == []


def test_what_is_not_shown_is_unseen_and_does_not_refuse():
    items = compare(ADMISSION, JobFacts())

    assert {i.outcome for i in items} == {UNKNOWN}
    assert list_refused_items(items) == []


def test_a_secret_on_the_command_line_is_compared_by_its_digest_and_never_said():
    secret = "hf_" + "aB3d" * 9
    texts = ["python", "train.py", digest_secret(secret), "--seed", "7"]
    assert (
        item(
            "argv", admission={"argv": texts}, argv=["python3", "train.py", secret, "--seed", "7"]
        ).outcome
        is PASS
    )
    other = item(
        "argv",
        admission={"argv": texts},
        argv=["python", "train.py", secret, "--seed", "8"],
        main=True,
    )
    assert other.outcome is FAIL and secret not in other.message and "sha256" not in other.message
    assert (
        item(
            "argv",
            admission={"argv": texts},
            argv=["python", "train.py", secret + "x", "--seed", "7"],
            main=True,
        ).outcome
        is FAIL
    )


@pytest.mark.parametrize(
    ("argv", "outcome"),
    [
        (["python3.11", "train.py", "--seed", "7"], PASS),
        (["train.py", "--seed", "7"], PASS),
        (["python", "train.py", "--seed", "8"], FAIL),
        (["python", "train.py", "--seed", "7", "--lr", "1"], FAIL),
        (["python", "other.py", "--seed", "7"], FAIL),
        (["python", "train.py"], FAIL),
        (["python", "--seed", "7", "train.py"], FAIL),
    ],
)
def test_the_command_line(argv, outcome):
    assert item("argv", argv=argv).outcome is outcome


ELASTIC = [
    "python",
    "-m",
    "torch.distributed.run",
    "--nproc-per-node",
    "8",
    "train.py",
    "--seed",
    "7",
]


@pytest.mark.parametrize(
    ("target", "words", "outcome"),
    [
        (ELASTIC, ["/usr/bin/python3", "-u", "train.py", "--seed", "7"], PASS),
        (ELASTIC, ["python", "train.py", "--seed", "7"], PASS),
        (ELASTIC, ["python", "train.py", "--seed", "8"], UNKNOWN),
        (
            ["torchrun", "train.py", "--seed", "7"],
            ["python", "-u", "train.py", "--seed", "7"],
            PASS,
        ),
        (["srun", "python", "train.py"], ["python", "train.py"], PASS),
        (["python", "launcher.py"], ["python", "t.py"], UNKNOWN),
        (
            ["python", "train.py"],
            ["python", "-c", "from multiprocessing.spawn import spawn_main"],
            UNKNOWN,
        ),
    ],
)
def test_a_command_line_behind_a_launcher_is_never_a_difference(target, words, outcome):
    admission_item = item("argv", admission={"argv": target}, argv=words, main=False)

    assert admission_item.outcome is outcome
    assert outcome is PASS or str(words) in admission_item.message


@pytest.mark.parametrize("words", [["python", "-u", "t.py"], ["python", "train.py", "--seed", "7"]])
def test_the_submitted_process_itself_runs_what_was_admitted(words):
    assert item("argv", admission={"argv": ELASTIC}, argv=words, main=True).outcome is FAIL


def test_a_submitted_shell_that_becomes_python_is_no_difference():
    shell = {"argv": ["sh", "-c", "exec python train.py"]}

    assert item("argv", admission=shell, argv=["python", "train.py"], main=True).outcome is UNKNOWN


@pytest.mark.parametrize("digests", [{"config.toml": "sha256:99"}, {"config.toml": None}, {}])
def test_a_changed_or_missing_config_file_fails_by_name(digests):
    admission_item = item("config", config_digests=digests)

    assert admission_item.outcome is FAIL and "config.toml" in admission_item.message


def config_item(**changes):
    return item("resolved-config", config={**HEALTHY.config, **changes})


def test_a_changed_key_fails_with_both_values():
    admission_item = config_item(seed=8)

    assert admission_item.outcome is FAIL and mentions(admission_item.message, "seed", "8", "7")


@pytest.mark.parametrize(
    ("steps", "clip"),
    [(201, math.inf), (200, -math.inf), (200, 1.0), (200, math.nan), (None, math.inf)],
)
def test_a_nested_key_is_compared(steps, clip):
    assert (
        config_item(trainer={**HEALTHY.config["trainer"], "steps": steps, "clip": clip}).outcome
        is FAIL
    )


def test_what_the_script_adds_or_leaves_out_is_no_difference():
    assert config_item(extra=1).outcome is PASS
    admission_item = item("resolved-config", config={"seed": 7})
    assert admission_item.outcome is PASS and mentions(admission_item.message, "1", "admitted", "4")


def test_a_path_is_compared_as_its_text():
    path_config = {"config": {"data": "/data/shards"}}

    assert (
        item(
            "resolved-config", admission=path_config, config={"data": Path("/data/shards")}
        ).outcome
        is PASS
    )
    assert (
        item("resolved-config", admission=path_config, config={"data": Path("/data")}).outcome
        is FAIL
    )


def test_a_time_is_compared_as_its_text():
    dated_config = {"config": {"day": "2026-01-01"}}

    assert (
        item("resolved-config", admission=dated_config, config={"day": date(2026, 1, 1)}).outcome
        is PASS
    )
    assert (
        item("resolved-config", admission=dated_config, config={"day": date(2026, 1, 2)}).outcome
        is FAIL
    )


@pytest.mark.parametrize(
    ("root", "outcome"), [("/data/tiny", PASS), ("/data/tiny/", PASS), ("/data/tiny-2", FAIL)]
)
def test_the_output_root(root, outcome):
    assert item("output-root", output_root=root).outcome is outcome


def test_another_tracker_run_fails():
    admission_item = item("tracker-id", tracker_id="tiny-2")

    assert admission_item.outcome is FAIL and mentions(admission_item.message, "tiny-2", "tiny")


@pytest.mark.parametrize(
    ("admitted_start", "loaded_start", "outcome"),
    [
        (None, None, PASS),
        (None, "/data/tiny/step-100", FAIL),
        ("/data/tiny/step-100", "/data/tiny/step-100/", PASS),
        ("/data/tiny/step-100", "/data/tiny/step-10", FAIL),
        ("/data/tiny/step-100", None, FAIL),
    ],
)
def test_the_start(admitted_start, loaded_start, outcome):
    assert (
        item("start", admission={"start": admitted_start}, loaded=loaded_start).outcome is outcome
    )


def test_changed_code_fails_by_name_and_commit():
    admission_item = item("code", files={"train.py": "sha256:99", "model.py": None})

    assert admission_item.outcome is FAIL
    assert mentions(admission_item.message, "differs", "3f2a9c1d0", "model.py", "train.py")


def test_code_that_was_not_looked_at_is_unseen():
    assert item("code", files_seen=0).outcome is UNKNOWN
    assert item("code", files_seen=1) == ("code", PASS, "1 of 2 files as admitted")


def test_every_difference_is_named():
    items = compare(ADMISSION, HEALTHY._replace(tracker_id="x", output_root="/x", argv=["python"]))

    assert [i.item for i in list_refused_items(items)] == ["argv", "output-root", "tracker-id"]


# --- a config of any kind -------------------------------------------------------------------------


@dataclasses.dataclass
class Trainer:
    steps: int = 200
    clip: float = math.inf
    act: object = len


class Model(pydantic.BaseModel):
    trainer: Trainer
    seed: int = 7


class Plain:
    def __init__(self, **values):
        self.__dict__.update(values)


class Slotted:
    __slots__ = ("seed",)


class Kind(enum.Enum):
    ADAM = 1


def of_every_kind(trainer, seed):
    table = {"trainer": trainer, "seed": seed}
    return [
        table,
        argparse.Namespace(**table),
        types.SimpleNamespace(**table),
        Plain(**table),
        UserDict(table),
        namedtuple("Config", table)(**table),
        Model.model_construct(**table),
        dataclasses.make_dataclass("Config", table)(**table),
        {"trainer.steps": trainer.steps, "trainer.clip": trainer.clip, "seed": seed},
    ]


@pytest.mark.parametrize("number", range(9))
def test_a_config_of_any_kind_is_compared(number):
    def compare_config(trainer, seed):
        return item("resolved-config", config=of_every_kind(trainer, seed)[number])

    assert mentions(compare_config(Trainer(), 7).message, "3 keys", "admitted", "2 not")
    assert compare_config(Trainer(), np.int64(7)).outcome is PASS
    assert compare_config(Trainer(), 8).outcome is FAIL
    assert mentions(
        compare_config(Trainer(steps=np.int32(201)), 7).message, "trainer.steps", "201", "200"
    )


@pytest.mark.parametrize(
    ("target", "value", "outcome"),
    [
        (0.1, np.float32(0.1), PASS),
        (0.1, np.float32(0.2), FAIL),
        (200, np.int64(200), PASS),
        (200, 200.0, PASS),
        (200, "200", FAIL),
        ("1e-3", 0.001, PASS),
        ("1e-3", 0.002, FAIL),
        ("adam", 3, FAIL),
        (True, np.bool_(True), PASS),
        (True, 1, FAIL),
        (0, False, FAIL),
        (None, None, PASS),
        (None, 0, FAIL),
        (0, None, FAIL),
        ([1, [2, 3]], (1, (2, 3)), PASS),
        ([1, [2, 3]], np.array([[1, 2]]), FAIL),
        ([1, [2, 3]], (1, (2, 4)), FAIL),
        ([1, 2], [1, 2, 3], FAIL),
        ([1, 2], np.array([1, 2]), PASS),
        ([{"lr": 1}], [types.SimpleNamespace(lr=1, more=2)], PASS),
        ([{"lr": 1}], [types.SimpleNamespace(lr=2)], FAIL),
        ("adam", Kind.ADAM, PASS),
        (1, Kind.ADAM, PASS),
        ("sgd", Kind.ADAM, FAIL),
        ({"a": 1}, None, FAIL),
        ({"a": 1}, 1, FAIL),
        (1, {"a": 1}, FAIL),
        ({"a": {"b": 1}}, {"a": {"b": 2}}, FAIL),
        ("relu", len, UNKNOWN),
        ("relu", Slotted(), UNKNOWN),
        ("bf16", types.SimpleNamespace(bits=16), UNKNOWN),
        ("x", b"x", UNKNOWN),
    ],
)
def test_values_are_compared_sensibly(target, value, outcome):
    assert (
        item("resolved-config", admission={"config": {"k": target}}, config={"k": value}).outcome
        is outcome
    )


@pytest.mark.parametrize(
    "config",
    [{}, {"Seed": 7}, {"trainer": {}}, argparse.Namespace(), Slotted(), 7, "config.toml", [1], len],
)
def test_nothing_in_common_is_unseen_and_never_a_pass(config):
    assert item("resolved-config", config=config).outcome is UNKNOWN


def test_a_config_that_raises_is_unseen_in_words():
    reason = "missing mandatory value"

    class Broken(UserDict):
        def __getitem__(self, key):
            raise RuntimeError(reason)

    admission_item = item("resolved-config", config=Broken(seed=7))

    assert admission_item.outcome is UNKNOWN and reason in admission_item.message


def test_what_holds_itself_is_no_endless_walk():
    table = Plain(seed=7)
    table.trainer = table

    assert item("resolved-config", config=table).outcome is PASS


def test_a_value_that_cannot_be_compared_is_named_and_hides_no_difference():
    admission = {"config": {"act": "relu", "seed": 7}}

    uncompared_item = item("resolved-config", admission=admission, config={"act": len, "seed": 7})
    assert uncompared_item.outcome is not FAIL and mentions(
        uncompared_item.message, "act", "builtin"
    )
    assert (
        item("resolved-config", admission=admission, config={"act": len, "seed": 8}).outcome is FAIL
    )


def test_files_that_could_not_be_read_are_unseen_and_named():
    unread_files = {"config.toml": "Input/output error", "model.py": "Permission denied"}

    config = item("config", unread=unread_files, config_digests={"config.toml": None})
    code = item("code", unread=unread_files)
    assert (config.outcome, code.outcome) == (UNKNOWN, UNKNOWN)
    assert "config.toml: Input/output error" in config.message
    assert mentions(code.message, "1 of", "2 files", "admitted")
    assert "model.py: Permission denied" in code.message


def test_a_path_object_is_the_text_that_it_was_made_from():
    from pathlib import Path

    admission = {"config": {"data": "shards/web/"}}
    assert (
        item("resolved-config", admission=admission, config={"data": Path("shards/web/")}).outcome
        is PASS
    )
    assert (
        item("resolved-config", admission=admission, config={"data": Path("shards/code/")}).outcome
        is FAIL
    )
