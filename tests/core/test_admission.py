"""What was admitted against what runs, item by item; only a difference fails."""

import math
from datetime import date
from pathlib import Path

import pytest

from herorun.core.admission import FAIL, PASS, UNSEEN, Presented, compare, flatten, refused

ADMISSION = {
    "schema": 1,
    "commit": "3f2a9c1d0e4b5a697887766554433221100ffeed",
    "argv": ["python", "train.py", "--seed", "7"],
    "config": {"trainer": {"steps": 200, "clip": "inf", "drop": "nan", "betas": [0.9, 0.95]}, "seed": 7},
    "config_digests": {"config.toml": "sha256:01"},
    "output_root": "/data/tiny",
    "tracker_id": "tiny",
    "start": None,
    "files": {"train.py": "sha256:02", "model.py": "sha256:03"},
}
HEALTHY = Presented(
    argv=["/usr/bin/python3", "train.py", "--seed", "7"],
    config_digests={"config.toml": "sha256:01"},
    config={"trainer": {"steps": 200, "clip": math.inf, "drop": math.nan, "betas": (0.9, 0.95)}, "seed": 7},
    output_root="/data/tiny/",
    tracker_id="tiny",
    loaded_said=True,
    files_seen=2,
    files_total=2,
)


def item(name, presented=None, admission=None, **changes):
    shown = (presented or HEALTHY)._replace(**changes)
    (found,) = [i for i in compare({**ADMISSION, **(admission or {})}, shown) if i.item == name]
    return found


def test_all_as_admitted_passes():
    items = compare(ADMISSION, HEALTHY)

    assert {i.outcome for i in items} == {PASS}
    assert refused(items) == []


def test_what_is_not_shown_is_unseen_and_does_not_refuse():
    items = compare(ADMISSION, Presented())

    assert {i.outcome for i in items} == {UNSEEN}
    assert refused(items) == []


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


@pytest.mark.parametrize(
    ("argv", "outcome"),
    [
        (["python", "train.py", "--seed", "7"], PASS),
        (["python", "train.py", "--seed", "8"], UNSEEN),
        (["python", "launcher.py"], UNSEEN),
    ],
)
def test_a_command_line_behind_a_launcher(argv, outcome):
    behind = {"argv": ["torchrun", "--nproc", "8", "train.py", "--seed", "7"]}

    assert item("argv", admission=behind, argv=argv).outcome is outcome


@pytest.mark.parametrize("digests", [{"config.toml": "sha256:99"}, {"config.toml": None}, {}])
def test_a_changed_or_missing_config_file_fails_by_name(digests):
    found = item("config", config_digests=digests)

    assert found.outcome is FAIL and "config.toml" in found.message


def config_item(**changes):
    return item("resolved-config", config={**HEALTHY.config, **changes})


def test_a_changed_key_fails_with_both_values():
    found = config_item(seed=8)

    assert (found.outcome, found.message) == (FAIL, "seed is 8, admitted 7")


@pytest.mark.parametrize(
    ("steps", "clip"), [(201, math.inf), (200, -math.inf), (200, 1.0), (200, math.nan), (None, math.inf)]
)
def test_a_nested_key_is_compared(steps, clip):
    assert config_item(trainer={**HEALTHY.config["trainer"], "steps": steps, "clip": clip}).outcome is FAIL


def test_what_the_script_adds_or_leaves_out_is_no_difference():
    assert config_item(extra=1).outcome is PASS
    found = item("resolved-config", config={"seed": 7})
    assert (found.outcome, found.message) == (PASS, "1 keys as admitted, 4 not shown")


def test_a_path_is_compared_as_its_text():
    placed = {"config": {"data": "/data/shards"}}

    assert item("resolved-config", admission=placed, config={"data": Path("/data/shards")}).outcome is PASS
    assert item("resolved-config", admission=placed, config={"data": Path("/data")}).outcome is FAIL


def test_a_time_is_compared_as_its_text():
    dated = {"config": {"day": "2026-01-01"}}

    assert item("resolved-config", admission=dated, config={"day": date(2026, 1, 1)}).outcome is PASS
    assert item("resolved-config", admission=dated, config={"day": date(2026, 1, 2)}).outcome is FAIL


@pytest.mark.parametrize(
    ("root", "outcome"), [("/data/tiny", PASS), ("/data/tiny/", PASS), ("/data/tiny-2", FAIL)]
)
def test_the_output_root(root, outcome):
    assert item("output-root", output_root=root).outcome is outcome


def test_another_tracker_run_fails():
    found = item("tracker-id", tracker_id="tiny-2")

    assert (found.outcome, found.message) == (FAIL, "is tiny-2, admitted tiny")


@pytest.mark.parametrize(
    ("admitted", "loaded", "outcome"),
    [
        (None, None, PASS),
        (None, "/data/tiny/step-100", FAIL),
        ("/data/tiny/step-100", "/data/tiny/step-100/", PASS),
        ("/data/tiny/step-100", "/data/tiny/step-10", FAIL),
        ("/data/tiny/step-100", None, FAIL),
    ],
)
def test_the_start(admitted, loaded, outcome):
    assert item("start", admission={"start": admitted}, loaded=loaded).outcome is outcome


def test_changed_code_fails_by_name_and_commit():
    found = item("code", files={"train.py": "sha256:99", "model.py": None})

    assert found.outcome is FAIL
    assert found.message == "differs from commit 3f2a9c1d0: model.py, train.py"


def test_code_that_was_not_looked_at_is_unseen():
    assert item("code", files_seen=0).outcome is UNSEEN


def test_every_difference_is_named():
    items = compare(ADMISSION, HEALTHY._replace(tracker_id="x", output_root="/x", argv=["python"]))

    assert [i.item for i in refused(items)] == ["argv", "output-root", "tracker-id"]


def test_nested_tables_are_dotted_keys():
    assert flatten({"a": {"b": {"c": 1}}, "d": {}, "e": [1]}) == {"a.b.c": 1, "d": {}, "e": [1]}
