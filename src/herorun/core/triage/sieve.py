"""Which lines of a log may matter: those that hold a stem. Logs repeat their lines, but for the digits, and their words."""

_ALIKE = bytes(0x30 if 0x30 <= byte <= 0x39 else byte for byte in bytes(range(256)).lower())  # 7 -> 0, E -> e
_MANY_WORDS = 200_000  # remembered; then it begins anew
_LONG_WORD = 100  # bytes; longer ones are looked at and forgotten
_MANY_LINES = 2_000  # of different kinds


class Sieve:
    """The answers depend on the text alone; what is remembered only makes them fast. A stem has no digit."""

    def __init__(self, stems: tuple[str, ...]) -> None:
        self._stems = [stem.encode() for stem in stems]
        self._word_of = {stem: max(stem.split(), key=len) for stem in self._stems}
        self._quiet: set[bytes] = set()
        self._loud: dict[bytes, list[bytes]] = {}

    def stems_in(self, text: bytes) -> list[bytes]:
        """The stems that it holds, whatever the case."""
        return self._stems_in(text.translate(_ALIKE))

    def starts(self, block: bytes) -> list[int]:
        """Where the lines begin that hold a stem, in order."""
        text = block.translate(_ALIKE)
        kinds = set(text.split(b"\n"))
        stems = self._stems_in(b"\n".join(kinds))
        if stems and len(kinds) < _MANY_LINES:
            stems = _enough(stems, kinds)
        found = {start for stem in stems for start in _lines_with(stem, text)}
        return sorted(found)

    def _stems_in(self, text: bytes) -> list[bytes]:
        words = set(text.split())
        new = (words - self._quiet).difference(self._loud)
        if new:
            self._learn(new)
        perhaps = {stem for word in words if word in self._loud for stem in self._loud[word]}
        return [stem for stem in self._stems if stem in perhaps and stem in text] if perhaps else []

    def _learn(self, words: set[bytes]) -> None:
        if len(self._quiet) > _MANY_WORDS or len(self._loud) > _MANY_WORDS:
            self._quiet, self._loud = set(), {}
        text = b" ".join(words)
        there = [stem for stem in self._stems if self._word_of[stem] in text]
        for word in words:
            stems = [stem for stem in there if self._word_of[stem] in word]
            if stems:
                self._loud[word] = stems
            elif len(word) <= _LONG_WORD:
                self._quiet.add(word)


def _enough(stems: list[bytes], kinds: set[bytes]) -> list[bytes]:
    """Fewer stems that find the same lines: one for each kind of line will do."""
    chosen: dict[bytes, None] = {}
    for kind in sorted(kinds):
        held = [stem for stem in stems if stem in kind]
        if held and not any(stem in chosen for stem in held):
            chosen[held[0]] = None
    return list(chosen)


def _lines_with(stem: bytes, text: bytes) -> list[int]:
    starts, at = [], text.find(stem)
    while at >= 0:
        starts.append(text.rfind(b"\n", 0, at) + 1)
        end = text.find(b"\n", at)
        at = text.find(stem, end) if end >= 0 else -1
    return starts
