import pytest
from hypothesis import given, settings, strategies as st

from builders import a_contract, a_plan, answers
from herorun.checks.launch.secret_in_command import secret_in_command
from herorun.core.check import AtRelaunch
from herorun.core.evidence import Unavailable
from herorun.core.finding import Outcome
from herorun.core.plan import Plan
from wording import mentions

KEY = "ghp_" + "a1B2" * 9
RANDOM = "a8f5f167f44f4964e6c998dee827110c0123abcd"
RUN = ["python", "train.py"]


def ask(config=None, **changes):
    return answers(secret_in_command, a_plan(a_contract(**changes), config=config))


def subjects(config=None, **changes):
    return [
        verdict.subject for verdict in ask(config, **changes) if verdict.outcome is Outcome.FAIL
    ]


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"command": {"argv": [*RUN, f"--key={KEY}"]}}, "argv[2]"),
        ({"command": {"argv": [*RUN, "--wandb-api-key", RANDOM]}}, "argv[3]"),
        ({"command": {"argv": ["sh", "-c", f"TOKEN={RANDOM} python train.py"]}}, "argv[2]"),
        ({"command": {"resume_argv": [*RUN, "{start}", KEY]}}, "resume_argv[3]"),
        ({"command": {"env": {"WANDB_API_KEY": RANDOM}}}, "env.WANDB_API_KEY"),
        ({"command": {"env": {"STORE": "s3://dri:hunter22@h/x"}}}, "env.STORE"),
        ({"scheduler": {"comment": f"run {KEY}"}}, "scheduler.comment"),
        ({"tracker": {"api_key": RANDOM}}, "tracker.api_key"),
        ({"config": {"logger": {"password": "correct-horse"}}}, "config.logger.password"),
        (
            {"config": {"stores": [{"url": "a"}, {"url": f"https://h/?token={RANDOM}"}]}},
            "config.stores[1].url",
        ),
        ({"config": {"tokens": {"hub_token": [RANDOM]}}}, "config.tokens.hub_token[0]"),
    ],
)
def test_the_place_is_named_and_not_the_secret(changes, where):
    config = changes.pop("config", None)
    (verdict,) = ask(config, **changes)

    assert (verdict.outcome, verdict.subject) == (Outcome.FAIL, where)
    assert mentions(verdict.message, f"{where}", "looks", "like")


def test_each_place_is_an_answer_of_its_own():
    changes = {"command": {"argv": [*RUN, KEY], "env": {"HF_TOKEN": RANDOM}}}

    assert subjects(**changes) == ["argv[2]", "env.HF_TOKEN"]


HARMLESS = {
    "tokenizer": "meta-llama/Llama-3.1-8B",
    "max_tokens": "2048",
    "max_total_tokens": 10**13,
    "tokenizer_path": "gs://bucket/tokenizer.json",
    "special": {
        "eos_token": "</s>",
        "image_token": "<|image|>",
        "stop_tokens": ["<|im_end|>", "[SEP]"],
    },
    "token_file": "/run/secrets/token",
    "auth": "none",
    "api_key_env": "WANDB_API_KEY",
    "password": "",
    "private_key": None,
    "digest": f"sha256:{RANDOM}",
    "revision": RANDOM,
    "author": "dri@example.org",
    "dataset_key": "fineweb-edu",
    "seed": 7,
    "secrets": ["WANDB_API_KEY"],
    "cache": "/data/a8f5f167f44f4964e6c998dee827110c/step-100",
}


def test_what_every_config_holds_is_harmless():
    assert subjects(HARMLESS) == []


@pytest.mark.parametrize(
    "argument",
    [
        "max_tokens=4096",
        "--tokens-per-batch=4194304",
        "--tokenizer=gpt2",
        "--pad_token=<pad>",
        f"--image=r/x@sha256:{RANDOM}",
        f"--commit={RANDOM}",
        "/data/tokens/shard-000001.bin",
        "--token-file=~/.cache/token",
        "trainer.key_size=64",
        "ssh://git@example.org/x.git",
    ],
)
def test_a_harmless_argument(argument):
    assert subjects(command={"argv": [*RUN, argument]}) == []


@pytest.mark.parametrize(
    "place",
    ["tokens/wandb", "wandb-api-key/WANDB_API_KEY", "a.b-1/key", "hf/HuggingFaceTokenV2-of-lab"],
)
def test_the_place_of_a_secret_in_a_cluster_is_harmless(place):
    """As the page on Kubernetes writes it, under the name of a variable that holds one."""
    assert subjects(scheduler={"kind": "kubernetes", "secrets": {"WANDB_API_KEY": place}}) == []


@pytest.mark.parametrize(
    "value",
    [
        RANDOM,
        KEY,
        f"tokens/{KEY}",
        "wJalrXUtnFEMI/K7MDENG/bPxRfiCY",
        "wandb/0123456789abcdef0123456789abcdef01234567",  # the form of W&B's
        "wandb/local-0123456789abcdef0123456789abcdef01234567",
        "tokens/123e4567-e89b-12d3-a456-426614174000",
        "tokens/aB3dE6gH9jK2mN5pQ8sT1",
    ],
)
def test_the_secret_itself_in_its_place_is_none(value):
    assert subjects(scheduler={"kind": "kubernetes", "secrets": {"WANDB_API_KEY": value}}) == [
        "scheduler.secrets.WANDB_API_KEY"
    ]


def test_the_small_contract_passes():
    (verdict,) = answers(secret_in_command)

    assert verdict.outcome is Outcome.PASS


WORDS = st.text("abcdefghjkmnpqrstuvwxyzABCDEFGHJKMNPQRSTUVWXYZ23456789", min_size=20, max_size=40)
SECRETS = st.one_of(
    WORDS.map(lambda word: f"ghp_{word}"),
    WORDS.map(lambda word: f"hf_{word}"),
    WORDS.map(lambda word: f"sk-{word}"),
)
PLACES = st.sampled_from(["argv", "flag", "resume", "env", "name", "scheduler", "key", "list"])


@settings(max_examples=60, deadline=None)
@given(secret=SECRETS, place=PLACES)
def test_no_message_ever_holds_the_secret(secret, place):
    config, changes = {"seed": 7}, {}
    match place:
        case "argv":
            changes = {"command": {"argv": [*RUN, f"--login={secret}"]}}
        case "flag":
            changes = {"command": {"argv": [*RUN, "--token", secret]}}
        case "resume":
            changes = {"command": {"resume_argv": [*RUN, f"x{{start}} {secret}"]}}
        case "env":
            changes = {"command": {"env": {"PLAIN": secret}}}
        case "name":
            changes = {"command": {"env": {secret: secret}}}
        case "scheduler":
            changes = {"scheduler": {"labels": {"owner": secret}}}
        case "key":
            config = {"hub": {secret: {"again": secret}}}
        case "list":
            config = {"urls": [f"https://user:{secret}@h/x"]}
    failures = [verdict for verdict in ask(config, **changes) if verdict.outcome is Outcome.FAIL]

    assert len(failures) == 1
    assert secret not in repr(failures)


def test_without_a_plan_nobody_knows():
    (verdict,) = answers(secret_in_command, {Plan: Unavailable("no config")})

    assert verdict.outcome is Outcome.UNKNOWN


def test_a_relaunch_is_asked_too():
    assert secret_in_command.at_relaunch is AtRelaunch.WARN
