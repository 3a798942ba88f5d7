"""From the file to the contract, and its faults in words."""

import tomllib
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from herorun.core.contract.model import Contract
from herorun.core.errors import WrongUse


def parse_contract(text: str, where: str) -> Contract:
    """Read a contract's TOML; a `WrongUse` names the place and the mend."""
    try:
        return contract_from(tomllib.loads(text), where)
    except tomllib.TOMLDecodeError as error:
        raise WrongUse(f"{where} is not valid TOML: {error}.") from None
    except (RecursionError, ValueError):  # the second: a number of thousands of digits
        raise WrongUse(
            f"{where} is no contract: it is nested too deeply, or holds an endless number."
        ) from None


def contract_from(data: Mapping[str, Any], where: str) -> Contract:
    try:
        return Contract.model_validate(data)
    except ValidationError as error:
        raise WrongUse(f"{where}: {explain_errors(error)}") from None


def explain_errors(error: ValidationError) -> str:
    """Every fault of the input in one line each, by its key."""
    lines = []
    for fault in error.errors(include_url=False):
        key = ".".join(str(part) for part in fault["loc"])
        match fault["type"]:
            case "extra_forbidden":
                lines.append(
                    f"unknown key `{key}`: remove it, or look for its name in `herorun schema`"
                )
            case "missing":
                lines.append(f"missing key `{key}`")
            case _:
                message = fault["msg"].removeprefix("Value error, ").replace("valid tuple", "list")
                message = f"{message[:1].lower()}{message[1:]}"
                told = "" if "notify" in fault["loc"][:1] else f", not {fault['input']!r:.80}"
                lines.append(f"`{key}`: {message}{told}" if fault["loc"] else message)
    return "; ".join(lines) + "."
