"""What a contract makes this machine run, or send credentials to, which a person must trust first.
Pure.

An adapter marks such an option with `NeedsTrust`. One that is left at its default needs none.
"""

from collections.abc import Iterator
from typing import Any

from herorun.core.canonical_json import canonical, plain
from herorun.core.contract import Contract
from herorun.core.lazy_dataclass import dataclass


@dataclass(frozen=True)
class NeedsTrust:
    """Marks an option of an adapter; `siblings` names options without which its value says too
    little.
    """

    siblings: tuple[str, ...] = ()


def trust_items(table: str, options: Any) -> Iterator[str]:
    """The marked options of one table that are not at their default, as people read them."""
    for name, field in type(options).model_fields.items():
        marks = [mark for mark in field.metadata if isinstance(mark, NeedsTrust)]
        if marks and show_option(_option_value(options, name)) != show_option(
            field.get_default(call_default_factory=True)
        ):
            texts = [
                f"{each} = {show_option(_option_value(options, each))}"
                for each in (name, *marks[0].siblings)
            ]
            yield f"[{table}] {', '.join(texts)}"


def config_item(contract: Contract) -> Iterator[str]:
    """The command that prints the resolved config, with the environment that it gets."""
    if contract.config.command:
        env = (
            f", [command] env = {show_option(contract.command.env)}" if contract.command.env else ""
        )
        yield f"[config] command = {show_option(contract.config.command)}{env}"


def _option_value(options: Any, name: str) -> Any:
    """None for a required option that the contract lacks, which is reported elsewhere."""
    return getattr(options, name, None)


def show_option(value: Any) -> str:
    """A value as a person reads it, and as it is compared."""
    return canonical(plain(value))
