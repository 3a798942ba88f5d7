"""What a trainer is configured to save: the keys by which the field's trainers name how often, and
how many are kept.

Sources, by their own names: Levanter's CheckpointerConfig
(marin-community/levanter:src/levanter/checkpoint.py;
`save_interval` is a time, `keep` a list of `every` and `until`); Hugging Face's TrainingArguments
(huggingface/transformers:src/transformers/training_args.py; `save_strategy`, `save_steps`, below 1
a share of all steps, `save_total_limit`); Megatron-LM
(NVIDIA/Megatron-LM:megatron/training/arguments.py;
`--save-interval`, `--save-retain-interval`); torchtitan, which writes DCP
(pytorch/torchtitan:torchtitan/components/checkpoint.py;
`[checkpoint] interval`, `keep_latest_k`, 0 for all); Orbax's CheckpointManagerOptions
(google/orbax:checkpoint/orbax/checkpoint/checkpoint_manager.py; `save_interval_steps`,
`keep_period`, `max_to_keep`);
MaxText (AI-Hypercomputer/maxtext:src/maxtext/common/checkpointing.py; `checkpoint_period`,
`max_num_checkpoints_to_keep`); Lightning's ModelCheckpoint
(Lightning-AI/pytorch-lightning:src/lightning/pytorch/callbacks/model_checkpoint.py;
`every_n_train_steps`, `train_time_interval`); NeMo RL (NVIDIA-NeMo/RL:nemo_rl/utils/checkpoint.py;
`save_period`).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from herorun.core.config.command_keys import command_keys
from herorun.core.config.key_classes import snake_parts
from herorun.core.config.normalise import flatten, number, whole_number
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex

PERMANENT, TEMPORARY, KEEP, OFF = "permanent_every", "temporary_every", "keep", "off"
_ELSEWHERE = lazy_regex(
    r"eval|evaluation|validation|val|log|logging|logger|tracker|wandb|data|profiler|cache|hf|export"
)
_CHECKPOINT = lazy_regex(r"(model_)?checkpoint(s|er|ing)?(_\w+)?|ckpt(_\w+)?|\w+_ckpt|orbax(_\w+)?")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_SPAN = lazy_regex(r"(\d+(?:\.\d+)?)\s*(s|m|h|d)(?:econd|ec|inute|in|our|r|ay)?s?", re.IGNORECASE)
_CLOCK = lazy_regex(r"(?:(\d+) days?, ?)?(\d+):(\d\d):(\d\d(?:\.\d+)?)")
_EVERY = lazy_regex(r"\{[^{}]*\bevery['\"]?\s*[:=]\s*(\d+)[^{}]*\}")


@dataclass(frozen=True)
class SaveSetting:
    """One setting of the trainer. `value` is in steps, a time, or a count; None for what is never
    saved or kept.
    """

    what: str  # the contract's key that it is to agree with, or OFF
    key: str  # where it stands, for people
    value: int | timedelta | None
    # of two settings of one thing the higher holds: `save_retain_interval` over `save_interval`
    rank: int = 0


def savings(
    config: Mapping[str, Any], argv: Sequence[str], final: int | None
) -> dict[str, SaveSetting]:
    """By what they set; the command line's word goes before the config's. `final` is the run's last
    step, for shares.
    """
    settings: dict[str, SaveSetting] = {}
    for place, keys in (("config", flatten(config)), ("argv", command_keys(argv))):
        stated_keys = [
            each for key, value in keys.items() if (each := _saving(place, key, value, keys, final))
        ]
        for each in sorted(stated_keys, key=lambda saving: saving.rank):
            settings[each.what] = each
    return settings


def _saving(
    place: str, key: str, value: Any, keys: Mapping[str, Any], final: int | None
) -> SaveSetting | None:
    *above, last = snake_parts(key)
    if any(_ELSEWHERE.fullmatch(part) for part in above):
        return None
    below = any(_CHECKPOINT.fullmatch(part) for part in above)
    for what, setting_value, rank in _values_of_key(
        last=last, above=above, below=below, key=key, value=value, keys=keys, final=final
    ):
        return SaveSetting(what, f"{place} {key}", setting_value, rank)
    return None


def _values_of_key(
    last: str,
    above: list[str],
    below: bool,
    *,
    key: str,
    value: Any,
    keys: Mapping[str, Any],
    final: int | None,
) -> Iterator[tuple[str, Any, int]]:
    """What one key sets, its value and its rank; nothing for a key of another kind, or a value that
    says nothing.
    """
    count = whole_number(value)
    levanter = bool(above) and above[-1] == "checkpointer"
    if (last == "save_interval" and levanter) or last == "train_time_interval":
        if (span := duration(value)) is not None:
            yield TEMPORARY, span, 0
    elif last == "keep" and levanter:
        yield from _kept_levels(value)
    elif last == "every" and _is_level(above):
        if count and keys.get(f"{key.rpartition('.')[0]}.until") is None:
            yield PERMANENT, count, 0
    elif last == "save_steps":
        yield from _share(value, count, final)
    elif last == "save_strategy" and str(value).lower() in ("no", "none", "false"):
        yield OFF, None, 0
    elif last in ("enable_checkpoint", "enable_checkpointing") or (
        last == "enable" and above[-1:] == ["checkpoint"]
    ):
        if str(value).lower() == "false":
            yield OFF, None, 0
    elif count and count > 0 and not levanter and (rank := _step_rank(last, below)) is not None:
        yield PERMANENT, count, rank
    elif count and count > 0 and (last in _COUNTS or (last in _COUNTS_BELOW and below)):
        yield KEEP, count, 0


_COUNTS = frozenset(["save_total_limit", "max_num_checkpoints_to_keep", "keep_latest_k"])
_COUNTS_BELOW = frozenset(["max_to_keep"])
_STEPS = {
    "save_interval": 0,
    "save_interval_steps": 0,
    "checkpoint_period": 0,
    "save_retain_interval": 1,
}
_STEPS_BELOW = {"every_n_train_steps": 0, "save_period": 0, "interval": 0, "keep_period": 1}


def _step_rank(last: str, below: bool) -> int | None:
    """The rank of a key that sets a number of steps between saves; None for every other key."""
    if last in _STEPS:
        return _STEPS[last]
    return _STEPS_BELOW.get(last) if below else None


def _is_level(above: list[str]) -> bool:
    """`...checkpointer.keep.0`"""
    return (
        len(above) >= 3
        and above[-3] == "checkpointer"
        and above[-2] == "keep"
        and above[-1].isdigit()
    )


def _kept_levels(value: Any) -> Iterator[tuple[str, Any, int]]:
    """Levanter's `keep` where it is no list of tables: an empty list, or the text of a command
    line.
    """
    if not value:
        yield PERMANENT, None, 0
    levels = [match for match in _EVERY.finditer(str(value)) if "until" not in match[0]]
    if levels:
        yield PERMANENT, int(levels[-1][1]), 0


def _share(value: Any, count: int | None, final: int | None) -> Iterator[tuple[str, Any, int]]:
    share = number(value)
    if isinstance(share, float) and 0 < share < 1:
        if final:
            yield PERMANENT, max(1, round(share * final)), 0
    elif count and count > 0:
        yield PERMANENT, count, 0


def duration(value: Any) -> timedelta | None:
    """`15m`, `1h30m`, `0:15:00`, or seconds with a point; None for anything else: a bare integer
    may count steps.

    >>> duration("60min") == duration("1:00:00") == duration(3600.0) == timedelta(hours=1)
    True
    """
    if isinstance(value, float):
        return timedelta(seconds=value) if 0 < value < 1e9 else None
    text = str(value).strip()
    if clock := _CLOCK.fullmatch(text):
        days, hours, minutes, seconds = clock.groups()
        return timedelta(
            days=int(days or 0), hours=int(hours), minutes=int(minutes), seconds=float(seconds)
        )
    spans = _SPAN.findall(text)
    if not spans or _SPAN.sub("", text).strip():
        return None
    return timedelta(seconds=sum(float(size) * _UNITS[unit.lower()] for size, unit in spans))
