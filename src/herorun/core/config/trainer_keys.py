"""The keys by which the field's trainers name how long a run is, how wide its batch and how long
its sequences.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from herorun.core.config.normalise import flatten, whole_number
from herorun.core.lazy_dataclass import dataclass

_TOTAL = (
    "num_train_steps max_steps train_iters max_train_steps total_train_steps train_steps "
    "training_steps"
)
TOTAL = frozenset(f"{_TOTAL} total_steps num_training_steps max_iters".split())
BARE_TOTAL = "steps"  # torchtitan's `training.steps`, MaxText's `steps`
HORIZON = frozenset(["lr_decay_iters", "lr_decay_steps", "learning_rate_schedule_steps", "t_max"])
BATCH = frozenset(
    ["global_batch_size", "train_batch_size", "global_train_batch_size", "total_batch_size"]
)
_SEQUENCE = (
    "seq_len seq_length sequence_length max_seq_len max_seq_length train_seq_len max_target_length"
)
SEQUENCE = frozenset(f"{_SEQUENCE} block_size context_length encoder_seq_length".split())
EPOCHS = frozenset(["epochs", "num_epochs", "max_epochs", "num_train_epochs", "train_epochs"])

# Only below tables named by these words does a known name speak of the whole run: `eval.max_steps`
# does not.
_RUN = (
    "trainer train training config cfg conf args arguments run hparams hyperparameters experiment "
    "exp lm params"
)
RUN_WORDS = frozenset(
    f"{_RUN} settings options loop fit pod lightning hf model data dataset".split()
)
STEP_WORDS = RUN_WORDS - {"model", "data", "dataset"}
SCHEDULE_WORDS = frozenset(
    [
        "optim",
        "optimizer",
        "opt",
        "sched",
        "scheduler",
        "schedule",
        "schedulers",
        "lr",
        "learning",
        "rate",
    ]
)


@dataclass(frozen=True)
class ConfigCount:
    """A key of the config, and the count that it holds."""

    key: str
    value: int


def look_up(config: Mapping[str, Any], key: str) -> Any:
    """`trainer.num_train_steps` in nested tables, or as a flat key; None where it is absent."""
    if key in config:
        return config[key]
    value: Any = config
    for part in key.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return None
        value = value[part]
    return value


def nearest_key(config: Mapping[str, Any], key: str) -> str:
    """The config's key that was probably meant, as a question; empty where there is none.

    >>> nearest_key({"trainer": {"num_train_steps": 9}}, "trainer.num_train_stepz")
    ' (did you mean `trainer.num_train_steps`?)'
    >>> nearest_key({"trainer": {"num_train_steps": 9}}, "num_train_steps")
    ' (did you mean `trainer.num_train_steps`?)'
    >>> nearest_key({"seed": 9}, "cycle")
    ''
    """
    from difflib import get_close_matches

    keys = list(flatten(config))
    leaf = key.rpartition(".")[2]
    same = [each for each in keys if each.rpartition(".")[2] == leaf]
    closest = same[:1] or get_close_matches(key, keys, 1, 0.7)
    return f" (did you mean `{closest[0]}`?)" if closest else ""


def total_steps(config: Mapping[str, Any]) -> list[ConfigCount]:
    """The keys by which trainers name the steps of the whole run. -1, "decided otherwise", is no
    count.
    """
    return counts(config, TOTAL | {BARE_TOTAL}, STEP_WORDS)


def horizons(config: Mapping[str, Any]) -> list[ConfigCount]:
    """The keys that hold the total steps of the learning-rate schedule, where that is sure.

    Below a schedule's own table the names of the run's steps mean it too; `T_max` counts epochs in
    runs that do.
    """
    known_words = RUN_WORDS | SCHEDULE_WORDS
    own = [
        total
        for total in counts(config, TOTAL, known_words)
        if table_words(total.key) & SCHEDULE_WORDS
    ]
    by_name = counts(config, HORIZON, known_words)
    if counts(config, EPOCHS, RUN_WORDS):
        by_name = [total for total in by_name if not total.key.lower().endswith("t_max")]
    return own + by_name


def counts(
    config: Mapping[str, Any], names: Iterable[str], tables: frozenset[str]
) -> list[ConfigCount]:
    """The keys of these names that hold a positive count, below tables that are named by these
    words alone.
    """
    from herorun.core.config.key_classes import snake_parts

    config_counts = []
    for key, value in flatten(config).items():
        count = whole_number(value)
        if (
            count is not None
            and count > 0
            and snake_parts(key)[-1] in names
            and table_words(key) <= tables
        ):
            config_counts.append(ConfigCount(key, count))
    return config_counts


def table_words(key: str) -> frozenset[str]:
    """The words of the tables that a key lies in."""
    from herorun.core.config.key_classes import snake_parts

    return frozenset(word for part in snake_parts(key)[:-1] for word in part.split("_"))
