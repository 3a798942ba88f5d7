"""Which lines of a log may matter, and which signatures a line is tested for: searches many
keywords at once.

One automaton for all words (ahocorasick_rs) reads each byte once, however many words there are.
Words are lower case ASCII; the case of the text does not matter.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ahocorasick_rs import BytesAhoCorasick

EDGE = "|"
MANY = 64  # lines of a block that take as long to look at as all of it
_CONTROL = bytes(c for c in (*range(32), 127) if c not in b"\t\n\r")


class Sieve:
    """Lines that hold a stem; `|` at an end of a stem stands for the edge of a word.

    In a line with control characters, or in an envelope, an edge may be hidden: there a stem counts
    wherever it stands.
    """

    def __init__(self, stems: Sequence[str]) -> None:
        self._edges = tuple(map(_edges_of, stems))
        self._find = _finder([stem.strip(EDGE) for stem in stems])

    def starts(self, block: bytes) -> list[int]:
        """Where the lines begin that hold a stem, in order."""
        return list(self._starts(block.lower()))

    def _starts(self, text: bytes) -> Iterator[int]:
        end = -1  # of the line that was found last
        hides, edgeless = True, 0  # whether any line may hide an edge; stems without theirs
        plain_end = -1  # of the last line that hides none: it may be long, and is tested once
        # overlapping: a stem may begin inside one without its edge
        for stem, at, after in self._find.find_matches_as_indexes(text, overlapping=True):
            if at <= end:
                continue
            if not _has_edges(self._edges[stem], text, at, after):
                edgeless += 1
                if edgeless == MANY:
                    hides = _is_disguised(text)
                if not hides or at <= plain_end:
                    continue
                line_end = _line_end(text, after)
                if not _is_disguised(text[text.rfind(b"\n", 0, at) + 1 : line_end]):
                    plain_end = line_end
                    continue
            yield text.rfind(b"\n", 0, at) + 1
            end = text.find(b"\n", after)
            if end < 0:
                return


class KeywordFilter:
    """The rows that have one of their keywords in a line; `|` at an end of a keyword stands for the
    edge of a word.

    `others` are words that matter without a row.
    """

    def __init__(self, keywords: Iterable[Sequence[str]], others: Sequence[str] = ()) -> None:
        rows: dict[str, set[int]] = {word: set() for word in others}
        for row, row_keywords in enumerate(keywords):
            for word in row_keywords:
                rows.setdefault(word, set()).add(row)
        self._rows = tuple(rows.values())
        self._edges = tuple(map(_edges_of, rows))
        self._find = _finder([word.strip(EDGE) for word in rows])

    def opens(self, line: bytes) -> bool:
        """Whether a full match may find anything. A line with control characters, or in an
        envelope, has to be made readable first.
        """
        for _ in self._keywords_in(line.lower()):
            return True
        return _is_disguised(line)

    def rows(self, text: str) -> list[int]:
        """Their numbers, in order."""
        present = set(self._keywords_in(text.lower().encode("utf-8", "replace")))
        return sorted({row for word in present for row in self._rows[word]})

    def _keywords_in(self, text: bytes) -> Iterator[int]:
        for word, start, end in self._find.find_matches_as_indexes(text, overlapping=True):
            if _has_edges(self._edges[word], text, start, end):
                yield word


def _line_end(text: bytes, after: int) -> int:
    end = text.find(b"\n", after)
    return len(text) if end < 0 else end


def _is_disguised(line: bytes) -> bool:
    return b'{"' in line or len(line.translate(None, _CONTROL)) < len(line)


def _edges_of(word: str) -> tuple[bool, bool] | None:
    """Whether it must begin and end at the edge of a word; None where neither."""
    return (word.startswith(EDGE), word.endswith(EDGE)) if EDGE in word else None


def _has_edges(edges: tuple[bool, bool] | None, text: bytes, start: int, end: int) -> bool:
    if edges is None:
        return True
    before, after = edges
    return not (
        (before and _in_word(text[start - 1 : start])) or (after and _in_word(text[end : end + 1]))
    )


def _in_word(character: bytes) -> bool:
    return character.isalnum() or character == b"_"


def _finder(keywords: Sequence[str]) -> "BytesAhoCorasick":
    """All of them at once."""
    from ahocorasick_rs import BytesAhoCorasick, Implementation

    return BytesAhoCorasick([word.encode() for word in keywords], implementation=Implementation.DFA)
