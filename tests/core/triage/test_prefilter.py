"""Many words at once, and what stands at their edges."""

import pytest
from hypothesis import given, strategies as st

from core.triage.judged import judge_text, judged_training
from herorun.core.triage import prefilter
from herorun.core.triage.prefilter import KeywordFilter, LinePrefilter
from herorun.core.triage.progress import step_lines

STEMS = ("nan", "an", "out of", "oom")
TEXT = st.lists(
    st.sampled_from(["nan", "a", "n", "OUT OF", "of", "room", " ", "\n", "é", "1", "-", "=", "_"])
).map("".join)


@given(TEXT)
def test_the_lines_with_a_stem_are_found_and_no_others(text: str) -> None:
    block, at, target = text.encode(), 0, []
    for line in block.split(b"\n"):
        if any(stem.encode() in line.lower() for stem in STEMS):
            target.append(at)
        at += len(line) + 1
    assert LinePrefilter(STEMS).starts(block) == target


def test_the_automaton_of_long_texts_finds_the_same() -> None:
    block = b"a loss of nan\nanother line\nout of memory\n" * 100
    for sieve in (LinePrefilter(STEMS), LinePrefilter(("|nan|", *STEMS[1:]))):
        first = sieve.starts(block)
        for _ in range(prefilter.FEW // len(block) + 1):
            assert sieve.starts(block) == first


@given(TEXT)
def test_a_stem_with_an_edge_hides_none_that_it_overlaps(text: str) -> None:
    stems, block, at, target = ("|an|", "nano", "room", "=nan"), text.encode(), 0, []
    alone = KeywordFilter([stems])
    for line in block.split(b"\n"):
        if alone.rows(line.decode("utf-8")):
            target.append(at)
        at += len(line) + 1
    assert LinePrefilter(stems).starts(block) == target


@given(TEXT, st.sampled_from(["", '{"step": 1}\n', "a colour\x1b[0m\n"]))
def test_a_word_without_its_edge_hides_no_stem_behind_it(text: str, disguise: str) -> None:
    """Whatever the lines around it hold."""
    stems, block, at, target = ("|an|", "of"), f"{disguise}{text}".encode(), 0, []
    alone = KeywordFilter([stems])
    for line in block.split(b"\n"):
        if alone.rows(line.decode("utf-8")):
            target.append(at)
        at += len(line) + 1
    assert LinePrefilter(stems).starts(block) == target


@pytest.mark.parametrize(
    ("line", "is_shown"),
    [
        (b"an INFO of it", False),
        (b"INFO: inf", True),
        (b'{"message": "it is\\ninf"}', True),
        (b"a colour\x1b[0minf", True),
    ],
)
def test_an_edge_may_be_hidden(line: bytes, is_shown: bool) -> None:
    for before in (b"quiet\n", b"INFO\n" * 100):
        starts = LinePrefilter(("|inf|",)).starts(before + line + b"\ninfo")
        assert starts == ([len(before)] if is_shown else [])


def test_a_word_that_holds_a_stem_is_not_looked_at_in_each_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(prefilter, "_has_edges", None)  # it fails where it is called
    info = b"[INFO] trainer: step 1\n" * 100
    assert LinePrefilter(("|inf|", "nan")).starts(info + b"loss=inf\n" + info) == [len(info)]


def test_a_long_line_is_tested_once_for_what_it_hides(monkeypatch: pytest.MonkeyPatch) -> None:
    """A progress bar redraws its line thousands of times."""
    tested_lengths: list[int] = []

    def is_candidate(line: bytes) -> bool:
        tested_lengths.append(len(line))
        return b'{"' in line

    monkeypatch.setattr(prefilter, "_is_disguised", is_candidate)
    redrawn = b"Running inference: 34%\r" * 1000
    block = b"quiet\n" + redrawn + b'\n{"a": "\\ninf"}\n' + redrawn
    assert LinePrefilter(("|inf|",)).starts(block) == [len(b"quiet\n") + len(redrawn) + 1]
    assert sum(tested_lengths) < 5 * len(block)


@pytest.mark.parametrize(
    ("keyword", "rows"),
    [
        ("nan", ["nan", "finance", "nanny", "loss=nan,", "Hunan nan"]),
        ("|nan", ["nan", "nanny", "loss=nan,", "Hunan nan"]),
        ("nan|", ["nan", "loss=nan,", "Hunan nan"]),
        ("|nan|", ["nan", "loss=nan,", "Hunan nan"]),
    ],
)
def test_a_bar_stands_for_the_edge_of_a_word(keyword: str, rows: list[str]) -> None:
    gate = KeywordFilter([[keyword]])
    texts = ["nan", "finance", "nanny", "loss=nan,", "Hunan nan", "nan_count nans", "n a n"]
    matches = [text for text in texts if gate.rows(text)]
    assert [text for text in matches if text != "nan_count nans"] == rows
    assert matches == [text for text in texts if gate.opens(text.encode())]


def test_a_word_that_overlaps_another_is_found() -> None:
    assert KeywordFilter([["memory"], ["out of memory"], ["of mem"], ["absent"]]).rows(
        "OUT OF MEMORY"
    ) == [
        0,
        1,
        2,
    ]


def test_what_a_terminal_hides_is_looked_at() -> None:
    gate = KeywordFilter([["memory"]], ("error",))
    assert gate.opens(b"an Error") and gate.opens(b"mem\x1b[0mory") and not gate.opens(b"mem ory")
    assert gate.rows("an error") == []


@pytest.mark.parametrize(
    "line", [b"step: 3", b"Global_Step 4", b"iteration 5", b"epoch[6]", b"num_updates=7", b"8/9 ["]
)
def test_no_step_is_missed(line: bytes) -> None:
    assert step_lines(b"quiet\n" + line + b"\n") == [6]


def test_digits_in_an_address_are_no_answer_of_a_server() -> None:
    assert (
        judged_training("see https://example.org/pull/403 and https://example.org/38401").failure
        == "benign"
    )
    assert judge_text("requests: HTTP Error 403: Forbidden").failure == "storage-auth"
