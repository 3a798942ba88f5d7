"""Whatever the bytes are and however they are cut."""

import time
from itertools import pairwise

import pytest
from hypothesis import given, settings, strategies as st

from core.triage.cases import CASES
from core.triage.judged import judge_text, scan_text
from herorun.core.triage.scan import MAX_LINE, Scan, finish, scan
from herorun.signatures import load_signature_set

OOM = b"CUDA out of memory"
PIECES = [text.encode() for _, text in CASES] + [
    b"\r",
    b"\n\n",
    b"\0",
    b"\xff\xfe",
    b"".join(b"step %d loss 2\n" % n for n in range(30)),
    b"x" * (MAX_LINE + 7),
]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=8), st.lists(st.integers(0, 60_000), max_size=6))
def test_how_the_bytes_are_cut_changes_nothing(pieces: list[bytes], cuts: list[int]) -> None:
    names, data = load_signature_set(), b"\n".join(pieces)
    state, matches = Scan(), []
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    for begin, end in pairwise(edges):
        state, some = scan(names, state, data[begin:end])
        matches += some
    state, rest = finish(names, state)
    assert (state, matches + rest) == scan_text(data, names)
    assert state.offset == len(data)


@pytest.mark.parametrize("block", [1, 2, 7])
def test_byte_by_byte_is_as_good_as_whole(block: int) -> None:
    log = (
        'step 1\nTraceback (most recent call last):\n  File "a.py", line 1, in f\n    x\n'
        "KeyError: 'é'\n"
    )
    assert judge_text(log, block=block) == judge_text(log)


def test_a_line_is_seen_once_and_the_number_is_its_own() -> None:
    names = load_signature_set()
    state, matches = scan(names, Scan(), b"one\ntwo\nCUDA out of mem")
    assert (matches, state.lines, state.offset) == ([], 2, 23)
    state, matches = scan(names, state, b"ory\nfour")
    assert [match.line for match in matches] == [3]
    assert finish(names, state)[1] == []


@pytest.mark.parametrize(
    "log",
    [
        b"\x1b[31mRuntimeError: CUDA out of memory\x1b[0m",
        b"step 1\r\nCUDA out of memory\r\n",
        b" 10%|#   | 1/10\r 20%|##  | 2/10\rCUDA out of memory",
        b"\xff\xfe CUDA out of memory \xc3",
        "CUDA out of memory\n".encode("utf-16"),
        b"C\0UDA out of\0 memory",
        b"x" * 100_000 + b" " + OOM + b" " + b"y" * 100_000,
        b"x" * (MAX_LINE - 9) + b" " + OOM + b"\n",
        b"a " * 50_000 + OOM,
    ],
)
def test_ugly_bytes_hide_nothing(log: bytes) -> None:
    assert judge_text(log).failure == "oom-accelerator"
    assert judge_text(log, block=1000).failure == "oom-accelerator"


@pytest.mark.thorough
def test_the_memory_is_bounded_and_the_time_too() -> None:
    """One line of 2 MB, without an end, with a word that must be looked at in each piece."""
    names, state = load_signature_set(), Scan()
    block, began = b"error timeout nccl " * 55_188, time.thread_time()
    for _ in range(2):
        state, _events = scan(names, state, block)
        assert len(state.carry) <= MAX_LINE
    assert time.thread_time() - began < 8


def test_many_ranks_with_open_tracebacks_are_bounded() -> None:
    log = "".join(f"[rank{n}]: Traceback (most recent call last):\n" for n in range(1000)).encode()
    state, _ = scan(load_signature_set(), Scan(), log)
    assert len(state.open) <= 64


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=2000))
def test_any_bytes_are_judged(data: bytes) -> None:
    judge_text(data)
