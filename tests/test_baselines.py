import math

import pytest
from benchmarks.baselines import RULES, alarms

from curves import curve
from herorun.core.ports import Row


def rows(*losses):
    return iter([Row(i, {"loss": loss}) for i, loss in enumerate(losses)])


WAVY = [2.0 + 0.01 * math.sin(i) for i in range(200)]


@pytest.mark.parametrize("name", RULES)
def test_a_calm_curve_is_quiet(name):
    assert alarms(name, rows(*WAVY)) == []


@pytest.mark.parametrize(
    ("name", "height", "row"),
    [
        ("llm-foundry KillLossSpike", 4.2, 204),
        ("OLMo StabilityMonitor", 3.0, 200),
        ("Marin floor rule", 3.0, 219),
        ("W&B z-score", 3.0, 200),
    ],
)
def test_each_complains_of_a_spike_at_its_own_row(name, height, row):
    (first, *_) = alarms(name, rows(*WAVY, *[height] * 40, *WAVY[:60]))

    assert first.row == row and first.until_row is not None


@pytest.mark.parametrize(
    ("name", "count"), [("Marin floor rule", 1), ("llm-foundry KillLossSpike", 0)]
)
def test_not_all_of_them_know_a_loss_that_is_no_number(name, count):
    assert len(alarms(name, rows(*WAVY, math.nan))) == count


def test_a_curve_without_a_loss_is_quiet():
    assert alarms("W&B z-score", iter(curve(*WAVY))) == []
