"""What would tell a secret, and what only looks a little like one."""

import pytest

from herorun.core.redaction.scan import find_exposed_lines, harmless, secrets_in

KEY = "ghp_" + "a1B2" * 9
RANDOM = "a8f5f167f44f4964e6c998dee827110c0123abcd"


@pytest.mark.parametrize(
    ("text", "secrets"),
    [
        (f"--token={KEY}", (KEY,)),
        (f"WANDB_API_KEY={RANDOM}", (RANDOM,)),
        ("https://dri:hunter22@example.org/x.git", ("dri:hunter22",)),
        (f"a {KEY} and password=correct-horse", (KEY, "correct-horse")),
        ("ssh://git@example.org/x.git", ()),
        ("--eot_token=<|endoftext|>", ()),
        ("--image_token=[IMG]", ()),
        ("token_file=/run/secrets/token", ()),
        ("credentials: gs://bucket/key.json", ()),
        ("password: ${PASSWORD}", ()),
        ("auth=kerberos", ()),
        ("google-auth==2.62.2", ()),
        ("--max_tokens=2048 --tokenizer=meta-llama/Llama-3", ()),
        (f"image sha256:{RANDOM} at {RANDOM}", ()),
        ("", ()),
    ],
)
def test_the_values_that_look_like_secrets(text: str, secrets: tuple[str, ...]) -> None:
    assert secrets_in(text) == secrets


def test_a_text_with_very_many_is_one_secret() -> None:
    text = " ".join(f"password=horse-{n}" for n in range(50))
    assert secrets_in(text) == (text,)


@pytest.mark.parametrize("value", [f"<{KEY}>", f"/{KEY}", f"https://h/{KEY}"])
def test_a_known_shape_is_never_harmless(value: str) -> None:
    assert not harmless(value)


@pytest.mark.parametrize(
    "line",
    [
        "token = get_token()",
        "    self.api_key = api_key",
        "password: SecretStr = field()",
        'headers = {"auth": auth, "token": os.environ["HF_TOKEN"]}',
        'os.environ["HF_TOKEN"] = token',
        'os.environ["TOKENIZERS_PARALLELISM"] = "false"',
        'assert row["token"] == "hello"',
        "if token := read(file):",
        "credentials = await self.credentials()",
        "same = self.token == other.token",
        "def login(user, password=None):",
        "credential = settings.credential if settings else None",
    ],
)
def test_an_expression_in_python_is_no_secret(line: str) -> None:
    assert list(find_exposed_lines("src/code.py", b"", line.encode())) == []


@pytest.mark.parametrize(
    "line",
    [
        'token = "correct-horse-battery"',
        f"TOKEN = get('{KEY}')",
        'password: str = "correct-horse"',
        f'key = f("--token={RANDOM}")',
        f'os.environ["WANDB_API_KEY"] = "{RANDOM}"',
    ],
)
def test_a_text_in_python_may_be_one(line: str) -> None:
    assert list(find_exposed_lines("src/code.py", b"", f"x = 1\n{line}\n".encode())) == [
        "src/code.py:2"
    ]


def test_elsewhere_a_bare_word_is_a_value() -> None:
    assert list(find_exposed_lines("config.yaml", b"", b"password: correct-horse\n")) == [
        "config.yaml:1"
    ]


def test_what_was_there_before_is_not_exposed_now() -> None:
    before = b"password: correct-horse\n"
    assert list(find_exposed_lines("c.yaml", before, b"# moved\n" + before)) == []
    assert list(find_exposed_lines("c.yaml", before, before.replace(b"horse", b"cow"))) == [
        "c.yaml:1"
    ]


def test_a_binary_file_is_asked_for_known_shapes_alone() -> None:
    assert list(find_exposed_lines("w.bin", b"", b"\0password=correct-horse")) == []
    assert list(find_exposed_lines("w.bin", b"", b"\0" + KEY.encode())) == ["w.bin"]


@pytest.mark.parametrize(
    "content",
    [
        f"caf\xe9 {KEY}\n".encode("latin-1"),  # no UTF-8
        f"a {KEY}\n".encode("utf-16") + b"x",  # cut off within a character
    ],
)
def test_a_secret_among_bytes_that_are_no_text_is_found(content: bytes) -> None:
    assert list(find_exposed_lines("notes.txt", b"", content)) == ["notes.txt:1"]


def test_a_text_of_two_bytes_a_character_is_read_as_text() -> None:
    assert list(find_exposed_lines("wide.txt", b"", f"a\n{KEY}\n".encode("utf-16"))) == [
        "wide.txt:2"
    ]
    assert list(
        find_exposed_lines("wide.env", b"", f"WANDB_API_KEY={RANDOM}".encode("utf-16"))
    ) == ["wide.env:1"]
    assert list(find_exposed_lines("w.bin", b"", KEY.encode("utf-16-le"))) == ["w.bin"]
