"""What differs between two launches."""

import pytest

from builders import a_contract, a_plan
from herorun.core.config.diff import diff, diff_launches, without_volatile
from herorun.core.contract import Config, KeyClass
from wording import mentions


def changes_of(before, after, config=None):
    return [str(change) for change in diff(before, after, config or Config())]


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ({"trainer": {"seed": 7}}, {"trainer": {"seed": 8}}, ["trainer.seed: 7 -> 8 (trajectory)"]),
        ({}, {"seed": 8}, ["seed: absent -> 8 (trajectory)"]),
        ({"seed": 8}, {}, ["seed: 8 -> absent (trajectory)"]),
        ({"x": 1}, {"x": None}, ["x: 1 -> None (unclassified)"]),
        (
            {"x": {"y": 1}},
            {"x": 1},
            ["x: absent -> 1 (unclassified)", "x.y: 1 -> absent (unclassified)"],
        ),
        ({"a": {"b": 1}}, {"a.b": 1.0}, []),
        ({"lr": "1e-3", "b": (1, 2)}, {"lr": 0.001, "b": [1, 2]}, []),
        ({"x": "${now:%H}"}, {"x": "${now:%M}"}, ["x: '${now:%H}' -> '${now:%M}' (volatile)"]),
        ({"x": "${now:%H}"}, {"x": "noon"}, ["x: '${now:%H}' -> 'noon' (unclassified)"]),
        ({"m": [{"w": 1}]}, {"m": [{"w": 2}]}, ["m.0.w: 1 -> 2 (unclassified)"]),
    ],
)
def test_each_difference_in_one_line(before, after, words):
    assert changes_of(before, after) == words


LAUNCH = {
    "config": {"seed": 7},
    "argv": ["python", "train.py", "--lr", "1e-3"],
    "resume_argv": [],
    "env": {"NCCL_DEBUG": "INFO"},
    "data": {"mix.json": "generation:1"},
}


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("argv", ["python", "train.py", "--lr=0.001"], []),
        (
            "argv",
            ["python", "train.py", "--lr", "2e-3"],
            ["argv.lr: '1e-3' -> '2e-3' (trajectory)"],
        ),
        (
            "argv",
            ["python", "other.py", "--lr", "1e-3"],
            ["argv.1: 'train.py' -> 'other.py' (unclassified)"],
        ),
        ("env", {"NCCL_DEBUG": "WARN"}, ["env.NCCL_DEBUG: 'INFO' -> 'WARN' (operational)"]),
        ("env", {}, ["env.NCCL_DEBUG: 'INFO' -> absent (operational)"]),
        (
            "data",
            {"mix.json": "generation:2"},
            ["data.mix.json: 'generation:1' -> 'generation:2' (trajectory)"],
        ),
        # a resume command line that is new is measured by what ran
        ("resume_argv", ["python", "train.py", "--lr", "1e-3", "--from", "{start}"], []),
        ("resume_argv", ["python", "train.py", "--lr", "1e-3", "--from={start}"], []),
        (
            "resume_argv",
            ["python", "train.py", "--lr", "9", "--from", "{start}"],
            ["resume_argv.lr: '1e-3' -> '9' (trajectory)"],
        ),
        ("commit", "abc", []),
    ],
)
def test_each_part_of_a_launch(field, value, words):
    assert [str(c) for c in diff_launches(LAUNCH, {**LAUNCH, field: value}, Config())] == words


def test_a_plan_does_not_differ_from_itself():
    plan = a_plan(config={"a": [1, (2, 3)], "nan": float("nan"), "t": {}})

    assert diff_launches(plan.values, plan.values, Config()) == ()


@pytest.mark.parametrize(
    ("kind", "steers"),
    [(None, True), (KeyClass.TRAJECTORY, True), (KeyClass.RESUME_BREAKING, False)],
)
def test_unclassified_counts_as_trajectory(kind, steers):
    (change,) = diff({"q": 1}, {"q": 2}, Config(classes={"q": kind} if kind else {}))
    assert change.steers is steers


# --- volatile keys --------------------------------------------------------------------------------

PRINTED_CONFIG = {
    "run": {"started": "12:00", "seed": 7},
    "stamp": {"at": 1},
    "mix": [{"name": "web", "at": 1}],
}


def test_volatile_keys_leave_with_the_tables_that_they_emptied():
    record, dropped_keys = without_volatile(
        PRINTED_CONFIG, Config(volatile=["run.started", "*.at"])
    )

    assert record == {"run": {"seed": 7}, "mix": [{"name": "web"}]}
    assert dropped_keys == ("run.started", "stamp.at", "mix.0.at")


def test_without_any_the_config_stays_whole():
    assert without_volatile({**PRINTED_CONFIG, "none": {}}, Config()) == (
        {**PRINTED_CONFIG, "none": {}},
        (),
    )


def test_two_plans_that_differ_in_a_volatile_key_are_one_plan_and_say_what_was_left_out():
    contract = a_contract(config={"volatile": ["run.started"]})
    one, other = (
        a_plan(contract, config={"run": {"started": at, "seed": 7}}) for at in ("12:00", "12:01")
    )

    assert one.digest == other.digest and one.config.value == {"run": {"seed": 7}}
    assert mentions(one.config.source, "config.toml", "volatile", "run.started")
    assert one.digest != a_plan(contract, config={"run": {"started": "12:00", "seed": 8}}).digest


def test_without_volatile_keys_a_plan_keeps_its_digest():
    classes = a_contract(config={"classes": {"seed": "operational"}})

    assert a_plan(classes).digest == a_plan().digest
