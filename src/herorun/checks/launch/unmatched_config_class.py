"""A pattern of `[config.classes]` matches no key of the config or of the command.

Why: a mistyped pattern gives its class to nothing, so a change of the key that was meant is judged
by another class.
Fix: correct the pattern, or delete it.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.config.command_keys import command_keys
from herorun.core.config.key_classes import unmatched_patterns, with_tables
from herorun.core.config.normalise import flatten
from herorun.core.contract import Contract
from herorun.core.finding import Verdict, failed, not_applicable, passed
from herorun.core.plan import Plan
from herorun.core.suggestions import did_you_mean


@check(Gate.LAUNCH, Response.WARN)
def unmatched_config_class(contract: Contract, plan: Plan) -> list[Verdict]:
    """One verdict for each pattern."""
    patterns = contract.config.classes
    if not patterns:
        return [not_applicable("the contract has no [config.classes]")]
    config_keys = list(flatten(plan.config.value))
    command = (*command_keys(plan.argv.value), *command_keys(plan.resume_argv.value))
    names = [*config_keys, *command, *(f"argv.{key}" for key in command)]
    likely_names = with_tables(config_keys)
    verdicts = [
        failed(
            f"`{each}` matches no key.{did_you_mean(each, likely_names)}".rstrip("."), subject=each
        )
        for each in unmatched_patterns(contract.config, names)
    ]
    return verdicts or [passed("no pattern is without a key")]
