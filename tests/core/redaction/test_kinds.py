"""A hundred fresh secrets of each kind, alone, in its place, and written down in another form."""

import random

import pytest
from hypothesis import given, settings, strategies as st

import planted
from herorun.core.redaction.scrub import MASK, has_known_shape, scrub, scrub_argv, scrub_tree

FRESH = 100


@pytest.mark.parametrize("kind", planted.SECRET_SHAPES)
def test_a_secret_with_a_shape_of_its_own_goes_wherever_it_stands(kind: str) -> None:
    draw = random.Random(kind)
    for _ in range(FRESH):
        secret = planted.SECRET_SHAPES[kind](draw)

        assert has_known_shape(secret)
        assert scrub(f"step 7: got {secret} from /data/x") == f"step 7: got {MASK} from /data/x"
        assert scrub(f"['{secret}', 7]") == f"['{MASK}', 7]"
        assert scrub_tree({secret: [secret, 7]}) == {MASK: [MASK, 7]}


@pytest.mark.parametrize("kind", planted.PLACES)
def test_a_secret_that_its_place_tells_goes(kind: str) -> None:
    draw = random.Random(kind)
    for _ in range(FRESH):
        text, secret = planted.place_secret(kind, draw)
        clean = scrub(f"step 7: {text}")

        assert secret not in clean and MASK in clean
        assert clean.startswith("step 7: ") and scrub(clean) == clean
        assert secret not in " ".join(scrub_argv(tuple(text.split())))


@pytest.mark.parametrize("code", planted.ENCODINGS)
def test_a_secret_that_is_written_down_in_another_form_goes(code: str) -> None:
    draw = random.Random(code)
    for kind in (*planted.SECRET_SHAPES, *planted.PLACES):
        secret_shape = planted.SECRET_SHAPES.get(kind)
        text, secret = (
            (each := secret_shape(draw), each) if secret_shape else planted.place_secret(kind, draw)
        )
        code_text = planted.ENCODINGS[code](text)
        clean = scrub(f"said {code_text} here")

        assert secret not in clean and code_text not in clean and MASK in clean, kind


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("password: 'two words, and \"more\"' then", f"password: '{MASK}' then"),
        ("--db-pass=a,b;c&d --seed 7", f"--db-pass={MASK} --seed 7"),
        ("DB_PASSWORD=p}w]x, STEPS=7", f"DB_PASSWORD={MASK}, STEPS=7"),
        ("MY_TOKEN=\\\n  abcd train.py", f"MY_TOKEN=\\\n  {MASK} train.py"),
        ("│ MY_TOKEN │ 0a1b2c3d4e │", f"│ MY_TOKEN │ {MASK} │"),
        ("MY_TOKEN → 0a1b2c3d4e", f"MY_TOKEN → {MASK}"),
        ("MY_TOKEN is 0a1b2c3d4e", f"MY_TOKEN is {MASK}"),
        ('{"name": "MY_TOKEN", "value": "plain"}', f'{{"name": "MY_TOKEN", "value": "{MASK}"}}'),
        ("aws_secret_access_key 0a1b2c3d4e5f6a7b", f"aws_secret_access_key {MASK}"),
        ("MY_TOKEN=$'a bc' x", f"MY_TOKEN=$'{MASK}' x"),
        ("token=b'abcdef' x", f"token=b'{MASK}' x"),
        ("api_key=SecretStr('abcdef')", f"api_key=SecretStr('{MASK}')"),
        ("--export=HF_TOKEN=abcd,STEPS=7", f"--export=HF_TOKEN={MASK},STEPS=7"),
        ("https://ada:p/w?x#y@host/x", f"https://{MASK}@host/x"),
        ("TOKEN +trainer.wandb.api_key=0a1b2c3d4e5f", f"TOKEN +trainer.wandb.api_key={MASK}"),
    ],
)
def test_all_of_a_value_goes_and_nothing_next_to_it(text: str, clean: str) -> None:
    assert scrub(text) == clean


@pytest.mark.parametrize(
    "kind", ["github", "github-pat", "huggingface", "openai-project", "wandb_v1", "jwt"]
)
def test_a_secret_that_a_line_was_broken_in_goes_from_both(kind: str) -> None:
    draw = random.Random(kind)
    for _ in range(FRESH):
        secret = planted.SECRET_SHAPES[kind](draw) + "aB3dE6"
        cut = len(secret) - draw.randint(6, len(secret) // 2)
        front, back = secret[:cut], secret[cut:]
        if any(shape(back) for shape in (str.islower, str.isupper, str.isalpha)):
            continue
        assert scrub(f"got {front}\n{back} here") == f"got {MASK}\n{MASK} here"


@pytest.mark.parametrize(
    "following", ["Traceback (most", "2026-01-01T10:00:00Z step", "12 steps", "/data/A1b x"]
)
def test_the_line_after_a_secret_stays(following: str) -> None:
    assert scrub(f"got ghp_{'aB3d' * 9}\n{following}") == f"got {MASK}\n{following}"


def test_a_block_of_base64_goes_whole() -> None:
    import base64

    draw = random.Random(7)
    text = (
        "\n".join(f"line {n} of a file" for n in range(8))
        + f"\npassword: {planted.chars(draw, 'abc123', 30)}\n"
    )
    block = base64.encodebytes(text.encode()).decode().strip()

    assert scrub(f"data:\n{block}\n\nend") == f"data:\n{MASK}\n\nend"


@pytest.mark.parametrize(
    ("tree", "clean"),
    [
        (["--token", "abc", "--seed", "7"], ["--token", MASK, "--seed", "7"]),
        ([{"name": "HF_TOKEN", "value": "abc"}], [{"name": "HF_TOKEN", "value": MASK}]),
        ([{"name": "STEPS", "value": "abc"}], [{"name": "STEPS", "value": "abc"}]),
        ({"password": 12345678, "steps": 12345678}, {"password": MASK, "steps": 12345678}),
        ({"eos_token": 128001, "auth": True}, {"eos_token": 128001, "auth": True}),
    ],
)
def test_a_tree_holds_command_lines_and_environments(tree: object, clean: object) -> None:
    assert scrub_tree(tree) == clean


@pytest.mark.parametrize(
    "argv",
    [
        ("curl", "-u", "ada:hunter22", "https://h/"),
        ("curl", "-H", "Authorization: Bearer hunter22", "https://h/"),
        ("curl", "-H", "Authorization:", "Bearer", "hunter22"),
        ("sshpass", "-p", "hunter22", "ssh", "h"),
        ("docker", "login", "-p", "hunter22", "h"),
        ("env", "HF_TOKEN=hunter22", "python"),
        ("sh", "-c", "HF_TOKEN='hunter22' python train.py"),
    ],
)
def test_a_command_line_that_is_split_over_words(argv: tuple[str, ...]) -> None:
    clean_argv = scrub_argv(argv)

    assert "hunter22" not in " ".join(clean_argv)
    assert len(clean_argv) == len(argv) and clean_argv[0] == argv[0]


@pytest.mark.thorough
@given(
    kind=st.sampled_from([*planted.SECRET_SHAPES, *planted.PLACES]),
    code=st.sampled_from(list(planted.ENCODINGS)),
    seed=st.integers(0, 2**32),
    before=st.text(max_size=40),
    after=st.text(max_size=40),
)
@settings(max_examples=400, deadline=None)
def test_whatever_stands_around_it_a_secret_goes(
    kind: str, code: str, seed: int, before: str, after: str
) -> None:
    draw = random.Random(seed)
    secret_shape = planted.SECRET_SHAPES.get(kind)
    text, secret = (
        (each := secret_shape(draw), each) if secret_shape else planted.place_secret(kind, draw)
    )
    code_text = planted.ENCODINGS[code](text)
    clean = scrub(f"{before} {code_text} {after}")

    assert secret not in clean and code_text not in clean
    assert scrub(clean) == clean
