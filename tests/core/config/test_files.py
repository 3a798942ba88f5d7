import math

import pytest

from herorun.core.canonical_json import canonical
from herorun.core.config.files import UnreadableConfig, merge, parse_config


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
    ("name", "data"),
    [
        ("a.json", b"[1]"),
        ("a.yaml", b""),
        ("a.toml", b"\xff"),
        ("a.ini", b""),
        ("a.json", b" " * 16_000_001),
    ],
)
def test_what_cannot_be_read_names_the_file(name, data, notice):
    with pytest.raises(UnreadableConfig) as error:
        parse_config(name, data)
    assert str(error.value) == notice and "\n" not in str(error.value)


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


# --- what trainers dump ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("!!python/tuple [1, 2]", [1, 2]),
        ("!!python/name:torch.bfloat16 ''", "torch.bfloat16"),
        ("!!python/object/apply:trainer.Mode [bf16]", "bf16"),
        ("!!python/object/apply:pathlib.PosixPath [/, data]", ["/", "data"]),
        ("!!python/object:optim.Adam {lr: 0.1}", {"!": "optim.Adam", "lr": 0.1}),
        ("!Custom {lr: 0.1}", {"lr": 0.1}),
        ("!include other.yaml", "other.yaml"),
        ("{type: adam, lr: 0.1}", {"type": "adam", "lr": 0.1}),
        ("1e-4", "1e-4"),
        (".inf", math.inf),
        ("123456789012345678901234567890", 123456789012345678901234567890),
        ("${run.seed}", 7),
        ("${now:%Y}", "${now:%Y}"),
    ],
)
def test_a_yaml_value_of_a_trainer(text, value):
    assert parse_config("a.yaml", f"run: {{seed: 7}}\nit: {text}".encode())["it"] == value


def test_nothing_in_a_config_is_ever_run(tmp_path):
    mark = tmp_path / "mark"
    text = (
        f"a: !!python/object/apply:os.system ['touch {mark}']\nb: !!python/object/new:os.system [x]"
    )

    assert parse_config("a.yaml", text.encode())["a"] == f"touch {mark}"
    assert not mark.exists()


@pytest.mark.parametrize("tag", ["", "!Custom "])
def test_a_merged_key_is_not_given_twice(tag):
    text = f"base: &base {{a: 1, b: 1}}\nit: {tag}{{<<: *base, b: 2}}"

    assert parse_config("a.yaml", text.encode())["it"] == {"a": 1, "b": 2}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.yaml", "a: 1\nb: {c: 1, c: 2}"),
        ("a.yaml", "1: x\n'1': y"),
        ("a.yaml", "1: x\n1.0: y\n'1.0': z"),
        ("a.yaml", "!Custom {a: 1, a: 2}"),
        ("a.json", '{"a": {"b": 1, "b": 1}}'),
        ("a.json", "[" * 100_000),
        ("a.yaml", "- a\n- b"),
    ],
)
def test_what_means_two_things_or_nothing_is_refused(name, text, notice):
    with pytest.raises(UnreadableConfig) as error:
        parse_config(name, text.encode())
    assert str(error.value) == notice


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.toml", b"x = "),
        ("a.toml", b"a = 1\na = 2"),
        ("a.json", b"{"),
        ("a.json", b'{"a": ' + b"1" * 5000 + b"}"),
        ("a.yaml", b"a: ["),
        ("a.yaml", b"a: &a [*a]"),
    ],
)
def test_what_a_parser_refuses_in_words_of_its_own_names_the_file(name, data):
    with pytest.raises(UnreadableConfig) as error:
        parse_config(name, data)
    assert str(error.value).startswith(f"{name}: ") and "\n" not in str(error.value)


def test_json_of_a_trainer_may_hold_numbers_that_json_does_not_know():
    config = parse_config("a.json", b'{"a": NaN, "b": -Infinity}')

    assert math.isnan(config["a"]) and config["b"] == -math.inf and canonical(config)


def test_hydras_overrides_are_a_table_of_their_own():
    config = parse_config("overrides.yaml", b"- trainer.lr=3\n- +seed=7\n- model=big\n- ~wandb")

    assert config == {"overrides": {"trainer.lr": "3", "seed": "7", "model": "big", "wandb": "~"}}


def test_aliases_that_stand_for_millions_of_values_are_refused():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 8)]

    with pytest.raises(UnreadableConfig, match=r"stand.*1,000,000"):
        parse_config("a.yaml", "\n".join(lines).encode())
