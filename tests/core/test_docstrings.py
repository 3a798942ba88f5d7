import doctest

import pytest

from herorun.core import docstrings
from herorun.core.docstrings import unwrap


@pytest.mark.parametrize(
    "text",
    [
        "",
        "One line.",
        "One.\n\nTwo.",
        "A list:\n- one\n- two",
        "Steps:\n1. one\n2. two",
        "A table:\n| a | b |\n| 1 | 2 |",
        "Code:\n    one\n    two",
        "Code:\n```\none\ntwo\n```",
        "Problem.\n\nWhy: one.\nFix: two.\nSource: three.",
    ],
)
def test_what_is_laid_out_by_lines_keeps_them(text):
    assert unwrap(text) == text


def test_a_paragraph_becomes_one_line():
    assert unwrap("a\nb\nc\n\nd\ne\n") == "a b c\n\nd e\n"


def test_the_example_holds():
    assert doctest.testmod(docstrings).failed == 0
