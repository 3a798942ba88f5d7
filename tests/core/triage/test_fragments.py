"""The few lines of a large text that may hold a word."""

import pytest
from hypothesis import given, strategies as st

from herorun.core.triage import prefilter
from herorun.core.triage.fragments import FragmentFilter
from herorun.core.triage.prefilter import LinePrefilter
from herorun.signatures import load_signature_set

QUIET = b"2026-01-01 step 17 loss 2.5\n" * 2000
STEMS = ("|inf|", "|nan", "room|", "out of memory", 'file "', "http 40", "::~", "timed out")
LINE = st.lists(
    st.sampled_from([
        *(stem.strip("|") for stem in STEMS), "INF", "nans", "o", "Out Of Mem", "ORY", "b", " ",
        "_", "1", "=", "é", "\x1b[0m", "\x08", '{"', "\\n", "\r",
    ])
).map("".join)  # fmt: skip


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """As behind the first MiB of a log."""
    monkeypatch.setattr(prefilter, "MANY", 0)


SMALL, LARGE = LinePrefilter(STEMS), LinePrefilter(STEMS)
LARGE.starts(b" " * prefilter.MANY)


@given(st.lists(LINE, max_size=3), st.lists(LINE, max_size=3))
def test_few_lines_are_those_that_are_found_in_all(before: list[str], behind: list[str]) -> None:
    for filter_ in (LARGE._fragments, LARGE._fragments_at_edges):
        filter_._pause = 0  # whatever the example before
    block = "\n".join(before).encode() + b"\n" + QUIET + "\n".join(behind).encode()
    assert LARGE.starts(block) == SMALL._starts_in(block)


@pytest.mark.parametrize("kind", ["plain", "wrapped", "coloured", "foreign"])
@pytest.mark.usefixtures("large")
def test_no_keyword_is_passed_over(kind: str) -> None:
    """Of all that are shipped, in upper and lower case, each in a block of its own."""
    line = {
        "plain": "it says {} here",
        "wrapped": '{{"message": "it says {} here"}}',
        "coloured": "it says\x1b[0m {} here",
        "foreign": "é it says {} here",
    }[kind]
    signature_set = load_signature_set()
    sieve = LinePrefilter(tuple(k for each in signature_set.signatures for k in each.keywords))
    for signature in signature_set.signatures:
        for keyword in signature.keywords:
            text = line.format(keyword.strip("|").title()).encode()
            assert sieve.starts(QUIET + text) == [len(QUIET)], keyword


def test_a_text_without_the_words_has_no_lines() -> None:
    words = FragmentFilter([b"inf", b"exhausted"], [b"inf"])
    info = b"[INFO] an inference\n" * 1000
    assert words.lines(info) == []
    assert words.lines(info + b"loss=Inf") == [(len(info), len(info) + 8)]
    assert words.lines(b"inf\n" + info) == [(0, 3)]


def test_where_most_lines_hold_one_the_search_pauses() -> None:
    words = FragmentFilter([b"exhausted"])
    assert words.lines(b"exhausted\n" * 1000) is None
    answers = [words.lines(QUIET) for _ in range(40)]
    assert answers[0] is None and answers[-1] == []
