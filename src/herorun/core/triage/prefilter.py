"""Which lines of a log may matter, and which signatures a line is tested for: searches many
keywords at once.

One automaton for all words (ahocorasick_rs) reads each byte once, however many words there are.
Words are lower case ASCII; the case of the text does not matter.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property
from itertools import product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ahocorasick_rs import BytesAhoCorasick

    from herorun.core.triage.fragments import FragmentFilter

EDGE = "|"
FEW = 1 << 18  # bytes
MANY = 1 << 22  # bytes after which the search for fragments is worth its automata
_CONTROL = bytes(c for c in (*range(32), 127) if c not in b"\t\n\r")
# of a text that is searched for words: any control character, any other that is in no word
_CONTROL_MARK, _SPACE, _MARK, _DIGIT = b"\1", b" ", b"\2", b"0"
_AT_EDGES = (_SPACE, _MARK)


class LinePrefilter:
    """Lines that hold a stem; `|` at an end of a stem stands for the edge of a word.

    In a line with control characters, or in an envelope, an edge may be hidden: there a stem counts
    wherever it stands.
    """

    def __init__(self, stems: Sequence[str]) -> None:
        self._edges = tuple(map(_edges_of, stems))
        self._words = tuple(stem.strip(EDGE).encode() for stem in stems)
        self._has_no_edge = not any(self._edges)
        self._forms = (
            [(form, number) for number, stem in enumerate(stems) for form in _forms(stem)]
            if not self._has_no_edge
            else []
        )
        self._bytes_left = MANY

    # Each takes longer to make than most logs to read, and most need one of the two.
    @cached_property
    def _find(self) -> "WordFinder":
        return WordFinder(self._words, first_alone=self._has_no_edge)

    @cached_property
    def _find_at_edges(self) -> "WordFinder":
        return WordFinder(form for form, _ in self._forms)

    @cached_property
    def _fragments(self) -> "FragmentFilter":
        from herorun.core.triage.fragments import FragmentFilter

        return FragmentFilter(self._words)

    @cached_property
    def _fragments_at_edges(self) -> "FragmentFilter":
        from herorun.core.triage.fragments import FragmentFilter

        words = list(zip(self._words, self._edges, strict=True))
        within_words = {word for word, edges in words if not (edges and edges[1])}
        return FragmentFilter(self._words, [w for w in self._words if w not in within_words])

    def starts(self, block: bytes) -> list[int]:
        """Where the lines begin that hold a stem, in order."""
        lines = self._likely_lines(block)
        if lines is None:
            return self._starts_in(block)
        if not lines:
            return []
        places, at = {}, 0
        for start, end in lines:
            places[at] = start
            at += end - start + 1
        few_lines = b"\n".join([block[start:end] for start, end in lines])
        return [places[start] for start in self._starts_in(few_lines)]

    def _likely_lines(self, block: bytes) -> list[tuple[int, int]] | None:
        """The few lines that may hold a stem; None where all are to be searched."""
        if self._bytes_left > 0:
            self._bytes_left -= len(block)
        if self._bytes_left > 0 or not self._forms:
            return None
        hides_edges = _has_envelope(block) or not block.isascii()
        return (self._fragments if hides_edges else self._fragments_at_edges).lines(block)

    def _starts_in(self, block: bytes) -> list[int]:
        if self._forms and not _has_envelope(block):
            text = (b" %b " % block).translate(_simpler())
            if _CONTROL_MARK not in text:
                return list(self._starts_at_edges(block, text))
        return list(self._starts(block.lower()))

    def _starts_at_edges(self, block: bytes, text: bytes) -> Iterator[int]:
        """The same in a block that hides no edge: the edges are searched with the stems, so that
        `INFO` in each line is not found for `|inf|`.
        """
        end = -1  # of the line that was found last
        for form, at, after in self._find_at_edges(text):
            stem = self._forms[form][1]
            before, behind = self._edges[stem] or (False, False)
            at, after = at - 1 + before, after - 1 - behind  # of the stem without them
            # punctuation and digits look alike in the simpler text
            if at <= end or block[at:after].lower() != self._words[stem]:
                continue
            yield block.rfind(b"\n", 0, at) + 1
            end = block.find(b"\n", after)
            if end < 0:
                return

    def _starts(self, text: bytes) -> Iterator[int]:
        end = -1  # of the line that was found last
        plain_end = -1  # of the last line that hides no edge: it may be long, and is tested once
        # overlapping: a stem may begin inside one without its edge
        for stem, at, after in self._find(text):
            if at <= end:
                continue
            if not _has_edges(self._edges[stem], text, at, after):
                if at <= plain_end:
                    continue
                this_end = line_end(text, after)
                if not _is_disguised(text[text.rfind(b"\n", 0, at) + 1 : this_end]):
                    plain_end = this_end
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
        self._find = WordFinder(word.strip(EDGE).encode() for word in rows)

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
        for word, start, end in self._find(text):
            if _has_edges(self._edges[word], text, start, end):
                yield word


def line_end(text: bytes, after: int) -> int:
    end = text.find(b"\n", after)
    return len(text) if end < 0 else end


def _is_disguised(line: bytes) -> bool:
    return _has_envelope(line) or len(line.translate(None, _CONTROL)) < len(line)


def _has_envelope(text: bytes) -> bool:
    """One byte is found in a tenth of the time that two take."""
    return b"{" in text and b'{"' in text


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


@cache
def _simpler() -> bytes:
    """The table of a text that is searched for words: letters in lower case, one space for all,
    one mark for punctuation, one digit. With fewer characters an automaton stays in the cache.
    """
    return b"".join(map(_simpler_byte, range(256)))


def _simpler_byte(character: int) -> bytes:
    byte = bytes([character])
    if byte.isdigit():
        return _DIGIT
    if _in_word(byte):
        return byte.lower()
    return _CONTROL_MARK if byte in _CONTROL else _SPACE if byte.isspace() else _MARK


def _forms(stem: str) -> Iterator[bytes]:
    """A stem as it is in that text, with each of the characters that may stand at its edges."""
    word = stem.strip(EDGE).encode().translate(_simpler())
    before, behind = _edges_of(stem) or (False, False)
    for first, last in product(_AT_EDGES if before else (b"",), _AT_EDGES if behind else (b"",)):
        yield first + word + last


class WordFinder:
    """Finds all words at once. An automaton that takes up to 18 ms to make, and searches twice as
    fast, takes the place of the first one where there is much to read.

    `first_alone`: of words that overlap only the first; a few dozen words are then found by vector
    instructions, in up to a tenth of the time.
    """

    def __init__(self, words: Iterable[bytes], first_alone: bool = False) -> None:
        self._words, self._bytes_left = list(words), FEW
        self._overlapping = not first_alone
        self._automaton = self._make_automaton("ContiguousNFA")

    def _make_automaton(self, implementation: str) -> "BytesAhoCorasick":
        from ahocorasick_rs import BytesAhoCorasick, Implementation, MatchKind

        return BytesAhoCorasick(
            self._words,
            matchkind=MatchKind.Standard if self._overlapping else MatchKind.LeftmostFirst,
            implementation=getattr(Implementation, implementation),
        )

    def __call__(self, text: bytes) -> list[tuple[int, int, int]]:
        """Each word by its number, with its begin and end."""
        if self._bytes_left > 0:
            self._bytes_left -= len(text)
            if self._bytes_left <= 0:
                self._automaton = self._make_automaton("DFA")
        return self._automaton.find_matches_as_indexes(text, overlapping=self._overlapping)
