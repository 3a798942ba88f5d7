"""Signatures of failures. They are data: a TOML table each, the shipped ones and a user's own."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from herorun.core.lazy_dataclass import dataclass
from herorun.core.triage.classes import FailureClass, LineRole, LoadedState, RootStrength
from herorun.core.triage.prefilter import KeywordFilter, LinePrefilter, WordFinder

MIN_DUE = 1 << 20  # bytes: a row states a whole number of MiB
# an exception's lines hold one
_FIRST = ("traceback", 'file "', "error", "exception", "interrupt", "fault", "call stack:")


@dataclass(frozen=True, kw_only=True)
class LogSignature:
    """One row: a line that holds a keyword and matches the pattern means `failure`, in the role
    given.
    """

    id: str
    failure: FailureClass
    role: LineRole
    strength: RootStrength
    keywords: tuple[str, ...]  # lower case; one of them must be there before the pattern is tried
    pattern: re.Pattern[str]
    person: bool  # whether a person may be needed
    advice: str
    source: str
    hedged: bool  # matched against the whole line, behind "this might be caused by" too
    # of a confirmation: the faint signatures and `exit-N` that it settles
    confirms: tuple[str, ...]
    printed_by: str = ""  # the Python package that prints it, where the row says so
    due: int = 0  # bytes of a log within which such a line must come, where the row says so
    loads: LoadedState | None = None  # of a row with the role `loading`


@dataclass(frozen=True)
class ExitCode:
    """What an exit code says where the log says nothing."""

    code: int
    failure: FailureClass
    advice: str


@dataclass(frozen=True)
class Exceptions:
    """How an exception that no signature knows is classed, by its type."""

    small: frozenset[str]
    small_in_one_file: frozenset[str]
    cascade: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class SignatureSet:
    """All that is known; made by `parse`."""

    signatures: tuple[LogSignature, ...]
    exit_codes: Mapping[int, ExitCode]
    exceptions: Exceptions
    hedges: re.Pattern[str]
    source_text: re.Pattern[str]
    stems: tuple[str, ...]  # words by which lines are found fast, besides those of the keywords
    digest: str  # of all that it was made from

    # The two automata take longer to make than all the rest to parse, and a look without a new
    # byte of a log needs neither.
    @cached_property
    def gate(self) -> KeywordFilter:
        """The rows that a line is tested for."""
        return KeywordFilter((signature.keywords for signature in self.signatures), _FIRST)

    @cached_property
    def prefilter(self) -> LinePrefilter:
        """The lines that are worth a full match."""
        return LinePrefilter(_stems((*_FIRST, *self.stems), self.signatures))

    @cached_property
    def due(self) -> Mapping[str, int]:
        """The rows that say within how many bytes a line of theirs is due."""
        return {signature.id: signature.due for signature in self.signatures if signature.due}

    def signature(self, name: str) -> LogSignature:
        """The signature of that id; KeyError where there is none."""
        return self._by_id[name]

    @cached_property
    def _by_id(self) -> Mapping[str, LogSignature]:
        return {signature.id: signature for signature in self.signatures}


class UnreadSignatureSet(SignatureSet):
    """One that is read when a line is matched: most looks at a log find no new line."""

    def __init__(self, digest: str, read: Callable[[], SignatureSet]) -> None:
        vars(self).update(digest=digest, _read=read)

    def __getattr__(self, name: str) -> Any:
        if name not in _FIELDS:
            raise AttributeError(f"a set of signatures has no attribute {name!r}")
        content = vars(vars(self)["_read"]())
        vars(self).update({field: content[field] for field in _FIELDS})
        return content[name]


_FIELDS = ("signatures", "exit_codes", "exceptions", "hedges", "source_text", "stems")


def _stems(initial: Sequence[str], signatures: Iterable[LogSignature]) -> tuple[str, ...]:
    """The few words by which lines are found fast; every keyword holds one, or is one itself.

    One with an edge stands for itself alone: `|inf|` is in few lines, and `inf` in each `INFO`.
    """
    stems = dict.fromkeys(initial)
    keywords = dict.fromkeys(k for signature in signatures for k in signature.keywords)
    words = [*stems, *keywords]
    find = WordFinder(word.encode() for word in words)
    for keyword in keywords:
        if not any(words[number] in stems for number, _, _ in find(keyword.encode())):
            stems[keyword] = None
    return tuple(stems)
