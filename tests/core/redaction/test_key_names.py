"""A text without any part of a secret's name is passed over, as the patterns would pass it over."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from herorun.core.redaction import key_names
from herorun.core.redaction.key_names import is_secret, mask_named, names_one

WORDS = """
api key Key pass Pass pwd pat secret token TOKEN tokenizer bos author authoris Error Exception
passwd password passphrase credential bearer auth x-amz-signature access private _ - . / = : s3 a
A 1 value is , ' " \\ \u017f \u212a \u0130 \u0131 se\u017fcret to\u212aen credent\u0130al
x-goog-s\u0131gnature hunter2hunter2hunter2 0a1B2c3D4e5F6g7H
"""
PARTS = st.sampled_from(WORDS.split())
TEXTS = st.lists(st.one_of(PARTS, st.text(max_size=3)), max_size=8)


@settings(max_examples=1500, deadline=None)
@given(TEXTS, TEXTS)
def test_what_is_passed_over_without_a_pattern_matches_none(
    names: list[str], values: list[str]
) -> None:
    """The search for the parts of names saves time, and changes no answer."""
    for joint in ("", " "):
        name, value = joint.join(names), joint.join(values)
        answers = (mask_named(name + value, "*"), names_one(name), is_secret(name, value))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(key_names, "_has_any", lambda text, parts: True)
            by_patterns = (mask_named(name + value, "*"), names_one(name), is_secret(name, value))
        assert answers == by_patterns
