"""Gates, pairing and what a window did not put to the test, by literals."""

import math

import pytest

from herorun.core.compare.gate import parse_gate
from herorun.core.compare.join import pair
from herorun.core.compare.operand import Operand, list_unexercised_parts
from herorun.core.compare.verdict import ComparisonAnswer, compare
from wording import mentions

STEPS = range(100)
FLAT = dict.fromkeys(STEPS, 2.0)
WORSE = {**FLAT, 50: 2.5}


def a_side(name="a", loss=None, **curves):
    further = curves.pop("values", {})
    return Operand(
        name=name, values={"train/loss": FLAT if loss is None else loss, **further}, **curves
    )


def answer(gate, loss, window=(None, None), **curves):
    return compare(a_side(), a_side("b", loss, **curves), [parse_gate(gate)], window=window).answer


@pytest.mark.parametrize(
    ("gate", "loss", "target"),
    [
        # one bad step of a hundred is 0.25 % of the mean
        ("loss mean <= +0.5%", WORSE, ComparisonAnswer.GO),
        ("loss mean <= 0.004", WORSE, ComparisonAnswer.NO_GO),
        ("loss largest <= 20%", WORSE, ComparisonAnswer.NO_GO),
        ("loss largest within 0.5", WORSE, ComparisonAnswer.GO),
        ("loss median within 0", WORSE, ComparisonAnswer.GO),
        ("loss largest >= -1%", WORSE, ComparisonAnswer.GO),  # a rise is no fall
        ("loss mean >= +1%", FLAT, ComparisonAnswer.NO_GO),
        ("loss mean <= 1e9", {**FLAT, 7: math.nan}, ComparisonAnswer.NO_GO),
        ("router/z_loss mean <= 0", FLAT, ComparisonAnswer.UNKNOWN),
    ],
)
def test_a_gate_has_a_direction_and_a_size(gate, loss, target):
    assert answer(gate, loss) is target


@pytest.mark.parametrize(
    "text", ["loss", "loss mean < 1", "loss mode <= 1", "loss mean <= x", "loss mean within -1"]
)
def test_what_is_no_gate(text, notice):
    with pytest.raises(ValueError, match=r"gate|within") as error:
        parse_gate(text)
    assert str(error.value) == notice


def test_without_a_gate_nothing_is_judged():
    assert compare(a_side(), a_side("b", WORSE)).answer is ComparisonAnswer.UNJUDGED


def test_the_differences_are_b_less_a():
    pairing = pair("loss", FLAT, {**WORSE, 60: 1.0}, 0, 99)

    assert (pairing.rise, pairing.fall, pairing.largest, pairing.largest_step) == (
        0.5,
        -1.0,
        -1.0,
        60,
    )
    assert (pairing.mean, pairing.median, pairing.equal, pairing.first_difference) == (
        pytest.approx(-0.005),
        0.0,
        98,
        50,
    )
    assert (pairing.rise_percent, pairing.fall_percent) == (25.0, -50.0)


def test_steps_of_one_alone_are_counted_and_not_paired():
    pairing = pair("loss", {1: 1.0, 2: 1.0}, {2: 1.0, 3: 1.0, 4: 1.0}, 0, 9)

    assert (pairing.pairs, pairing.only_a, pairing.only_b) == (1, 1, 2)


def test_where_a_is_broken_b_is_not_judged():
    comparison = compare(
        a_side(loss={**FLAT, 3: math.inf}), a_side("b"), [parse_gate("loss largest within 0")]
    )

    assert comparison.answer is ComparisonAnswer.GO
    assert comparison.metrics[0].not_finite_a == 1 and any(
        "not judged" in note for note in comparison.notes
    )


def test_a_difference_from_nothing_is_more_than_any_percentage():
    pairing = pair("skipped", {1: 0.0, 2: 0.0}, {1: 0.0, 2: 1.0}, 0, 9)

    assert pairing.rise_percent == math.inf and pairing.fall_percent == 0.0
    assert pairing.percent("mean") == math.inf


def test_a_window_that_b_has_not_reached_is_no_go_and_no_no_go():
    assert answer("loss mean within 1%", FLAT, window=(0, 200)) is ComparisonAnswer.UNKNOWN
    # broken already
    assert answer("loss mean <= -1%", FLAT, window=(0, 200)) is ComparisonAnswer.NO_GO


def test_the_last_row_before_the_window_ends_is_its_end():
    every_ten = dict.fromkeys(range(0, 100, 10), 2.0)

    comparison = compare(
        a_side(loss=every_ten),
        a_side("b", every_ten),
        [parse_gate("loss mean within 1%")],
        window=(0, 95),
    )
    assert comparison.answer is ComparisonAnswer.GO


def test_curves_without_a_common_step():
    comparison = compare(a_side(), a_side("b", {500: 2.0}))

    assert comparison.answer is ComparisonAnswer.UNKNOWN and mentions(
        comparison.notes[0], "step", "both"
    )


def test_each_side_has_its_own_name_for_the_loss():
    comparison = compare(a_side(), Operand(name="b", values={"loss": FLAT}))

    assert comparison.metrics[0].pairs == 100


def unexercised_names(side, first=10, last=90):
    return {line.partition(":")[0] for line in list_unexercised_parts(side, first, last)}


RATE = {"lr": {step: 1e-3 - step * 1e-6 for step in STEPS}}
FULL = {
    "values": {**RATE, "eval/loss": {40: 2.0}},
    "attempts": {1: (0, 60), 2: (50, 99)},
    "permanent_every": 50,
}


def test_a_window_that_puts_all_to_the_test():
    assert unexercised_names(a_side(**FULL)) == set()


@pytest.mark.parametrize(
    ("change", "missing"),
    [
        ({"attempts": {1: (0, 99)}}, "restart"),
        ({"attempts": {1: (12, 99)}}, "restart"),  # its first attempt is no restart
        ({"attempts": None}, "restart"),
        ({"permanent_every": 1000}, "checkpoint"),
        ({"permanent_every": None}, "checkpoint"),
        ({"values": {**RATE, "eval/loss": {95: 2.0}}}, "eval"),
        ({"values": {"eval/loss": {40: 2.0}}}, "learning rate"),
        ({"values": {"eval/loss": {40: 2.0}, "lr": dict.fromkeys(STEPS, 1e-3)}}, "learning rate"),
        ({"phases": (("decay", 500),)}, "phase 'decay'"),
    ],
)
def test_what_a_window_did_not_put_to_the_test(change, missing):
    assert unexercised_names(a_side(**{**FULL, **change})) == {missing}


def test_a_median_is_in_percent_of_its_own():
    half = {step: 2.0 if step < 60 else 8.0 for step in STEPS}
    pairing = pair("loss", half, {step: value * 1.5 for step, value in half.items()}, 0, 99)
    assert pairing.percent("median") == pytest.approx(50)
    assert pairing.percent("mean") == pytest.approx(50)


def test_a_word_of_ours_is_the_name_that_the_trainer_uses():
    side = a_side(values={"optim/learning_rate": FLAT})
    assert side.column("lr") == "optim/learning_rate"


def test_a_window_that_begins_one_step_before_a_curve_is_not_covered():
    gate, late = "loss mean <= +0.5%", dict.fromkeys(range(1, 100), 2.0)
    assert answer(gate, late, window=(0, 99)) is ComparisonAnswer.UNKNOWN
    assert answer(gate, late, window=(1, 99)) is ComparisonAnswer.GO
