"""A text without any part of a secret's name is passed over, as the patterns would pass it over."""

from random import Random
from unittest.mock import patch

import pytest

from herorun.core.redaction import key_names
from herorun.core.redaction.key_names import is_secret, mask_named, names_one

WORDS = """
api key Key pass Pass pwd pat secret token TOKEN tokenizer bos author authoris Error Exception
passwd password passphrase credential bearer auth x-amz-signature access private _ - . / = : s3 a
A 1 value is , ' " \\ \u017f \u212a \u0130 \u0131 se\u017fcret to\u212aen credent\u0130al
x-goog-s\u0131gnature hunter2hunter2hunter2 0a1B2c3D4e5F6g7H
"""
PARTS = WORDS.split()
CHARACTERS = "aZ09 _-.:=/\\\"'\n\t\0\u00e9\u017f\u212a\U0001f600"


def a_text(lots: Random) -> list[str]:
    """Up to eight parts, half of them from the table; Hypothesis would take ten times as long."""
    return [
        lots.choice(PARTS)
        if lots.random() < 0.5
        else "".join(lots.choices(CHARACTERS, k=lots.randrange(4)))
        for _ in range(lots.randrange(9))
    ]


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in (1, 2))]
)
def test_what_is_passed_over_without_a_pattern_matches_none(seed: int) -> None:
    """The search for the parts of names saves time, and changes no answer."""
    lots = Random(seed)
    for names, values in [(a_text(lots), a_text(lots)) for _ in range(1000)]:
        for joint in ("", " "):
            name, value = joint.join(names), joint.join(values)
            answers = (mask_named(name + value, "*"), names_one(name), is_secret(name, value))
            with patch.object(key_names, "_has_any", lambda text, parts: True):
                by_patterns = (
                    mask_named(name + value, "*"),
                    names_one(name),
                    is_secret(name, value),
                )
            assert answers == by_patterns, (name, value)


@pytest.mark.parametrize(
    ("text", "masked_text"),
    [
        ("secrets=[WANDB_API_KEY]", "secrets=[WANDB_API_KEY]"),
        ("secrets=[WANDB_API_KEY, HF_TOKEN]]", "secrets=[WANDB_API_KEY, HF_TOKEN]]"),
        ("password=[hunter2hunter2]", "password=[*]"),
        ("password=([hunter2hunter2])", "password=([*])"),
        ("secrets=[[scrubbed]]", "secrets=[[scrubbed]]"),
        ("password=[scrubbed]", "password=[scrubbed]"),
    ],
)
def test_what_opens_a_list_is_no_part_of_a_value(text: str, masked_text: str) -> None:
    assert mask_named(text, "*") == masked_text
