"""Types of `[scheduler]` options that several back ends share: paths, arguments, names of
variables.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Annotated

from herorun.core.errors import WrongUse
from herorun.core.lazy_pydantic import AfterValidator
from herorun.core.lazy_regex import lazy_regex

_LONG = lazy_regex(r"--([a-z][a-z0-9-]*)(=[^\n\r\0]+)?")
_VARIABLE = lazy_regex(r"[A-Za-z_][A-Za-z0-9_]*")


def _absolute(value: str) -> str:
    if not value.startswith("/") or re.search(r"[\n\0]", value):
        raise ValueError("must be an absolute path")
    return value


Absolute = Annotated[str, AfterValidator(_absolute)]


def long_argument(
    argument: str, keys: Mapping[str, str], ours: Mapping[str, str], abbreviates: bool = False
) -> str:
    """An argument of a back end's own command, if it overrides nothing that herorun sets; otherwise
    ValueError with the reason.

    `keys` are the arguments that have a key of their own in `[scheduler]`, `ours` those that
    herorun sets, and why. If the command `abbreviates`, a prefix of one of ours counts as that
    argument.

    >>> long_argument("--exclusive", {}, {})
    '--exclusive'
    """
    match = _LONG.fullmatch(argument)
    if not match:
        raise ValueError(
            f"write {argument!r} in its long form, as --name or --name=value in one string"
        )
    name = match[1]
    if name in keys:
        raise ValueError(f"--{name} has a key of its own: set [scheduler] {keys[name]} instead")
    clashes = [each for each in ours if each == name or (abbreviates and each.startswith(name))]
    if clashes:
        raise ValueError(f"--{name} is set by herorun itself: {ours[clashes[0]]}")
    return argument


def safe_word(value: str, allowed_words: re.Pattern[str], whose: str) -> str:
    """One word for a back end that cannot be mistaken for an option."""
    if not allowed_words.fullmatch(value) or value.startswith("-"):
        raise ValueError(
            f"{whose} cannot take {value!r}: it begins with -, or has a character that is not "
            "allowed"
        )
    return value


def must_be_variables(names: Iterable[str], what: str) -> None:
    """`WrongUse` for a name that no shell can set."""
    wrong = [name for name in names if not _VARIABLE.fullmatch(name)]
    if wrong:
        raise WrongUse(
            f"{what} cannot set a variable named {wrong[0]!r}: use letters, digits and _, and no "
            "digit first."
        )
