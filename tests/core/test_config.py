import pytest

from herorun.core.canonical import canonical
from herorun.core.config import UnreadableConfig, merge, parse_config


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.toml", "[t]\nsteps = 5"),
        ("a.json", '{"t": {"steps": 5}}'),
        ("a.yaml", "t: {steps: 5}"),
        ("A.YML", "t:\n  steps: 5"),
    ],
)
def test_each_kind_of_file(name, text):
    assert parse_config(name, text.encode()) == {"t": {"steps": 5}}


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.toml", b"x = ", "a.toml: "),
        ("a.json", b"{", "a.json: "),
        ("a.yaml", b"a: [", "a.yaml: "),
        ("a.json", b"[1]", "a.json holds list, not a table"),
        ("a.yaml", b"", "a.yaml holds NoneType, not a table"),
        ("a.toml", b"\xff", "a.toml is not UTF-8"),
        ("a.ini", b"", "must end in .toml"),
    ],
)
def test_what_cannot_be_read_names_the_file(name, data, words):
    with pytest.raises(UnreadableConfig) as caught:
        parse_config(name, data)
    assert words in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.toml", "day = 2026-01-01\nat = [2026-01-01T12:00:00]"),
        ("a.yaml", "day: 2026-01-01\nat: [2026-01-01T12:00:00]"),
    ],
)
def test_dates_become_text_and_so_have_a_canonical_form(name, text):
    config = parse_config(name, text.encode())

    assert config == {"day": "2026-01-01", "at": ["2026-01-01T12:00:00"]}
    assert canonical(config)


def test_later_files_win_key_by_key():
    base = {"trainer": {"steps": 1, "seed": 7}, "data": {"a": 1}, "list": [1, 2]}
    over = {"trainer": {"steps": 2}, "data": "none", "list": [3]}

    assert merge(base, over) == {"trainer": {"steps": 2, "seed": 7}, "data": "none", "list": [3]}
    assert base["trainer"] == {"steps": 1, "seed": 7}
