"""Which lines of a large text may hold a word, found in the text as it is.

To search for words in upper and lower case, a text is first made lower case, which takes a third as
long as the search. Here a few letters of each word are searched for in every case; the rare lines
that hold them are searched for the words. Where most lines hold some, that does not pay.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ahocorasick_rs import BytesAhoCorasick

LENGTH = 4  # characters: 16 ways to write them in upper and lower case
_SHORT = 3  # characters of a word that is so short that it stands in others, as `inf` in `info`
_SPARSE = 4096  # bytes of a text for each fragment in it; where they come more often, most lines do
_PAUSE = 16  # texts that are not searched after one where they came more often
# What most lines of a training log say: of a word's fragments the others are rarer.
_USUAL = (
    b"step steps loss losses tokens token/s rank info trainer training train epoch iteration lr"
    b" learning_rate rate grad_norm time saved saving checkpoint batch size samples per second"
    b" elapsed memory gpu cuda eval model data dataset the and of to in is for on with that this"
)
_RARE = b"etaoinsrhldcumfpgwybvkxjqz"  # the letters, the most frequent one of English first
_WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_NO_WORD = tuple(bytes([byte]) for byte in range(128) if byte not in _WORD)
_HIDING = tuple(bytes([byte]) for byte in (*range(32), 127) if byte not in b"\t\n\r")


class FragmentFilter:
    """Finds the lines that may hold one of the words, which are lower case.

    `ends` are those of them that must be the end of a word, save in a line with control characters.
    Such a line is found too, and the text must be ASCII and hold no envelope.
    """

    def __init__(self, words: Iterable[bytes], ends: Sequence[bytes] = ()) -> None:
        self._ends = tuple(word for word in ends if len(word) <= _SHORT)
        self._automaton = _automaton(tuple(words), self._ends)
        self._pause = 0

    def lines(self, text: bytes) -> list[tuple[int, int]] | None:
        """Where they begin and end, in order; None where there are too many to pay."""
        if self._pause > 0:
            self._pause -= 1
            return None
        hits = self._automaton.find_matches_as_indexes(text)
        if len(hits) * _SPARSE > len(text) + 2 * _SPARSE:
            self._pause = _PAUSE
            return None
        places = [at for _, at, _ in hits]
        if self._ends and text[-_SHORT:].lower().endswith(self._ends):
            places.append(len(text) - 1)
        return list(_lines_at(text, places))


def _lines_at(text: bytes, places: Iterable[int]) -> Iterator[tuple[int, int]]:
    end = -1  # of the line that was found last
    for at in places:
        if at >= end:
            start, newline = text.rfind(b"\n", 0, at) + 1, text.find(b"\n", at)
            end = newline if newline >= 0 else len(text)
            yield start, end


def _automaton(words: Iterable[bytes], ends: Sequence[bytes]) -> "BytesAhoCorasick":
    from ahocorasick_rs import BytesAhoCorasick, Implementation, MatchKind

    patterns = [*(_HIDING if ends else ()), *_patterns(words, ends)]
    return BytesAhoCorasick(
        patterns, matchkind=MatchKind.LeftmostFirst, implementation=Implementation.DFA
    )


def _patterns(words: Iterable[bytes], ends: Sequence[bytes]) -> Iterator[bytes]:
    plain_words = [word for word in words if word not in ends]
    for fragment in _fragments(plain_words):
        yield from _cases(fragment)
    for word in ends:
        yield from (case + after for case in _cases(word) for after in _NO_WORD)


def _fragments(words: Iterable[bytes]) -> list[bytes]:
    """One part at least of each word: a part that another word has too, or the rarest."""
    fragments: dict[bytes, None] = {}
    for word in sorted(words, key=len):
        parts = [word[at : at + LENGTH] for at in range(max(len(word) - LENGTH, 0) + 1)]
        if len(word) < LENGTH or fragments.keys().isdisjoint(parts):
            fragments[min(parts, key=_frequency)] = None
    return list(fragments)


def _frequency(part: bytes) -> tuple[bool, int]:
    """To compare how often parts come: digits vary, and any word may end at a space."""
    return (
        part in _USUAL or not part.isalpha(),
        -sum(max(_RARE.find(byte), 0) for byte in part),
    )


def _cases(word: bytes) -> Iterator[bytes]:
    letters = ({byte, *bytes([byte]).upper()} for byte in word)
    return map(bytes, product(*letters))
