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
from herorun.core.evidence import (
    Checkpoints,
    JobLog,
    Nothing,
    Receipt,
    TrackerIdentity,
    TrackerState,
    Unavailable,
)
from herorun.core.finding import Outcome
from wording import mentions


def failing_answers(*changes):
    """What fails of its sources."""
    return [v for v in answers(output_moved, *changes) if v.outcome is Outcome.FAIL]


def agreeing(*changes):
    """The sources that show the recorded root, when none shows another one."""
    assert not failing_answers(*changes)
    return {v.subject for v in answers(output_moved, *changes)} - {"contract"}


def config(values):
    return TrackerIdentity(state=TrackerState.RUNNING, config=values)


def test_the_recorded_root_passes():
    assert not failing_answers() and not failing_answers(a_contract(output={"root": f"{ROOT}/"}))
    assert answer(output_moved, a_history(0)).outcome is Outcome.NOT_APPLICABLE


def test_another_root_in_the_contract():
    (verdict,) = failing_answers(a_contract(output={"root": "/data/other"}))

    assert verdict.subject == "contract"
    assert mentions(verdict.message, "reads", "/data/other", "tiny-1", "/data/tiny")


def test_a_receipt_can_only_agree_because_another_root_is_refused():
    texts = (("output-root", "fail", "is /data/tiny-99752407, but /data/tiny was admitted"),)

    assert not failing_answers(a_receipt(outcome="fail", items=texts))
    assert "receipt" in agreeing(a_receipt(items=(("output-root", "pass", "is as planned"),)))
    assert "receipt" not in agreeing(a_receipt("tiny-9", items=(("output-root", "pass", "is"),)))


@pytest.mark.parametrize(
    "result",
    [
        {"output_dir": "/data/tiny-99752407"},
        {"trainer": {"checkpointer": {"base_path": "gs://bucket/tiny-99752407/checkpoints"}}},
    ],
)
def test_another_root_in_the_trackers_config(result):
    assert [v.subject for v in failing_answers(config(result))] == ["tracker"]


@pytest.mark.parametrize(
    ("result", "agrees"),
    [
        ({}, False),
        ({"output_dir": "checkpoints"}, False),
        ({"output_dir": ROOT}, True),
        ({"trainer": {"checkpointer": {"base_path": f"{TEMPORARY}/checkpoints"}}}, True),
        ({"output_dir": "/data", "eval": {"output_dir": "/scratch/eval"}}, True),
        ({"eval": {"output_dir": "/scratch/eval"}}, False),
        ({"output_dir": ROOT, "save_dir": "/elsewhere"}, True),
    ],
)
def test_a_config_that_fits_or_says_nothing(result, agrees):
    assert ("tracker" in agreeing(config(result))) is agrees


def saves(*paths):
    return JobLog(saves=paths)


def test_another_root_in_the_jobs_own_log():
    (verdict,) = failing_answers(saves(f"{ROOT}/step-1", "/data/tiny-99752407/step-2"))

    assert verdict.subject == "log"
    assert mentions(verdict.message, "log", "/data/tiny-99752407/step-2", "/data/tiny")


@pytest.mark.parametrize(
    ("paths", "agrees"),
    [
        ((), False),
        (("/data/old/step-1", f"{ROOT}/step-2"), True),
        ((f"{TEMPORARY}/step-2",), True),
        (("gs://b/tiny/step-2",), False),
    ],
)
def test_a_log_that_fits_or_says_nothing(paths, agrees):
    before = Checkpoints((replace(a_checkpoint(100), modified=NOON.replace(hour=9)),))

    assert ("log" in agreeing(saves(*paths), before)) is agrees


def test_a_source_that_was_not_read_shows_nothing():
    for absent in (Nothing(), Unavailable("503")):
        sources = (Receipt, TrackerIdentity, JobLog, Checkpoints)
        assert agreeing(dict.fromkeys(sources, absent)) == set()


def test_one_that_saves_in_its_root_too_has_not_moved():
    here = Checkpoints((replace(a_checkpoint(100), modified=NOON),))
    before = Checkpoints((replace(a_checkpoint(100), modified=NOON.replace(hour=9)),))

    assert "log" in agreeing(saves("/scratch/step-2"), here)
    assert failing_answers(saves("/scratch/step-2"), before)


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
