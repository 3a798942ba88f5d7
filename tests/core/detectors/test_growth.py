"""What is known to grow before a loss diverges, by columns that some trainers log."""

import math
from random import Random

import pytest

from builders import a_row
from curves import excursions_of
from herorun.core.detectors.names import Names, precursor_of

UP = [10.0 + 0.1 * i for i in range(400)]


def growth_of(name, numbers, noise=0.0):
    lots = Random(3)
    rows = [
        a_row(i, 2.0, **{name: number * math.exp(lots.gauss(0, noise))})
        for i, number in enumerate(numbers)
    ]
    return excursions_of(rows, "growth", names=Names())


@pytest.mark.parametrize(
    ("name", "direction"),
    [
        ("train/max_attention_logit", 1),
        ("max-attn-logit/layer 3", 1),
        ("optim/rms_g2_over_v", 1),
        ("optim/update_rms", 1),
        ("grad_clipped_fraction", 1),
        ("router/max_load", 1),
        ("router/entropy", -1),
        ("fraction_of_clipped_steps", 1),
        ("completions/clipped_ratio", 0),  # answers that were cut off
        ("train/clip_fraction", 0),  # of a policy's ratio, in reinforcement learning
        ("entropy", 0),
        ("loss", 0),
    ],
)
def test_a_column_is_known_by_its_name(name, direction):
    assert precursor_of(name) == direction


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_linear_growth_is_found(noise):
    (growth,) = growth_of("max_attention_logit", UP, noise)

    assert growth.first_step <= 175 and growth.metric == "max_attention_logit"


@pytest.mark.parametrize(
    "numbers",
    [
        [10.0] * 400,
        [10.0 + 30 * (1 - math.exp(-i / 40)) for i in range(400)],  # saturates
        list(reversed(UP)),
        [10.0 + 0.002 * i for i in range(400)],  # hardly moves
        [0.0] * 400,
    ],
)
def test_what_saturates_or_stands_is_left_alone(numbers):
    assert not growth_of("max_attention_logit", numbers)


def test_noise_alone_is_no_growth():
    assert not growth_of("update_rms", [1.0] * 3000, noise=0.3)


def test_an_entropy_falls():
    assert growth_of("router/entropy", [2.0 - 0.003 * i for i in range(400)])
    assert not growth_of("router/entropy", [1.0 + 0.01 * i for i in range(400)])


def test_slow_growth_is_found():
    (growth,) = growth_of("max_attention_logit", [10.0 + 0.01 * i for i in range(4000)], 0.05)

    assert growth.open


def test_what_rises_with_the_learning_rate_is_left_alone():
    rows = [a_row(i, 2.0, update_rms=1.0 + 0.1 * i, lr=1e-6 * (1 + i)) for i in range(400)]

    assert not excursions_of(rows, "growth", names=Names())
