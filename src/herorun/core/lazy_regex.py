"""`re.compile`, done when the pattern is first used.

A pattern takes 0.2 ms to compile. A command imports some 250 of ours and matches a few dozen, so
that made a tenth of its start. What is made here has the attributes of a compiled pattern, but is
none: write `PATTERN.search(text)`, not `re.search(PATTERN, text)`.

A mistake in a pattern shows at first use, so a test compiles all of them.
"""

import re
from typing import TYPE_CHECKING, Any

_ATTRIBUTES = (
    *("search", "match", "fullmatch", "finditer", "findall", "split", "sub", "subn"),
    *("flags", "groups", "groupindex"),
)


class LazyRegex:
    """Two are equal if they were made of the same text and flags."""

    def __init__(self, pattern: str | bytes, flags: int = 0) -> None:
        self.pattern, self._flags = pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name not in _ATTRIBUTES:
            raise AttributeError(f"a pattern has no attribute {name!r}")
        pattern = re.compile(self.pattern, self._flags)
        # From here on it costs what a compiled one does.
        vars(self).update({each: getattr(pattern, each) for each in _ATTRIBUTES})
        return getattr(pattern, name)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LazyRegex):
            return NotImplemented
        return (self.pattern, self._flags) == (other.pattern, other._flags)

    def __hash__(self) -> int:
        return hash((self.pattern, self._flags))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.pattern, self._flags)

    def __repr__(self) -> str:
        return f"lazy_regex({self.pattern!r}, {self._flags!r})"


if TYPE_CHECKING:  # type checkers know that one
    lazy_regex = re.compile
else:
    lazy_regex = LazyRegex
