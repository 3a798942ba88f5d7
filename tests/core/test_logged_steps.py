"""Messages give the steps that people find in the log, however it counts."""

import re
from dataclasses import replace
from itertools import product

import pytest

from builders import (
    a_checkpoint,
    a_contract,
    a_history,
    a_job,
    a_row,
    an_excursion,
    answer,
    answers,
    some_metrics,
)
from curves import CALM
from herorun.checks.health.loss_spike import loss_spike
from herorun.checks.health.not_finite import not_finite
from herorun.core.check import Gate
from herorun.core.detectors.pipeline import fold_rows, summarise
from herorun.core.detectors.state import MetricsState
from herorun.core.evidence import Checkpoints, FinalStep, JobState, Metrics, Resume
from herorun.core.metric_names import names_of
from herorun.discover import checks
from wording import mentions

ROWS = 700_000  # steps from here on are those of rows; the others in these runs are far below
A_STEP = re.compile(r"(?<!update )\b[7-9]\d{5}\b")  # an update is the number of a subject
SUBJECT = re.compile(r"; the resume is at step \d+ \(update \d+\)")  # where the two differ
BESIDE_CHECKPOINTS = {  # compared with checkpoints or the final step: they count completed updates
    "ended-short",
    "late-checkpoints",
    "missing-artefacts",
    "past-final-step",
    "stalled-checkpoints",
}


@pytest.mark.parametrize("first", [0, 1])
def test_a_contract_that_says_how_the_log_counts(first):
    contract = a_contract(tracker={"kind": "jsonl", "first_step": first})
    losses = [*CALM, *[7.0] * 12, *CALM[:9], float("nan")]
    rows = [a_row(first + index, loss) for index, loss in enumerate(losses)]
    names = names_of(contract)
    metrics = summarise(fold_rows(MetricsState(), rows, names), names)
    facts = (metrics, a_history(), contract)
    spike, *_ = answers(loss_spike, *facts)
    nan = answer(not_finite, *facts)

    assert spike.subject == "loss from step 61" and spike.steps == (61, 72)
    assert mentions(spike.message, f"from step {60 + first},", f"at step {71 + first};")
    assert mentions(nan.message, f"since step {81 + first} ") and nan.steps == (82, 82)
    assert nan.taints_from == 81  # of checkpoints, which count completed updates


class Eventful(Metrics):
    """Has an excursion of every kind that a check asks for."""

    is_open = True

    def of(self, *kinds):
        return tuple(replace(lasting(self.is_open), kind=kind) for kind in kinds)


class Over(Eventful):
    is_open = False


class Calm(Metrics):
    """Has none."""


def lasting(is_open):
    return an_excursion(4_000, 30.0, first=ROWS + 10, is_open=is_open)


def evidence(kind, state, final, first):
    excursions = () if kind is Calm else (lasting(kind.is_open),)
    resume = Resume(
        step=ROWS + 20,
        high_water=ROWS + 19,
        compared=60,
        early=(1.0,) * 5,
        median=1.0,
        worst=2.0,
        worst_step=ROWS + 25,
        worst_new=4.0,
        first_bad_step=ROWS + 22,
        level=2.0,
        rate_before=1.0,
        rate_after=2.0,
    )
    metrics = some_metrics(
        ROWS + 9_000,
        first_step=ROWS + 20,
        last={"train/loss": 2.5},
        spikes=excursions,
        non_finite=excursions,
        lost=() if kind is Calm else ((ROWS + 30, ROWS + 90),),
        resume=resume,
        attempts=2,
        first_logged=first,
    )
    return [
        {Metrics: kind(**vars(metrics))},
        a_contract(tracker={"kind": "jsonl", "first_step": first}),
        a_history(2),
        a_job(state, "tiny-2"),
        FinalStep(final, "runs/tiny.toml"),
        Checkpoints((a_checkpoint(100),)),
    ]


def test_every_check_gives_the_steps_of_rows_as_logged():
    states = JobState.RUNNING, JobState.SUCCEEDED, JobState.FAILED
    health_checks, with_steps = checks(Gate.HEALTH), set()
    for run in product((Eventful, Over, Calm), states, (500, 2 * ROWS)):
        counts, logs = evidence(*run, 1), evidence(*run, 0)
        for check in health_checks:
            less = 0 if check.name in BESIDE_CHECKPOINTS else 1
            pairs = zip(answers(check, *counts), answers(check, *logs), strict=True)
            for updates, rows in pairs:
                assert not SUBJECT.search(updates.message)
                texts = updates.message, SUBJECT.sub("", rows.message)
                steps, numbers = ([int(n) for n in A_STEP.findall(text)] for text in texts)
                with_steps |= {check.name} if steps else set()
                assert numbers == [step - less for step in steps], (check.name, rows)
                assert rows.steps == updates.steps and rows.taints_from == updates.taints_from
                assert rows.subject == updates.subject or check.name == "lost-rows"
    assert len(with_steps) > 30 and with_steps >= BESIDE_CHECKPOINTS
