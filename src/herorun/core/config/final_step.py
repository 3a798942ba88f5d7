"""The step at which a run ends, from what the contract and the config say; never from display
text.
"""

from collections.abc import Mapping
from typing import Any

from herorun.core.config.normalise import flatten, show_short, whole_number
from herorun.core.config.trainer_keys import (
    BATCH,
    RUN_WORDS,
    SEQUENCE,
    ConfigCount,
    counts,
    look_up,
    nearest_key,
    total_steps,
)
from herorun.core.contract import Contract
from herorun.core.evidence.base import Sourced
from herorun.core.lazy_dataclass import dataclass

PERHAPS_TOKENS = 131_072  # from here on a batch may be counted in tokens, as OLMo-core does


def resolve_final_step(
    contract: Contract, config: Mapping[str, Any], source: str, stated_source: str
) -> Sourced[int | None]:
    """Stated as an integer or a key; otherwise inferred from the config's own keys, or from tokens
    / batch.
    """
    final_step = contract.final_step
    if isinstance(final_step, int):
        return Sourced(final_step, stated_source)
    if final_step is None:
        return _infer_final_step(contract, config, source)
    value = look_up(config, final_step)
    count = whole_number(value) if isinstance(value, (int, float)) else None
    if count is None:
        state = "missing" if value is None else repr(value)
        hint = nearest_key(config, final_step) if value is None else ""
        return Sourced(None, f"{final_step} is {state} in {source}{hint}")
    return Sourced(count, f"{final_step} in {source}")


def _describe(config: Mapping[str, Any], key: str) -> str:
    value = look_up(config, key)
    return f"missing{nearest_key(config, key)}" if value is None else show_short(value)


def _infer_final_step(
    contract: Contract, config: Mapping[str, Any], source: str
) -> Sourced[int | None]:
    totals = total_steps(config)
    if len({total.value for total in totals}) == 1:
        return Sourced(totals[0].value, f"{totals[0].key} in {source}", inferred=True)
    if totals:
        names = ", ".join(f"{total.key} = {total.value}" for total in totals)
        return Sourced(
            None, f"the contract states no final_step, and {source} names several: {names}"
        )
    token_steps = steps_by_tokens(contract, config)
    if token_steps:
        return Sourced(token_steps.steps, f"{token_steps} in {source}", inferred=True)
    return Sourced(None, "the contract states no final_step")


# --- tokens ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ByTokens:
    """The steps that the contract's tokens make, and the formula."""

    steps: int
    tokens: float
    batch: ConfigCount
    sequence: ConfigCount

    def __str__(self) -> str:
        return (
            f"tokens {self.tokens:g} / ({self.batch.key} {self.batch.value}"
            f" x {self.sequence.key} {self.sequence.value})"
        )


def steps_by_tokens(contract: Contract, config: Mapping[str, Any]) -> ByTokens | None:
    """Whole updates that the stated tokens make; None where batch or sequence are not known for
    sure.
    """
    if contract.tokens is None or any(phase.kind == "batch-size" for phase in contract.phase):
        return None
    batch = _count_of_key(config, contract.config.batch_size) or _sure_batch(contract, config)
    sequence = _count_of_key(config, contract.config.sequence_length) or _only(
        counts(config, SEQUENCE, RUN_WORDS)
    )
    if batch is None or sequence is None:
        return None
    return ByTokens(
        int(contract.tokens // (batch.value * sequence.value)), contract.tokens, batch, sequence
    )


def tokens_per_step(contract: Contract, config: Mapping[str, Any]) -> int | None:
    """Tokens of one update, where the contract names the keys of batch and sequence, and no phase
    changes the batch; otherwise None.
    """
    batch = _count_of_key(config, contract.config.batch_size)
    sequence = _count_of_key(config, contract.config.sequence_length)
    if batch is None or sequence is None or _ramps_up(config):
        return None
    if any(phase.kind == "batch-size" for phase in contract.phase):
        return None
    return batch.value * sequence.value


def _sure_batch(contract: Contract, config: Mapping[str, Any]) -> ConfigCount | None:
    """A known key of a constant batch, in sequences."""
    if contract.config.batch_size or _ramps_up(config):
        return None
    batch = _only(counts(config, BATCH, RUN_WORDS))
    return batch if batch and batch.value < PERHAPS_TOKENS else None


def _ramps_up(config: Mapping[str, Any]) -> bool:
    return any("rampup" in key and value for key, value in flatten(config).items())


def _count_of_key(config: Mapping[str, Any], key: str | None) -> ConfigCount | None:
    count = whole_number(look_up(config, key)) if key else None
    return ConfigCount(key, count) if key and count is not None and count > 0 else None


def _only(candidates: list[ConfigCount]) -> ConfigCount | None:
    return candidates[0] if len({each.value for each in candidates}) == 1 else None


def list_misnamed_keys(contract: Contract, config: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The keys that `[config]` names and that hold no count: which, and what is there."""
    section = contract.config
    keys = {
        "batch_size": section.batch_size,
        "sequence_length": section.sequence_length,
        "horizon": section.horizon,
    }
    return [
        (f"[config] {name}", f"[config] {name} names {key}, which is {_describe(config, key)}")
        for name, key in keys.items()
        if key and _count_of_key(config, key) is None
    ]
