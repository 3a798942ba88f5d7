"""The final step differs from that of the config, the schedule, the token count or the tracker.

Why: a run that ends before its schedule stops at a high learning rate, and one that continues after
it trains at the lowest; progress, cost and the final checkpoint are judged by this number.
Fix: correct `final_step`, or the key that differs; if herorun read the wrong keys of the config,
name the right ones in `[config] horizon`, `batch_size` and `sequence_length`; or let the DRI accept
it: `herorun waive final-step-mismatch RUN` prints a waiver to commit, for each key.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from herorun.core.check import AtRelaunch, Gate, Response, check
from herorun.core.config.final_step import list_misnamed_keys, steps_by_tokens
from herorun.core.config.normalise import whole_number
from herorun.core.config.trainer_keys import ConfigCount, horizons, look_up, total_steps
from herorun.core.contract import Contract
from herorun.core.evidence import Nothing, TrackerIdentity, Unavailable
from herorun.core.finding import Verdict, count, failed, few, not_applicable, passed
from herorun.core.plan import Plan

TOLERANCE = 0.01  # of the steps that the tokens make: for the last batch, or a dropped document

Statement = tuple[str, int, str, float]  # subject, steps, in words, tolerance


@check(Gate.LAUNCH, Response.BLOCK, at_relaunch=AtRelaunch.WARN)
def final_step_mismatch(
    plan: Plan, contract: Contract, identity: TrackerIdentity | Nothing | Unavailable
) -> list[Verdict]:
    """One verdict for each statement that differs."""
    final, config = plan.final_step, plan.config.value
    if final.value is None:
        return [not_applicable("the final step is unknown")]
    tracker_config = identity.config if isinstance(identity, TrackerIdentity) else {}
    statements = [
        *_of_config(contract, config, final.inferred),
        *_of_tracker(contract, tracker_config),
    ]
    wrong = [
        failed(message, subject=where) for where, message in list_misnamed_keys(contract, config)
    ]
    wrong += [
        failed(f"{message}, but the final step is {final}", subject=subject)
        for subject, steps, message, tolerance in statements
        if abs(steps - final.value) > tolerance * final.value
    ]
    if wrong:
        return wrong
    if not statements:
        return [not_applicable("nothing else states how long the run is")]
    others = few(list(dict.fromkeys(subject for subject, *_ in statements)))
    return [
        passed(
            f"ends at step {final.value}, confirmed by {others}",
            *(message for _, _, message, _ in statements),
        )
    ]


def _of_config(
    contract: Contract, config: Mapping[str, Any], is_inferred: bool
) -> Iterator[Statement]:
    """What the config states, except for the key that the final step itself was taken from."""
    totals = total_steps(config)
    for each in totals:
        if each.key != contract.final_step and not is_inferred:
            yield each.key, each.value, f"{each.key} is {each.value}", 0
    for each in _horizon(contract, config):
        yield each.key, each.value, f"the schedule's {each.key} is {each.value}", 0
    by_tokens = steps_by_tokens(contract, config)
    if by_tokens and (totals or not is_inferred):
        yield (
            "tokens",
            by_tokens.steps,
            f"{by_tokens} make {count(by_tokens.steps, 'step')}",
            TOLERANCE,
        )


def _horizon(contract: Contract, config: Mapping[str, Any]) -> list[ConfigCount]:
    key = contract.config.horizon
    if key is None:
        return horizons(config)
    count = whole_number(look_up(config, key))
    return [] if count is None else [ConfigCount(key, count)]  # without a number: a wrong key


def _of_tracker(contract: Contract, config: Mapping[str, Any]) -> Iterator[Statement]:
    """What the config of the tracker's run states, if that run exists already."""
    config_key = contract.final_step if isinstance(contract.final_step, str) else ""
    count = whole_number(look_up(config, config_key)) if config_key else None
    totals = [ConfigCount(config_key, count)] if count is not None else total_steps(config)
    for each in totals:
        yield (
            f"tracker:{each.key}",
            each.value,
            f"the tracker's run has {each.key} = {each.value}",
            0,
        )
