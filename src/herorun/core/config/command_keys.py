"""A command line as keys and values, so that two of them can be compared by meaning.

`--k v`, `--k=v`, Hydra's `k=v`, `+k=v` and `~k`, bare switches, and positionals by their place.
The program's own grammar is unknown, so a word behind a switch counts as its value: that is the
same on both sides.
"""

import re
from collections.abc import Iterable, Sequence

from herorun.core.config.normalise import number
from herorun.core.lazy_regex import lazy_regex

_FLAG = lazy_regex(r"-{1,2}(?P<key>[A-Za-z][\w.-]*)(?:=(?P<value>.*))?", re.DOTALL)
_OVERRIDE = lazy_regex(r"\+{0,2}(?P<key>[A-Za-z_][\w.@/-]*)=(?P<value>.*)", re.DOTALL)
_DELETION = lazy_regex(r"~(?P<key>[A-Za-z_][\w.@/-]*)(?:=.*)?", re.DOTALL)
SWITCHED_ON = "given"
DELETION_MARK = "~"

Pairs = Iterable[tuple[str, str]]


def command_keys(argv: Sequence[str]) -> dict[str, str | list[str]]:
    """Each key with its value, or with all its values in order where it is given more than once.

    >>> command_keys(["python", "train.py", "--lr", "1e-3", "--fast", "+trainer.seed=7"])
    {'0': 'python', '1': 'train.py', 'lr': '1e-3', 'fast': 'given', 'trainer.seed': '7'}
    """
    values_by_key: dict[str, list[str]] = {}
    for key, value in _pairs(argv):
        values_by_key.setdefault(key, []).append(value)
    return {key: values[0] if len(values) == 1 else values for key, values in values_by_key.items()}


def _pairs(argv: Sequence[str]) -> Pairs:
    place, at = 0, 0
    while at < len(argv):
        word, at = argv[at], at + 1
        if word == "--":
            yield from ((str(place + n), argument) for n, argument in enumerate(argv[at:]))
            return
        flag = None if _is_number(word) else _FLAG.fullmatch(word)
        if flag and flag["value"] is None:
            count = _count_values(argv, at)
            yield from ((flag["key"], value) for value in argv[at : at + count] or (SWITCHED_ON,))
            at += count
        elif flag:
            yield flag["key"], flag["value"]
        elif pair := _parse_flag(word):
            yield pair
        else:
            yield str(place), word
            place += 1


def _count_values(argv: Sequence[str], at: int) -> int:
    """How many words from `at` on are a flag's values: one, and the numbers that follow a
    number.
    """
    count = 0
    while at + count < len(argv) and _is_value(argv[at + count]):
        count += 1
        if not _is_number(argv[at + count - 1]):
            break
        if at + count < len(argv) and not _is_number(argv[at + count]):
            break
    return count


def _is_value(word: str) -> bool:
    return _is_number(word) or not (word.startswith("-") or _parse_flag(word))


def _is_number(word: str) -> bool:
    return number(word) is not None


def _parse_flag(word: str) -> tuple[str, str] | None:
    if match := _OVERRIDE.fullmatch(word):
        return match["key"], match["value"]
    if match := _DELETION.fullmatch(word):
        return match["key"], DELETION_MARK
    return None
