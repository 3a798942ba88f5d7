import math

import pytest

from builders import a_history, answer, some_metrics
from herorun.checks.health.untrained_start import untrained_start
from herorun.checks.health.weights_reset import weights_reset
from herorun.core.check import Response
from herorun.core.evidence import Metrics, Nothing, PriorLaunch, SourceLoss, Unavailable
from herorun.core.finding import Outcome
from wording import mentions

START = "/data/base/step-3541"
FRESH = (10.9, 10.7, 10.4, 10.1)  # ln 50257 = 10.82
LOADED_LOSSES = (2.45, 2.41, 2.43, 2.40)
BASE = SourceLoss("base", FRESH, 2.4)


def a_launch(config=None, path=START):
    start = {"path": path, "step": 3541, "kind": "weights-only"} if path else None
    return PriorLaunch("tiny-1", {"start": start, "config": config or {}})


LM = a_launch({"model": {"vocab_size": 50257}})


def first_rows(*losses):
    return some_metrics(40, first_step=1, opening=losses)


def test_the_loss_of_untrained_weights_is_recognised_by_the_vocabulary():
    verdict = answer(untrained_start, LM, first_rows(*FRESH))

    assert verdict.outcome is Outcome.FAIL and untrained_start.response is Response.WARN
    assert mentions(verdict.message, "10.53", "10.82", "ln", "model.vocab_size = 50257", START)


def test_the_padded_vocabulary_counts():
    config = {"model": {"vocab_size": 200}, "args": {"padded_vocab_size": 50304}}

    assert (
        "padded_vocab_size = 50304"
        in answer(untrained_start, a_launch(config), first_rows(*FRESH)).message
    )


def test_a_level_far_above_the_other_runs_is_reported_where_no_vocabulary_is_named():
    verdict = answer(untrained_start, a_launch(), first_rows(5.1, 5.0, 4.9, 5.0), BASE)

    assert verdict.outcome is Outcome.FAIL
    assert mentions(verdict.message, "5", "base", "2.4", f"{START}", "+108%")


@pytest.mark.parametrize(
    "what",
    [
        (LM, first_rows(*LOADED_LOSSES), BASE),  # as loaded
        (a_launch(), first_rows(3.4, 3.3, 3.2, 3.1), BASE),  # other data
        (LM, first_rows(*FRESH[:3]), BASE),  # too early
        (a_launch(path=None), first_rows(*FRESH), BASE),  # from scratch, as planned
        (LM, first_rows(*FRESH), a_history(2)),  # a later instance starts from the run's own
        (LM, first_rows(9e4, 9e4, 9e4, 9e4)),  # a sum, and no mean over tokens
        (a_launch({"model": {"vocab_size": "auto"}}), first_rows(*FRESH)),
        (LM, {Metrics: Nothing()}),
        (LM, first_rows(*FRESH), SourceLoss("base", FRESH, 9.9)),  # as its weights would give
    ],
)
def test_nothing_else_is_reported_and_nothing_passes(what):
    assert answer(untrained_start, *what).outcome is Outcome.NOT_APPLICABLE


def test_the_first_rows_of_the_other_run_once_more_are_critical():
    verdict = answer(weights_reset, LM, first_rows(*(loss * 1.02 for loss in FRESH)), BASE)

    assert verdict.outcome is Outcome.FAIL and weights_reset.response is Response.ESCALATE
    assert mentions(verdict.message, "not loaded", "2.4")


@pytest.mark.parametrize(
    "what",
    [
        (LM, first_rows(*LOADED_LOSSES), BASE),
        (LM, first_rows(*FRESH), SourceLoss("base", FRESH[:2], 2.4)),
        (LM, first_rows(*FRESH), SourceLoss("base", (math.nan, *FRESH[1:]), 2.4)),
        (LM, first_rows(*FRESH), Unavailable("damaged")),
        (a_launch(path=None), first_rows(*FRESH), BASE),
        (
            LM,
            first_rows(*FRESH),
            SourceLoss("base", FRESH, 9.9),
        ),  # it had learned nothing: so would its weights
        (LM, first_rows(*FRESH), SourceLoss("base", FRESH)),
    ],
)
def test_other_rows_are_no_second_beginning(what):
    assert answer(weights_reset, *what).outcome is Outcome.PASS
