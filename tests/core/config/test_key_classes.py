"""What a changed key means: the seed's list of drifts, each in the names of the field's
trainers.
"""

import pytest

from builders import a_contract
from herorun.core.config.default_classes import KEYS
from herorun.core.config.key_classes import class_of, is_volatile
from herorun.core.contract import Config, KeyClass
from herorun.core.errors import WrongUse

T, R, OP = KeyClass.TRAJECTORY, KeyClass.RESUME_BREAKING, KeyClass.OPERATIONAL
C, V = KeyClass.COSMETIC, KeyClass.VOLATILE

SHIPPED_CLASSES = {
    # batch size
    "trainer.train_batch_size": T,  # Levanter
    "per_device_train_batch_size": T,  # Hugging Face
    "gradient_accumulation_steps": T,
    "global-batch-size": T,  # Megatron
    "micro_batch_size": T,
    "rampup-batch-size": T,
    "training.local_batch_size": T,  # torchtitan
    "model.global_batch_size": T,  # NeMo
    "per_device_batch_size": T,  # MaxText
    "trainer.accumulate_grad_batches": T,  # Lightning
    "perDeviceBatchSize": T,
    "per_device_eval_batch_size": OP,
    # max steps
    "trainer.num_train_steps": T,
    "trainer.max_steps": T,
    "train-iters": T,
    "training.steps": T,
    "steps": T,
    "num_train_epochs": T,
    "training.seq_len": T,
    "max_target_length": T,
    # optimizer and schedule
    "optimizer.learning_rate": T,
    "optimizer.weight_decay": T,
    "optimizer.lr_schedule": T,
    "optimizer.type": R,
    "optim": R,
    "model.optim.name": R,
    "model.optim.sched.warmup_steps": T,
    "lr": T,
    "learning_rate": T,
    "adam_beta1": T,
    "adam_b1.eps": T,
    "betas": T,
    "clip-grad": T,
    "lr-decay-iters": T,
    "lr_scheduler.warmup_steps": T,
    "scheduler.T_max": T,
    "warmup_ratio": T,
    "cosine_learning_rate_final_fraction": T,
    # checkpoint interval
    "trainer.checkpointer.save_interval": OP,
    "trainer.checkpointer.keep.0.every": OP,
    "save_steps": OP,
    "save-interval": OP,
    "checkpoint.interval": OP,
    "checkpoint_period": OP,
    "exp_manager.checkpoint_callback_params.save_top_k": OP,
    "every_n_train_steps": OP,
    # where a run starts from, and where its checkpoints lie
    "trainer.checkpointer.base_path": T,
    "checkpoint.folder": T,
    "output_dir": T,
    "load_parameters_path": T,
    "trainer.initialize_from": T,
    "resume_from_checkpoint": T,
    "run_name": T,
    # seed
    "trainer.seed": T,
    "seed": T,
    "data_seed": T,
    # mesh
    "trainer.mesh.axes.model": R,
    "trainer.model_axis_size": R,
    "tensor_model_parallel_size": R,
    "tensor-model-parallel-size": R,
    "parallelism.tensor_parallel_degree": R,
    "ici_fsdp_parallelism": R,
    "dcn_data_parallelism": R,
    "fsdp": R,
    "fsdp_config.min_num_params": None,
    "trainer.num_nodes": R,
    "trainer.devices": R,
    "tp": R,
    # precision
    "trainer.mp": T,
    "precision": T,
    "trainer.precision": T,
    "bf16": T,
    "fp16": T,
    "tf32": T,
    "training.mixed_precision_param": T,
    "weight_dtype": T,
    "params_dtype": T,
    "quantization": T,
    # data
    "data.mix.web": T,
    "data.timestamp": T,
    "data.num_workers": T,
    "dataset_path": T,
    "data-path": T,
    "split": T,
    "model.data.data_prefix": T,
    "tokenizer_path": T,
    "train_data": T,
    # model shape
    "model.hidden_dim": R,
    "num-layers": R,
    "num_attention_heads": R,
    "base_num_decoder_layers": R,
    "base_emb_dim": R,
    "num_experts": R,
    "vocab_size": R,
    "model.flavor": R,
    "model.dropout": T,
    "attention_dropout": T,
    # what runs otherwise and trains the same
    "eval_interval": OP,
    "trainer.steps_per_eval": OP,
    "eval_steps": OP,
    "val_check_interval": OP,
    "validation.freq": OP,
    "profiling.profile_freq": OP,
    "distributed-timeout-minutes": OP,
    "hydra.run.dir": OP,
    # what people see
    "log_interval": C,
    "logging_steps": C,
    "metrics.log_freq": C,
    "wandb.tags": C,
    "trainer.wandb.group": C,
    "trainer.wandb.id": T,
    "wandb.project": T,
    "notes": C,
    "report_to": C,
    "trainer.enable_progress_bar": C,
    # what differs by nature
    "started_at": V,
    "timestamp": V,
    "run_id": V,
    "slurm.job_id": V,
    "hostname": V,
    "git_commit": V,
    "callbacks.model_checkpoint.save_last": OP,
    "model_config.anything": T,
    "master_port": V,
    # what nobody knows
    "gradient_checkpointing": T,
    "activation_checkpoint.mode": T,
    "frobnicate": None,
    "trainer.id": None,
}


def test_the_shipped_class():
    assert {key: class_of(key, Config()) for key in SHIPPED_CLASSES} == SHIPPED_CLASSES


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("NCCL_DEBUG", OP),
        ("XLA_FLAGS", T),
        ("XLA_FLAGS.xla_gpu_deterministic_ops", T),
        ("XLA_FLAGS.xla_dump_to", OP),
        ("PYTHONPATH", None),
        ("PYTHONHASHSEED", OP),
        ("TORCH_CPP_LOG_LEVEL", OP),
        ("WANDB_TAGS", C),
        ("WANDB_RUN_ID", T),
        ("WANDB_BASE_URL", OP),  # only where the tracker is
        ("WANDB_MODE", OP),
        ("WANDB_SWEEP_ID", None),  # sets the config
        ("MASTER_PORT", V),
        ("LEARNING_RATE", None),
        ("seed", None),
    ],
)
def test_the_shipped_class_of_a_variable(name, kind):
    assert class_of(name, Config(), "env") is kind


def test_no_pattern_is_hidden_by_one_of_another_class_above_it():
    examples = [
        (pattern.replace(".*", ".zzz").replace("*", "q"), kind)
        for kind, patterns in KEYS
        for pattern in patterns.split()
    ]

    assert [(key, class_of(key, Config())) for key, _ in examples] == examples


CLASSES = {
    "trainer.seed": "operational",
    "*seed": "cosmetic",
    "wandb": "trajectory",
    "argv.lr": "operational",
}


@pytest.mark.parametrize(
    ("key", "place", "kind"),
    [
        ("trainer.seed", "", OP),  # the first glob that fits wins
        ("data.seed", "", C),
        ("wandb.tags", "", T),  # a glob that names a table covers all below it
        ("wandbish.mode", "", None),
        ("lr", "argv", OP),
        ("lr", "", T),
        ("seed", "env", C),
    ],
)
def test_the_contract_has_the_first_word(key, place, kind):
    assert class_of(key, Config(classes=CLASSES), place) is kind


def test_a_glob_covers_both_spellings():
    config = Config(classes={"global_batch_size": "operational"})

    assert class_of("global-batch-size", config, "argv") is OP


def test_volatile_comes_before_all():
    config = Config(volatile=["trainer.*"], classes={"trainer.seed": "trajectory"})

    assert class_of("trainer.seed", config) is V and is_volatile("trainer.seed", config)


def test_only_the_contract_makes_a_key_leave_the_plan():
    assert not is_volatile("timestamp", Config())
    assert is_volatile("stamp", Config(classes={"stamp": "volatile"}))
    assert not is_volatile("stamp", Config(classes={"*": "trajectory", "stamp": "volatile"}))


def test_a_class_that_there_is_not_is_reported_with_those_that_there_are():
    with pytest.raises(
        WrongUse, match=r"config\.classes\.seed.*'trajectory'.*'volatile', not 'harmless'"
    ):
        a_contract(config={"classes": {"seed": "harmless"}})
