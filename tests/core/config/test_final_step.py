"""At which step a run ends: stated, or inferred from what the config and the tokens say."""

import pytest

from builders import a_contract, a_plan
from herorun.core.config.final_step import list_misnamed_keys, steps_by_tokens
from herorun.core.config.trainer_keys import horizons, total_steps
from herorun.core.evidence import Sourced
from wording import mentions


def final(config, **changes):
    return a_plan(a_contract(**{"final_step": None, **changes}), config=config).final_step


@pytest.mark.parametrize(
    ("value", "step"),
    [
        (5155, 5155),
        (5e3, 5000),
        ("5155", None),
        (True, None),
        (1.5, None),
        (None, None),
        ([1], None),
    ],
)
def test_a_named_key_must_hold_a_number(value, step):
    assert final({"trainer": {"steps": value}}, final_step="trainer.steps").value == step


def test_a_named_key_is_not_inferred():
    assert final({"t": {"steps": 5}}, final_step="t.steps") == Sourced(5, "t.steps in config.toml")
    absent = final({"t": {}}, final_step="t.steps")
    assert absent.value is None and mentions(absent.source, "t.steps", "missing", "config.toml")


KNOWN_KEYS = {
    "trainer.num_train_steps": "Levanter",
    "train_config.trainer.num_train_steps": "Levanter, within an experiment",
    "max_steps": "Hugging Face",
    "trainer.max_steps": "Lightning, NeMo",
    "train_iters": "Megatron",
    "train-iters": "Megatron's flags",
    "training.steps": "torchtitan",
    "steps": "MaxText",
    "max_iters": "nanoGPT",
    "total_steps": "",
}


@pytest.mark.parametrize("key", KNOWN_KEYS)
def test_the_configs_own_key_is_inferred_from_and_said(key):
    assert final({key: 5155}) == Sourced(5155, f"{key} in config.toml", inferred=True)


@pytest.mark.parametrize(
    "key",
    [
        "eval.max_steps",
        "validation.steps",
        "profiler.steps",
        "warmup_steps",
        "save_steps",
        "data.steps",
        "optimizer.total_steps",
        "model.max_steps",
        "callbacks.0.max_steps",
    ],
)
def test_another_tables_key_is_none_of_the_runs(key):
    assert final({key: 5155}).value is None


@pytest.mark.parametrize("value", [-1, 0, None, "many", True, 1.5])
def test_a_key_without_a_count_is_none(value):
    assert final({"max_steps": value}).value is None


def test_two_keys_that_agree_are_one_and_two_that_do_not_are_none():
    assert final({"max_steps": 10, "trainer": {"max_steps": 10.0}}).value == 10
    unsure = final({"max_steps": 10, "trainer": {"max_steps": 20}})
    assert unsure.value is None and "max_steps = 10, trainer.max_steps = 20" in unsure.source


BATCH_CONFIG = {"trainer": {"train_batch_size": 512}, "model": {"seq_len": 4096}}


def test_tokens_by_batch_and_sequence_and_the_formula_is_reported():
    final_step = final(BATCH_CONFIG, tokens=1e10)

    assert final_step.value == 4768 and final_step.inferred
    assert (
        final_step.source
        == "tokens 1e+10 / (trainer.train_batch_size 512 x model.seq_len 4096) in config.toml"
    )


@pytest.mark.parametrize(
    ("config", "changes"),
    [
        (BATCH_CONFIG, {}),  # no tokens
        ({"trainer": {"train_batch_size": 512}}, {}),
        ({"model": {"seq_len": 4096}}, {}),
        ({"batch_size": 512, "seq_len": 4096}, {}),  # of a device, or of all?
        ({"per_device_train_batch_size": 8, "seq_len": 4096}, {}),
        ({"global_batch_size": 4_194_304, "seq_len": 4096}, {}),  # perhaps in tokens
        ({"global_batch_size": [[0, 512], [100, 1024]], "seq_len": 4096}, {}),
        ({"global_batch_size": 512, "rampup_batch_size": [32, 32, 1000], "seq_len": 4096}, {}),
        ({"global_batch_size": 512, "seq_len": 4096, "block_size": 2048}, {}),
        (BATCH_CONFIG, {"phase": [{"name": "wider", "step": 10, "kind": "batch-size"}]}),
        (BATCH_CONFIG, {"config": {"batch_size": "nowhere"}}),
    ],
)
def test_what_is_not_sure_infers_nothing(config, changes):
    contract = a_contract(
        tokens=None if config is BATCH_CONFIG and not changes else 1e10, **changes
    )
    assert steps_by_tokens(contract, config) is None


def test_a_ramp_that_is_switched_off_is_none():
    config = {"global_batch_size": 512, "rampup_batch_size": None, "seq_len": 4096}

    assert steps_by_tokens(a_contract(tokens=1e10), config).steps == 4768


def test_the_contract_names_the_keys():
    keys = {"batch_size": "batch_size", "sequence_length": "ctx"}
    steps = steps_by_tokens(a_contract(tokens=1000, config=keys), {"batch_size": 10, "ctx": 10})

    assert steps.steps == 10


def test_a_stated_step_is_never_overruled():
    assert final({"max_steps": 7}, final_step=9) == Sourced(9, "runs/tiny.toml")


@pytest.mark.parametrize(
    ("config", "keys"),
    [
        ({"lr_decay_iters": 10}, ["lr_decay_iters"]),
        ({"optimizer": {"lr_decay_steps": 10}}, ["optimizer.lr_decay_steps"]),
        ({"scheduler": {"T_max": 10}}, ["scheduler.T_max"]),
        ({"scheduler": {"T_max": 10}, "max_epochs": 10}, []),
        ({"optim": {"sched": {"max_steps": 10}}}, ["optim.sched.max_steps"]),
        ({"lr_scheduler": {"total_steps": 10}}, ["lr_scheduler.total_steps"]),
        ({"learning_rate_schedule_steps": -1}, []),
        ({"optimizer": {"decay_steps": 10}}, []),  # only the last part of it, in some trainers
        ({"max_steps": 10}, []),
        (
            {"model": {"max_steps": 10, "optim": {"sched": {"max_steps": 9}}}},
            ["model.optim.sched.max_steps"],
        ),
    ],
)
def test_the_schedules_horizon(config, keys):
    assert [horizon.key for horizon in horizons(config)] == keys


def test_total_steps_and_horizons_share_no_key():
    config = {"max_steps": 1, "scheduler": {"total_steps": 2}}

    assert [total_step.key for total_step in total_steps(config)] == ["max_steps"]
    assert [total_step.key for total_step in horizons(config)] == ["scheduler.total_steps"]


def test_keys_that_the_contract_names_in_vain():
    contract = a_contract(config={"horizon": "a.b", "batch_size": "c", "sequence_length": "d"})

    assert list_misnamed_keys(contract, {"c": "many", "d": 8}) == [
        ("[config] batch_size", "[config] batch_size names c, which is 'many'"),
        ("[config] horizon", "[config] horizon names a.b, which is missing"),
    ]
