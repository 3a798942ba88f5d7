from datetime import timedelta

import pytest

from builders import a_contract, a_plan, answer, answers
from herorun.checks.launch.checkpoint_policy_mismatch import checkpoint_policy_mismatch
from herorun.core.config.checkpoint_keys import KEEP, OFF, PERMANENT, TEMPORARY, duration, savings
from herorun.core.finding import Outcome
from wording import mentions

HOUR = timedelta(hours=1)
LEVANTER = {"trainer": {"checkpointer": {"save_interval": "60m", "keep": [{"every": 5000}]}}}


def ask(config, argv=("python", "train.py"), **checkpoints):
    contract = a_contract(command={"argv": list(argv)}, checkpoints=checkpoints)
    return answers(checkpoint_policy_mismatch, contract, a_plan(contract, config=config))


def test_a_difference_names_both_values_and_both_keys():
    by_subject = {v.subject: v for v in ask(LEVANTER)}

    assert {v.outcome for v in by_subject.values()} == {Outcome.FAIL}
    assert mentions(
        by_subject["checkpoints.permanent_every"].message,
        "[checkpoints]",
        "permanent_every",
        "100 steps",
        "configured",
        "5000 steps",
        "trainer.checkpointer.keep.0.every",
    )
    assert mentions(by_subject["checkpoints.temporary_every"].message, "15m", "configured", "1h")


def test_what_agrees_passes_and_says_where():
    verdicts = ask(LEVANTER, permanent_every=5000, temporary_every="1h")

    assert [v.outcome for v in verdicts] == [Outcome.PASS] * 2


@pytest.mark.parametrize(
    ("config", "text"),
    [
        (LEVANTER, {PERMANENT: 5000, TEMPORARY: HOUR}),
        ({"checkpointer": {"keep": [{"every": 10, "until": 100}, {"every": 500}]}}, {PERMANENT: 500}),  # noqa: E501  # one entry of a table, or one recorded value
        ({"checkpointer": {"keep": []}}, {PERMANENT: None}),
        ({"save_strategy": "steps", "save_steps": 500, "save_total_limit": 3}, {PERMANENT: 500, KEEP: 3}),  # noqa: E501  # one entry of a table, or one recorded value
        ({"save_steps": 0.1}, {PERMANENT: 20}),
        ({"save_strategy": "no"}, {OFF: None}),
        ({"train": {"save_interval": 2000, "save_retain_interval": 10000}}, {PERMANENT: 10000}),
        ({"checkpoint": {"enable": True, "interval": 500, "keep_latest_k": 10}}, {PERMANENT: 500, KEEP: 10}),  # noqa: E501  # one entry of a table, or one recorded value
        ({"checkpoint": {"enable_checkpoint": False, "interval": 500}}, {OFF: None, PERMANENT: 500}),  # noqa: E501  # one entry of a table, or one recorded value
        ({"checkpoint": {"enable": False, "interval": 500}}, {OFF: None, PERMANENT: 500}),
        ({"checkpoint": {"interval": 500, "keep_latest_k": 0}}, {PERMANENT: 500}),
        ({"ckpt_manager": {"save_interval_steps": 10, "max_to_keep": 5, "keep_period": 100}}, {PERMANENT: 100, KEEP: 5}),  # noqa: E501  # one entry of a table, or one recorded value
        ({"checkpoint_period": 1000, "max_num_checkpoints_to_keep": 4}, {PERMANENT: 1000, KEEP: 4}),
        ({"checkpoint_callback": {"every_n_train_steps": 700, "train_time_interval": "0:30:00"}}, {PERMANENT: 700, TEMPORARY: HOUR / 2}),  # noqa: E501  # one entry of a table, or one recorded value
        ({"checkpointing": {"save_period": 10}}, {PERMANENT: 10}),
        ({"eval": {"save_steps": 3}, "logger": {"interval": 5}, "interval": 9, "max_to_keep": 3}, {}),  # noqa: E501  # one entry of a table, or one recorded value
        ({"save_steps": "soon", "checkpointer": {"save_interval": "often"}}, {}),
    ],
)  # fmt: skip
def test_the_trainers_names(config, text):
    assert {what: saving.value for what, saving in savings(config, (), 200).items()} == text


@pytest.mark.parametrize(
    ("argv", "text"),
    [
        (("--save-interval", "5000"), {PERMANENT: 5000}),
        (("--save_steps=50", "--save_total_limit=2"), {PERMANENT: 50, KEEP: 2}),
        (("--trainer.checkpointer.save_interval", "60m"), {TEMPORARY: HOUR}),
        (
            ("--trainer.checkpointer.keep", "[{every: 10, until: 50}, {every: 500}]"),
            {PERMANENT: 500},
        ),
        (("checkpoint.interval=30",), {PERMANENT: 30}),
        (("--log-interval", "10"), {}),
    ],
)
def test_the_command_line(argv, text):
    by_section = savings({}, ("python", "train.py", *argv), 200)

    assert {what: saving.value for what, saving in by_section.items()} == text


def test_the_command_lines_word_goes_before_the_configs():
    (verdict,) = ask({"save_interval": 100}, ("python", "train.py", "--save-interval", "5000"))

    assert verdict.outcome is Outcome.FAIL and "argv save-interval" in verdict.message


def test_a_trainer_that_saves_nothing_fails():
    (verdict,) = ask({"save_strategy": "no", "save_steps": 100})

    assert verdict.outcome is Outcome.FAIL and mentions(verdict.message, "saves", "save_strategy")


def test_what_nobody_names_is_not_compared():
    assert answer(checkpoint_policy_mismatch).outcome is Outcome.NOT_APPLICABLE


def test_a_contract_that_promises_nothing_is_not_compared():
    (verdict,) = ask(LEVANTER, permanent_every=None, temporary_every=None, keep=None)

    assert verdict.outcome is Outcome.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("text", "span"),
    [("15m", HOUR / 4), ("1h30m", 1.5 * HOUR), ("90 minutes", 1.5 * HOUR), ("1 day, 1:00:00", 25 * HOUR), (900.0, HOUR / 4), ("x", None), (-1.0, None), (100, None)],  # noqa: E501  # one entry of a table, or one recorded value
)  # fmt: skip
def test_times(text, span):
    assert duration(text) == span
