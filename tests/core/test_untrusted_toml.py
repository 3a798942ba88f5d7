"""TOML that is made to bring its reader down is refused at once, and a table that people write is
read.
"""

import time
import tomllib

import pytest

from herorun.core.untrusted_toml import MAX_DEPTH, parse_toml

BOMBS = {
    "a dotted key": "a" + ".a" * 20_000 + " = 1",
    "of quoted parts": '"a b"' + ' . "a.b"' * 20_000 + " = 1",
    "of literal parts": "'a'" + "\t.\t'a=b'" * 20_000 + " = 1",
    "a table's name": "[a" + ".a" * 20_000 + "]",
    "in an inline table": "x = {a" + ".a" * 20_000 + " = 1}",
    "arrays": "a = " + "[" * 20_000,
    "inline tables": "{a=" * 20_000,
    "digits": "a = " + "9" * 10_000,
    "quotes without an end": '"\\' * 200_000 + "." * 100,
    "dots alone": ". " * 200_000,
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_at_once(name: str) -> None:
    before = time.process_time()
    with pytest.raises(tomllib.TOMLDecodeError):
        parse_toml(BOMBS[name])
    assert time.process_time() - before < 5.0  # tomllib needs 14 seconds and 1.5 GB


@pytest.mark.parametrize(
    "text",
    [
        "a" + ".a" * (MAX_DEPTH - 1) + " = 1",
        'words = "' + "one. two. " * 1_000 + '"',
        'versions = "' + ".".join(["1", "2"] * 20) + '"',
        'path = "' + "../" * 100 + 'x"',
        "numbers = [" + "1.5, " * 500 + "]",
    ],
    ids=["a deep key", "prose", "a version", "a path", "numbers"],
)
def test_what_people_write_is_read(text: str) -> None:
    assert parse_toml(text) == tomllib.loads(text)


def test_a_byte_order_mark_is_no_part_of_the_table() -> None:
    assert parse_toml('\ufeffslug = "tiny"') == parse_toml('slug = "tiny"')
