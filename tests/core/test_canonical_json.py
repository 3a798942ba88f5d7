import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from enum import StrEnum

import pytest

from builders import NOON
from herorun.core.canonical_json import canonical, digest, plain, timestamp
from herorun.core.decode import decode
from herorun.core.evidence import Excursion, Sourced


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True)
class Thing:
    b: int
    a: tuple[str, ...]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [True, None]}, '{"a":[true,null],"b":1}'),
        (Thing(1, ("x",)), '{"a":["x"],"b":1}'),
        (Colour.RED, '"red"'),
        ({Colour.RED: 1}, '{"red":1}'),
        ({1: "a"}, '{"1":"a"}'),
        (math.nan, '"nan"'),
        (math.inf, '"inf"'),
        (-math.inf, '"-inf"'),
        (1e22, "1e+22"),
        (0.1, "0.1"),
        (timedelta(minutes=1.5), "90.0"),
        (NOON, '"2026-01-01T12:00:00Z"'),
        (b"ab\xff", '"ab\\\\xff"'),
        ("é🤖", '"\\u00e9\\ud83e\\udd16"'),
        (frozenset({"b", "a"}), '["a","b"]'),
        ({10, 9}, "[10,9]"),  # by their text: an order, and always the same
    ],
)
def test_one_value_has_one_text(value, text):
    assert canonical(value) == text


def test_a_set_of_anything_has_one_order():
    members = [("loss", 3), ("loss", 20), ("blind", 1)]

    assert (
        canonical(set(members))
        == '[["blind",1],["loss",20],["loss",3]]'
        == canonical({*reversed(members)})
    )


def test_a_time_is_in_utc_whatever_its_zone():
    berlin = timezone(timedelta(hours=1))

    assert timestamp(datetime(2026, 1, 1, 13, tzinfo=berlin)) == timestamp(NOON)
    assert timestamp(datetime(2026, 1, 1, 12, 0, 0, 5, tzinfo=UTC)) == "2026-01-01T12:00:00.000005Z"


def test_a_time_without_a_zone_is_refused():
    with pytest.raises(ValueError, match=r"time.*zone"):
        timestamp(datetime(2026, 1, 1))  # noqa: DTZ001  # a naive time is the case


def test_what_has_no_form_is_refused():
    with pytest.raises(TypeError, match=r"canonical.*form"):
        canonical({"x": object()})


def test_the_digest_is_the_texts():
    assert digest({"b": 1, "a": 2}) == digest({"a": 2, "b": 1})
    assert digest({}) == "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"


@pytest.mark.parametrize("value", [Thing(1, ("x", "y")), Thing(-1, ())])
def test_a_value_can_be_read_back(value):
    assert decode(Thing, plain(value)) == value


def test_reading_back_names_the_field_that_does_not_fit():
    with pytest.raises(ValueError, match="b"):
        decode(Thing, {"b": "x", "a": []})


def test_non_finite_numbers_survive():
    spike = Excursion(
        metric="loss", first_step=1, last_step=2, rows=2, peak=math.inf, expected=2.0, open=True
    )

    assert decode(Excursion, plain(spike)) == spike


def test_sourced_says_where_a_value_is_from():
    assert (
        str(Sourced(5155, "trainer.num_train_steps", inferred=True))
        == "5155 (inferred from trainer.num_train_steps)"
    )
    assert str(Sourced(5155, "runs/tiny.toml")) == "5155 (runs/tiny.toml)"
    assert str(Sourced(5155, "")) == "5155"
