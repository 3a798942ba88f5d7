"""The line of a TOML file on which a key stands: tomllib does not say."""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from herorun.core.lazy_regex import lazy_regex

_HEADER = lazy_regex(r"\s*(\[\[|\[)\s*([^\[\]]+?)\s*\]{1,2}\s*(?:#.*)?$")
_KEY = lazy_regex(
    r"\s*((?:[\w-]+|\"[^\"]*\"|'[^']*')(?:\s*\.\s*(?:[\w-]+|\"[^\"]*\"|'[^']*'))*)\s*="
)
_PART = lazy_regex(r"\"([^\"]*)\"|'([^']*)'|([\w-]+)")
_LONG = ('"""', "'''")

Path = tuple[str | int, ...]


def line_of(text: str, path: Sequence[str | int]) -> int | None:
    """From 1; of the nearest table around it where the key itself is not there, or not so written.

    >>> line_of('slug = "a"\\n[issue]\\nkind = 3\\n', ("issue", "kind"))
    3
    >>> line_of('slug = "a"\\n[issue]\\n', ("issue", "kind"))
    2
    >>> line_of("[[waiver]]\\n[[waiver]]\\ncheck = 1\\n", ("waiver", 1, "check"))
    3
    >>> line_of("[health.x]\\n[[waivers]]\\n", ("health",)), line_of("[[waivers]]", ("waivers",))
    (1, 1)
    """
    places, whole = _first_places(text), tuple(path)
    if whole not in places:  # a list of tables, and what only tables below it name
        below = [line for place, line in places.items() if place[: len(whole)] == whole]
        if below and whole:
            return min(below)
    for length in range(len(path), 0, -1):
        if (line := places.get(tuple(path[:length]))) is not None:
            return line
    return None


@lru_cache(maxsize=2)
def _first_places(text: str) -> dict[Path, int]:
    """Kept, for one faulty file is asked about once for each of its faults."""
    return {place: number for number, place in reversed(list(_places(text)))}


def _places(text: str) -> Iterator[tuple[int, Path]]:
    table: Path = ()
    counts: dict[Path, int] = {}
    inside = ""  # the quotes of a string that goes over several lines
    for number, line in enumerate(text.splitlines(), 1):
        if inside:
            inside = "" if inside in line else inside
            continue
        if header := _HEADER.match(line):
            table = _parts(header[2])
            if header[1] == "[[":
                counts[table] = counts.get(table, -1) + 1
                table = (*table, counts[table])
            yield number, table
        elif key := _KEY.match(line):
            yield number, (*table, *_parts(key[1]))
            inside = next((quotes for quotes in _LONG if line.count(quotes) == 1), "")


def _parts(key: str) -> Path:
    return tuple(part[1] or part[2] or part[3] for part in _PART.finditer(key))
