"""What a sentence says, without its words: `tests/screens` pins these, for a person who reads."""

from collections.abc import Iterable


def mentions(text: str | Iterable[str], *facts: str) -> bool:
    """Whether the text, or one of the texts, holds these values and terms in this order."""
    if not isinstance(text, str):
        return any(mentions(each, *facts) for each in text)
    start = 0
    for fact in facts:
        start = text.find(fact, start) + len(fact)
        if start < len(fact):
            return False
    return True
