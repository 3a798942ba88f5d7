from dataclasses import replace

import pytest

from builders import (
    NOON,
    ROOT,
    TEMPORARY,
    a_checkpoint,
    a_contract,
    a_history,
    a_receipt,
    answer,
    answers,
)
from herorun.checks.health.output_moved import output_moved
from herorun.core.check import Response
from herorun.core.config.output_keys import output_paths
from herorun.core.evidence import Checkpoints, JobLog, TrackerIdentity, TrackerState
from herorun.core.finding import Outcome
from wording import mentions


def config(values):
    return TrackerIdentity(TrackerState.RUNNING, config=values)


def test_the_recorded_root_passes():
    assert answer(output_moved).outcome is Outcome.PASS
    assert answer(output_moved, a_contract(output={"root": f"{ROOT}/"})).outcome is Outcome.PASS
    assert answer(output_moved, a_history(0)).outcome is Outcome.NOT_APPLICABLE


def test_another_root_in_the_contract():
    verdict = answer(output_moved, a_contract(output={"root": "/data/other"}))

    assert (verdict.outcome, verdict.subject) == (Outcome.FAIL, "contract")
    assert mentions(verdict.message, "reads", "/data/other", "tiny-1", "/data/tiny")


def test_check_ins_own_finding_counts():
    texts = (("output-root", "fail", "is /data/tiny-99752407, admitted /data/tiny"),)

    assert answer(output_moved, a_receipt(items=texts)).subject == "receipt"
    assert answer(output_moved, a_receipt("tiny-9", items=texts)).outcome is Outcome.PASS


@pytest.mark.parametrize(
    "result",
    [
        {"output_dir": "/data/tiny-99752407"},
        {"trainer": {"checkpointer": {"base_path": "gs://bucket/tiny-99752407/checkpoints"}}},
    ],
)
def test_another_root_in_the_trackers_config(result):
    verdict = answer(output_moved, config(result))

    assert (verdict.outcome, verdict.subject) == (Outcome.FAIL, "tracker")


@pytest.mark.parametrize(
    "result",
    [
        {},
        {"output_dir": "checkpoints"},
        {"output_dir": ROOT},
        {"trainer": {"checkpointer": {"base_path": f"{TEMPORARY}/checkpoints"}}},
        {"output_dir": "/data", "eval": {"output_dir": "/scratch/eval"}},
        {"eval": {"output_dir": "/scratch/eval"}},
        {"output_dir": ROOT, "save_dir": "/elsewhere"},
    ],
)
def test_a_config_that_fits_or_says_nothing(result):
    assert [v.outcome for v in answers(output_moved, config(result))] == [Outcome.PASS]


def saves(*paths):
    return JobLog(saves=paths)


def test_another_root_in_the_jobs_own_log():
    verdict = answer(output_moved, saves(f"{ROOT}/step-1", "/data/tiny-99752407/step-2"))

    assert (verdict.outcome, verdict.subject) == (Outcome.FAIL, "log")
    assert mentions(verdict.message, "saves", "/data/tiny-99752407/step-2", "/data/tiny")


@pytest.mark.parametrize(
    "paths",
    [(), ("/data/old/step-1", f"{ROOT}/step-2"), (f"{TEMPORARY}/step-2",), ("gs://b/tiny/step-2",)],
)
def test_a_log_that_fits_or_says_nothing(paths):
    assert answer(output_moved, saves(*paths)).outcome is Outcome.PASS


def test_one_that_saves_in_its_root_too_has_not_moved():
    here = Checkpoints((replace(a_checkpoint(100), modified=NOON),))
    before = Checkpoints((replace(a_checkpoint(100), modified=NOON.replace(hour=9)),))

    assert answer(output_moved, saves("/scratch/step-2"), here).outcome is Outcome.PASS
    assert answer(output_moved, saves("/scratch/step-2"), before).outcome is Outcome.FAIL


def test_only_absolute_paths_below_the_runs_own_tables_count():
    fields = {
        "train": {"save_dir": "/a/"},
        "eval": {"save_dir": "/b"},
        "save_folder": "s3://c",
        "output_dir": "d",
    }

    assert output_paths(fields) == {"train.save_dir": "/a", "save_folder": "s3://c"}


def test_it_asks_a_person_and_holds_a_relaunch_back():
    assert output_moved.response is Response.ESCALATE
    assert output_moved.vetoes_relaunch
