"""A lazy pattern answers as a compiled one does, and is compiled when it is first used."""

import copy
import gc
import pickle
import pkgutil
import re
from importlib import import_module
from typing import Any

import pytest

import herorun
from herorun import signatures
from herorun.core.lazy_regex import LazyRegex, lazy_regex

parser: Any = re._parser  # type: ignore[attr-defined]  # what Python itself makes of a pattern
ONE_CHARACTER = (parser.LITERAL, parser.NOT_LITERAL, parser.IN, parser.ANY)

TEXT = "one two, Three"
ASK = {
    "search": lambda it: it.search(TEXT).group(),
    "match": lambda it: it.match(TEXT, 4).span(),
    "fullmatch": lambda it: it.fullmatch(TEXT),
    "finditer": lambda it: [match.group("word") for match in it.finditer(TEXT)],
    "findall": lambda it: it.findall(TEXT),
    "split": lambda it: it.split(TEXT, maxsplit=1),
    "sub": lambda it: it.sub("-", TEXT),
    "subn": lambda it: it.subn("-", TEXT),
    "pattern": lambda it: it.pattern,
    "flags": lambda it: it.flags,
    "groups": lambda it: it.groups,
    "groupindex": lambda it: dict(it.groupindex),
}


@pytest.mark.parametrize("ask", ASK)
def test_it_answers_as_a_compiled_pattern_does(ask: str) -> None:
    words = r"(?P<word>[a-z]+)", re.IGNORECASE
    lazy: Any = lazy_regex(*words)
    compiled_answer = ASK[ask](re.compile(*words))
    assert [ASK[ask](each) for each in (lazy, lazy, copy.deepcopy(lazy))] == [compiled_answer] * 3
    assert ASK[ask](pickle.loads(pickle.dumps(lazy))) == compiled_answer


def test_it_is_compiled_at_its_first_use() -> None:
    faulty = lazy_regex("(")
    with pytest.raises(re.error):
        faulty.search("")


def test_two_of_one_text_and_the_same_flags_are_equal() -> None:
    one, same, other = lazy_regex("a"), lazy_regex("a"), lazy_regex("a", re.IGNORECASE)
    assert one == same != other and len({one, same, other}) == 2
    assert (
        one != "a"
        and repr(other) == "lazy_regex('a', re.IGNORECASE)"
        and not hasattr(one, "scanner")
    )


def test_every_pattern_of_the_package_compiles_and_means_the_same_in_each_python() -> None:
    """Python 3.11.0 to 3.11.4 misreads what is possessive and longer than one character: after a
    part of it that matched and a part that did not, they go on behind the first.
    """
    for module in pkgutil.walk_packages(herorun.__path__, "herorun."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    signatures.load_signature_set()
    gc.unfreeze()  # what `conftest` froze is no object to `gc`
    patterns = [it for it in gc.get_objects() if isinstance(it, LazyRegex) and it.pattern != "("]
    gc.freeze()
    assert len(patterns) > 350
    for pattern in patterns:
        re.compile(pattern.pattern, pattern._flags)
        assert not has_possessive_group(parser.parse(pattern.pattern, pattern._flags)), pattern


def has_possessive_group(part: Any) -> bool:
    if isinstance(part, tuple) and part[:1] == (parser.ATOMIC_GROUP,):
        return True
    if isinstance(part, tuple) and part[:1] == (parser.POSSESSIVE_REPEAT,):
        (item, *others) = part[1][2]
        return bool(others) or item[0] not in ONE_CHARACTER
    if isinstance(part, list | tuple | parser.SubPattern):
        return any(has_possessive_group(each) for each in part)
    return False


@pytest.mark.parametrize(
    ("pattern", "is_one"), [("a++", False), ("[ab]*+", False), ("(?:ab)*+", True), ("(?>a)", True)]
)
def test_a_possessive_group_is_recognised(pattern: str, is_one: bool) -> None:
    assert has_possessive_group(parser.parse(f"x(?:{pattern}|y)")) is is_one
