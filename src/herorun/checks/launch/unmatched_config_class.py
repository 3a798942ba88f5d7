"""A pattern of `[config.classes]` matches no key of the config or of the command.

Why: a mistyped pattern gives its class to nothing, so a change of the key that was meant is judged
by another class.
Fix: correct the pattern, or delete it.
"""

from collections.abc import Iterable

from herorun.core.check import Gate, Response, check
from herorun.core.config.command_keys import command_keys
from herorun.core.config.key_classes import unmatched_patterns, with_tables
from herorun.core.config.normalise import flatten
from herorun.core.contract import Contract
from herorun.core.finding import Verdict, failed, not_applicable, passed
from herorun.core.plan import Plan


@check(Gate.LAUNCH, Response.WARN)
def unmatched_config_class(contract: Contract, plan: Plan) -> list[Verdict]:
    """One verdict for each pattern."""
    patterns = contract.config.classes
    if not patterns:
        return [not_applicable("the contract has no [config.classes]")]
    config_keys = list(flatten(plan.config.value))
    command = (*command_keys(plan.argv.value), *command_keys(plan.resume_argv.value))
    names = [*config_keys, *command, *(f"argv.{key}" for key in command)]
    verdicts = [
        _describe_unmatched(each, with_tables(config_keys))
        for each in unmatched_patterns(contract.config, names)
    ]
    return verdicts or [passed("every pattern matches a key")]


def _describe_unmatched(pattern: str, likely_names: Iterable[str]) -> Verdict:
    from herorun.core.suggestions import did_you_mean  # seldom needed

    question = did_you_mean(pattern, likely_names)
    return failed(f"`{pattern}` matches no key.{question}".rstrip("."), subject=pattern)
