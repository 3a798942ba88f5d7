from dataclasses import replace
from datetime import timedelta

import pytest

from builders import MINUTE, NOON, ROOT, a_checkpoint, answer
from herorun.checks.health.incomplete_checkpoint import incomplete_checkpoint
from herorun.core.evidence import Checkpoints, Nothing, SaveTime, Unavailable
from herorun.core.finding import Outcome
from wording import mentions

SECOND = timedelta(seconds=1)


def ask_check(age, save=40.0, **changes):
    modified_at = NOON - age if age is not None else None
    half = replace(a_checkpoint(150, problem="no metadata.json"), modified=modified_at, **changes)
    return answer(incomplete_checkpoint, Checkpoints((a_checkpoint(100), half)), SaveTime(save))


def test_complete_ones_pass():
    assert answer(incomplete_checkpoint).outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("age", "save", "outcome"),
    [
        (30 * MINUTE, 40, Outcome.PASS),
        (30 * MINUTE + SECOND, 40, Outcome.FAIL),
        (60 * MINUTE, 1200, Outcome.PASS),
        (60 * MINUTE + SECOND, 1200, Outcome.FAIL),
    ],
)
def test_half_an_hour_or_three_saves(age, save, outcome):
    assert ask_check(age, save).outcome is outcome


def test_it_is_named_by_its_path():
    verdict = ask_check(45 * MINUTE)

    assert verdict.subject == f"{ROOT}/step-150"
    assert mentions(verdict.message, f"{ROOT}/step-150", "45m", "metadata.json")


def test_without_a_save_time_half_an_hour_counts():
    half = replace(a_checkpoint(150, problem="no metadata.json"), modified=NOON - 31 * MINUTE)

    assert (
        answer(incomplete_checkpoint, Checkpoints((half,)), {SaveTime: Nothing()}).outcome
        is Outcome.FAIL
    )


def test_a_store_without_times_and_a_backup_are_no_failure():
    assert ask_check(None).outcome is Outcome.NOT_APPLICABLE
    assert ask_check(90 * MINUTE, alike=True).outcome is Outcome.PASS


def test_a_root_out_of_reach_is_unknown():
    assert (
        answer(incomplete_checkpoint, {Checkpoints: Unavailable("403")}).outcome is Outcome.UNKNOWN
    )
