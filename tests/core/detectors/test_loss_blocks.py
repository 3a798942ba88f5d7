"""Rows of a loss that are followed in blocks leave the state that they leave one by one."""

import math
from random import Random

import pytest

from herorun.core.detectors import loss_blocks, steady
from herorun.core.detectors.loss import judge_loss
from herorun.core.detectors.loss_state import LossState

FALLING_LOSSES = [4.0 * 0.97**row for row in range(60)]  # then a level of 0.65
ODD = {
    "none": lambda losses: None,
    "raised": lambda losses: scale(losses, 1500, 3000, 1.05),
    "shifted": lambda losses: scale(losses, 1500, 3000, 1.3),
    "spike": lambda losses: scale(losses, 1500, 1501, 2.0),
    "elevated": lambda losses: scale(losses, 1500, 1502, 1.12),
    "the same twice": lambda losses: losses.__setitem__(1500, losses[1499]),
    "zero": lambda losses: losses.__setitem__(1500, 0.0),
    "slow": lambda losses: [scale(losses, row, row + 1, 1 + row / 5e4) for row in range(900, 3000)],
    "saturated": lambda losses: losses.__setitem__(slice(1500, 3000), [87.3365] * 1500),
}


def scale(losses, first, end, factor):
    losses[first:end] = [factor * loss for loss in losses[first:end]]


def a_curve(seed, noise):
    lots = Random(seed)
    levels = FALLING_LOSSES + [FALLING_LOSSES[-1]] * 2940
    return [level * math.exp(lots.gauss(0, noise)) for level in levels]


def blocks_of(monkeypatch):
    """The numbers of rows that the blocks follow from now on."""
    follow_block, counts = loss_blocks.follow_block, []

    def counting(state, steps, losses, first, end):
        after = follow_block(state, steps, losses, first, end)
        counts.append(after - first)
        return after

    monkeypatch.setattr(steady, "follow_block", counting)
    return counts


@pytest.mark.parametrize("noise", [0.003, 0.01, 0.04])
@pytest.mark.parametrize("odd", ODD)
def test_the_state_is_the_same(monkeypatch, odd, noise):
    losses = a_curve(7, noise)
    ODD[odd](losses)
    steps, counts = range(1, len(losses) + 1), blocks_of(monkeypatch)
    single, many = LossState(), LossState()
    for step, loss in zip(steps, losses, strict=True):
        judge_loss(single, step, loss, fresh=True, is_declared=False, boundary=False)
    for first in range(0, len(losses), 700):
        part = slice(first, first + 700)
        steady.judge_losses(many, steps[part], losses[part])
    assert many == single
    assert sum(counts) > 500


def test_most_rows_of_a_calm_curve_are_followed_in_blocks(monkeypatch):
    losses, counts = a_curve(1, 0.01), blocks_of(monkeypatch)
    steady.judge_losses(LossState(), range(len(losses)), losses)
    assert sum(counts) > 0.8 * len(losses)
