"""A command line as keys: what differs between two of them is never lost."""

import pytest
from hypothesis import given, strategies as st

from herorun.core.config.command_keys import command_keys


@pytest.mark.parametrize(
    ("words", "keys"),
    [
        ("--lr 1e-3", {"lr": "1e-3"}),
        ("--lr=1e-3", {"lr": "1e-3"}),
        ("--lr -0.5", {"lr": "-0.5"}),
        ("-lr 3", {"lr": "3"}),
        ("--fast", {"fast": "given"}),
        ("--fast --lr 3", {"fast": "given", "lr": "3"}),
        ("--x=", {"x": ""}),
        ("trainer.lr=3", {"trainer.lr": "3"}),
        ("+trainer.lr=3", {"trainer.lr": "3"}),
        ("++trainer.lr=3", {"trainer.lr": "3"}),
        ("~trainer.lr", {"trainer.lr": "~"}),
        ("model/attention=flash", {"model/attention": "flash"}),
        ("--betas 0.9 0.95 --z", {"betas": ["0.9", "0.95"], "z": "given"}),
        ("--devices 8 train.py", {"devices": "8", "0": "train.py"}),
        ("--tag a --tag b", {"tag": ["a", "b"]}),
        ("python train.py out", {"0": "python", "1": "train.py", "2": "out"}),
        ("python -m pkg.train --lr 3", {"0": "python", "m": "pkg.train", "lr": "3"}),
        ("--fast lr=3", {"fast": "given", "lr": "3"}),
        ("gs://bucket/a?b=c", {"0": "gs://bucket/a?b=c"}),
        ("-5", {"0": "-5"}),
        ("a -- --lr 3", {"0": "a", "1": "--lr", "2": "3"}),
        ("", {}),
    ],
)
def test_keys(words, keys):
    assert command_keys(words.split()) == keys


@pytest.mark.parametrize(
    ("one", "other"),
    [("--lr 3 --seed 7", "--seed=7 --lr=3"), ("+a.b=1", "a.b=1"), ("t.py --lr 3", "t.py --lr=3")],
)
def test_two_spellings_of_one_command_line(one, other):
    assert command_keys(one.split()) == command_keys(other.split())


WORDS = st.sampled_from(
    ["t.py", "--a", "--b=1", "-c", "x=1", "~x", "7", "--", "-0.5", "--a=2", "u"]
)


@given(
    st.lists(WORDS, max_size=6), st.integers(0, 5), st.sampled_from(["new", "--new", "new=1", "99"])
)
def test_one_word_more_is_always_seen(words, place, word):
    assert command_keys([*words[:place], word, *words[place:]]) != command_keys(words)
